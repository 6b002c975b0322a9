package runner_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/runner"
	"github.com/app-sre/prcheck/runner/progress"
	"github.com/app-sre/prcheck/state/tally"
)

// A run says beforehand how long it will take, and its results say how long it took. The
// state remembers both. A run that does nothing new has no forecast.
func TestForecast(t *testing.T) {
	c := newChange(t, "ok")
	for i := range c.in.Plan.Tasks {
		c.in.Plan.Tasks[i].EstimateSeconds, c.in.Plan.Tasks[i].EstimateP90 = 60, 120
	}
	var shown bytes.Buffer
	results, _ := c.runAll(runner.Options{Progress: progress.Display{Out: &shown, Mode: progress.Plain}})
	f := results.Forecast
	if f == nil || f.P50 < 30 || f.P90 <= f.P50 || f.Took <= 0 || f.Took > 60 {
		t.Fatalf("got %+v", f)
	}
	if text := shown.String(); !strings.HasPrefix(text, "1 task, about ") ||
		!strings.Contains(text, ", nine times of ten within ") {
		t.Errorf("shown was %q", text)
	}
	if again, _ := c.runAll(runner.Options{Resume: true}); again.Forecast != nil {
		t.Errorf("a run of which nothing was left has the forecast %+v", again.Forecast)
	}
	now := time.Now()
	days, _, err := tally.NewStore(c.in.State).Days(t.Context(), now.Add(-24*time.Hour), now)
	if err != nil || len(days) == 0 {
		t.Fatal(days, err)
	}
	if all := days[len(days)-1].Forecasts; len(all) != 1 || all[0] != *f {
		t.Errorf("the state remembers %+v, want %+v", all, *f)
	}
}
