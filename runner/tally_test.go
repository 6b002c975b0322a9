package runner_test

import (
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner"
	"github.com/app-sre/prcheck/state/tally"
)

// A run counts all decisions of its plan, and the tasks that it ran itself. A resumed run
// counts no task twice.
func TestTally(t *testing.T) {
	c := newChange(t, "ok")
	c.run(runner.Options{})
	c.run(runner.Options{Resume: true})
	now := time.Now()
	days, ignored, err := tally.NewStore(c.in.State).Days(t.Context(), now.Add(-24*time.Hour), now)
	if err != nil || len(ignored) > 0 || len(days) == 0 {
		t.Fatalf("got %d days, %q, %v", len(days), ignored, err)
	}
	got := map[string]tally.Count{}
	for _, d := range days { // two if the day ended between the runs
		for name, count := range d.Integrations {
			got[name] = got[name].Plus(count)
		}
	}
	if len(got) != len(c.in.Plan.Integrations) {
		t.Errorf("%d integrations are counted, want %d", len(got), len(c.in.Plan.Integrations))
	}
	ran, skipped := got["price-tags"], got["staff-badges"]
	if ran.Decided() != 2 || ran.Tasks() != 1 || ran.Passed != 1 || ran.Seconds <= 0 {
		t.Errorf("the integration that ran has %+v", ran)
	}
	if skipped.Skip[plan.RungSchema] != 2 || skipped.Tasks() != 0 {
		t.Errorf("the integration that was skipped has %+v", skipped)
	}
}
