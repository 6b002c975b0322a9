package insights_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report/insights"
	"github.com/app-sre/prcheck/state/tally"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// styles match the styles of a page, and their digest.
var styles = regexp.MustCompile(`(?s)<style>.*</style>|sha256-\S*=`)

// month returns two days of four integrations.
func month() []tally.Day {
	return []tally.Day{
		{Day: "2026-03-01", Runs: 3, Integrations: map[string]tally.Count{
			"terraform-resources": {Run: map[plan.Rung]int{plan.RungState: 2}, Skip: map[plan.Rung]int{plan.RungFields: 1},
				Passed: 2, Seconds: 4000, Needless: map[tally.Cause]float64{tally.ByShards: 4000}},
			"openshift-users": {Run: map[plan.Rung]int{plan.RungSchema: 3}, Passed: 2, OnBase: 1, Flaked: 1, Seconds: 95,
				Needless: map[tally.Cause]float64{tally.ByQueries: 60.5}},
			"slack-usergroups": {Skip: map[plan.Rung]int{plan.RungSchema: 3}, Believed: 3},
		}},
		{Day: "2026-03-04", Runs: 1, Integrations: map[string]tally.Count{
			"openshift-users": {Run: map[plan.Rung]int{plan.RungSchema: 1}, Failed: 1, Seconds: 30,
				Needless: map[tally.Cause]float64{tally.BySchemas: 0.5}},
			"ldap\x1b[31m<b>": {Shards: map[plan.Rung]int{plan.RungShards: 1}, Passed: 1, Reused: 2, Seconds: 3.25, Quiet: 3.25},
		}, Forecasts: []plan.Forecast{{P50: 60, P90: 90, Took: 66}, {P50: 60, P90: 90, Took: 51}}},
	}
}

func durations(name string) (p50, p90 float64) {
	if name == "openshift-users" {
		return 29.5, 41
	}
	return 0, 0
}

func TestGolden(t *testing.T) {
	in := insights.New(month(), durations, []string{"2026-03-02 is not counted: it is cut short or damaged"})
	for name, write := range map[string]func(*bytes.Buffer) error{
		"insights.txt":  func(b *bytes.Buffer) error { return insights.Text(b, in) },
		"insights.json": func(b *bytes.Buffer) error { return insights.JSON(b, in) },
		"insights.html": func(b *bytes.Buffer) error { return insights.HTML(b, in) },
		"empty.txt":     func(b *bytes.Buffer) error { return insights.Text(b, insights.New(nil, durations, nil)) },
	} {
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		text := got.String()
		if strings.HasSuffix(name, ".html") { // the styles are those of the report
			text = styles.ReplaceAllString(text, "")
		}
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || text != string(want) {
			t.Errorf("%s: got\n%s\n%v, want\n%s", name, text, err, want)
		}
	}
}

func TestJSONIsReadBack(t *testing.T) {
	in := insights.New(month(), durations, nil)
	var raw bytes.Buffer
	if err := insights.JSON(&raw, in); err != nil {
		t.Fatal(err)
	}
	got := new(insights.Insights)
	if err := json.Unmarshal(raw.Bytes(), got); err != nil || !reflect.DeepEqual(got, in) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, in)
	}
}

// What is said of all integrations is the sum of what is said of each.
func TestTotal(t *testing.T) {
	in := insights.New(month(), durations, nil)
	var sum insights.Row
	for _, r := range in.Integrations {
		sum.Plans, sum.Run, sum.Shards, sum.Skipped = sum.Plans+r.Plans, sum.Run+r.Run, sum.Shards+r.Shards,
			sum.Skipped+r.Skipped
		sum.Tasks, sum.Seconds, sum.Nothing = sum.Tasks+r.Tasks, sum.Seconds+r.Seconds, sum.Nothing+r.Nothing
		if r.Plans != r.Run+r.Shards+r.Skipped {
			t.Errorf("%s: %d plans, but %d, %d and %d decisions", r.Name, r.Plans, r.Run, r.Shards, r.Skipped)
		}
	}
	total := in.Total
	if total.Plans != sum.Plans || total.Run != sum.Run || total.Shards != sum.Shards || total.Skipped != sum.Skipped ||
		total.Tasks != sum.Tasks || total.Seconds != sum.Seconds || total.Nothing != sum.Nothing {
		t.Errorf("got %+v, want %+v", total, sum)
	}
}

// Forecasts are judged by the last hundred runs.
func TestForecasts(t *testing.T) {
	days := month()
	for i := range 90 {
		days[0].Forecasts = append(days[0].Forecasts, plan.Forecast{P50: 1, P90: 2, Took: 1000 + float64(i)})
	}
	for range 50 {
		days[1].Forecasts = append(days[1].Forecasts, plan.Forecast{P50: 10, P90: 20, Took: 9})
	}
	for range 45 {
		days[1].Forecasts = append(days[1].Forecasts, plan.Forecast{P50: 10, P90: 20, Took: 15})
	}
	want := insights.Forecasts{Runs: 100, WithinP50: 51, WithinP90: 97, Ratio: 0.9} // with the two of the month
	if got := insights.New(days, durations, nil).Forecasts; got == nil || *got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
