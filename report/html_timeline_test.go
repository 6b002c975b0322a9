package report

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
)

// run returns a report of tasks with these spans.
func run(tasks ...[]plan.Span) *Report {
	rep := &Report{}
	for i, spans := range tasks {
		rep.Results = append(rep.Results, TaskResult{Integration: "i", Result: plan.Result{
			Task: fmt.Sprint(i), Status: plan.Passed, Attempts: len(spans), Spans: spans}})
	}
	return rep
}

// TestLanes checks that tasks share a lane only if one begins after the other ended.
func TestLanes(t *testing.T) {
	one := func(from, long float64) []plan.Span { return []plan.Span{{Started: from, Seconds: long}} }
	for name, test := range map[string]struct {
		rep  *Report
		want []string // tasks and busy time of each lane
	}{
		"one after the other": {run(one(0, 1), one(1, 1), one(3, 1)), []string{"3 3.0s 75%"}},
		"rounded":             {run(one(0, 1.001), one(1, 1)), []string{"2 2.0s 100%"}},
		"at once":             {run(one(0, 2), one(1, 2), one(2, 2)), []string{"2 4.0s 100%", "1 2.0s 50%"}},
		"out of order":        {run(one(2, 2), one(0, 2)), []string{"2 4.0s 100%"}},
		"a pause is not work": {run([]plan.Span{{Seconds: 1}, {Started: 3, Seconds: 1}}), []string{"1 2.0s 50%"}},
		"no time at all":      {run(one(0, 0)), []string{"1 0.0s 0%"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, l := range newTimeline(test.rep).Lanes {
				got = append(got, fmt.Sprintf("%d %s %s", l.Tasks, l.Busy, l.Share))
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestBarsStayInThePicture checks that every bar is inside of the picture.
func TestBarsStayInThePicture(t *testing.T) {
	odd := []float64{0, 1e-9, 0.0005, 1, 1e7, 1e8, 1e308, math.MaxFloat64, -1, math.Inf(1), math.NaN()}
	for _, from := range odd {
		for _, long := range odd {
			rep := run([]plan.Span{{Started: from, Seconds: long}, {Started: long, Seconds: from}},
				[]plan.Span{{Started: 1, Seconds: 2}})
			rep.Results[0].Waited = long
			tl := newTimeline(rep)
			for _, b := range append(tl.Bars, tl.Waiting...) {
				var x, w float64
				if _, err := fmt.Sscanf(b.X+" "+b.W, "%f%% %f%%", &x, &w); err != nil || x < 0 || w < 0 || x+w > 100.2 {
					t.Errorf("from %g for %g: %+v", from, long, b)
				}
			}
			if len(tl.Ticks) == 0 || len(tl.Ticks) > 10 {
				t.Errorf("from %g for %g: ticks %+v", from, long, tl.Ticks)
			}
		}
	}
}

func TestManyLanesAreCut(t *testing.T) {
	var spans [][]plan.Span
	for range maxLanes + 3 {
		spans = append(spans, []plan.Span{{Seconds: 1}})
	}
	if tl := newTimeline(run(spans...)); len(tl.Lanes) != maxLanes || tl.Hidden != 3 || len(tl.Bars) != maxLanes {
		t.Errorf("got %d lanes, %d bars, %d hidden", len(tl.Lanes), len(tl.Bars), tl.Hidden)
	}
}

func TestWaiting(t *testing.T) {
	rep := run([]plan.Span{{Seconds: 60}}, []plan.Span{{Started: 60, Seconds: 60}},
		[]plan.Span{{Started: 60, Seconds: 30}})
	rep.Results[1].Waited, rep.Results[2].Waited = 60, 45
	tl := newTimeline(rep)
	got := []any{tl.MaxWaiting, tl.MeanWait, tl.LongestWait, tl.LongestWaits, len(tl.Waiting), tl.Total}
	if want := []any{2, "35.0s", "1m00s", "1", waitBuckets / 2, "2m00s"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTicks(t *testing.T) {
	for total, want := range map[float64]string{
		0.001: "0s 0.001s",
		0.8:   "0s 0.1s 0.2s 0.3s 0.4s 0.5s 0.6s 0.7s 0.8s",
		3.2:   "0s 0.5s 1s 1.5s 2s 2.5s 3s",
		45:    "0s 10s 20s 30s 40s",
		343:   "0s 1m 2m 3m 4m 5m",
		150:   "0s 30s 1m 1m30s 2m 2m30s",
		9000:  "0s 20m 40m 1h00m 1h20m 1h40m 2h00m 2h20m",
	} {
		var got []string
		for _, tick := range newTicks(total) {
			got = append(got, tick.Label)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%g: got %q, want %q", total, got, want)
		}
	}
}

// TestNoTimeline checks that there is no timeline without times.
func TestNoTimeline(t *testing.T) {
	if tl := newTimeline(run(nil, nil)); tl != nil {
		t.Errorf("got %+v", tl)
	}
}

func TestAnchorsDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"a", "A", "a b", "a\tb", "", " ", "é", "a/b", "a.b", strings.Repeat("a", 300), "~",
		"integration~00"} {
		at := anchor(name)
		if other, twice := seen[at]; twice || strings.ContainsAny(at, " \"#<>%") {
			t.Errorf("%q and %q: %q", name, other, at)
		}
		seen[at] = name
	}
}
