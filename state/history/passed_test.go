package history_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state/history"
)

// A task passed if it passed recently with the same inputs and never failed with them.
func TestPassed(t *testing.T) {
	spans := []plan.Span{{Started: 0, Seconds: 1}, {Started: 60, Seconds: 5}}
	passed := plan.Result{Status: plan.Passed, Attempts: 1, Spans: spans[1:]}
	again := plan.Result{Status: plan.Passed, Attempts: 2, Spans: spans,
		Before: []plan.Attempt{{Status: plan.Failed, Class: plan.ClassTransient}}}
	resumed := plan.Result{Status: plan.Passed, Attempts: 1}
	wrong := failed(1)
	wrong.Class = plan.ClassConfig
	timedOut := plan.Result{Status: plan.TimedOut, Class: plan.ClassTransient, Attempts: 1, ExitCode: -1}
	canceled := plan.Result{Status: plan.Canceled, Attempts: 1, ExitCode: -1}
	task := plan.Task{ID: "a", Integration: "a", Shard: "s", Command: "sha256:c", Inputs: "sha256:i"}
	with := func(change func(*plan.Task)) plan.Task {
		other := task
		change(&other)
		return other
	}
	minutes := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }
	type step struct {
		result plan.Result
		minute int // when the run began; it lasts two
	}
	for name, c := range map[string]struct {
		steps  []step
		ask    plan.Task
		minute int
		want   string
	}{
		"never ran":               {nil, task, 5, "false"},
		"it passed":               {[]step{{passed, 0}}, task, 5, "true, 12:01"},
		"for the second time":     {[]step{{passed, 0}, {passed, 10}}, task, 15, "true, 12:11"},
		"just in time":            {[]step{{passed, 0}}, task, 61, "true, 12:01"},
		"too long ago":            {[]step{{passed, 0}}, task, 62, "false"},
		"in the future":           {[]step{{passed, 10}}, task, 5, "false"},
		"it failed":               {[]step{{failed(1), 0}}, task, 5, "false"},
		"it passed, then failed":  {[]step{{passed, 0}, {failed(1), 10}}, task, 15, "false"},
		"it failed, then passed":  {[]step{{failed(1), 0}, {passed, 10}}, task, 15, "false"},
		"at the second attempt":   {[]step{{again, 0}}, task, 5, "false"},
		"then the data was wrong": {[]step{{passed, 0}, {wrong, 10}}, task, 15, "false"},
		"then it ran out of time": {[]step{{passed, 0}, {timedOut, 10}}, task, 15, "false"},
		"then it was canceled":    {[]step{{passed, 0}, {canceled, 10}}, task, 15, "true, 12:01"},
		"nobody knows when":       {[]step{{resumed, 0}}, task, 5, "false"},
		"of other inputs":         {[]step{{passed, 0}}, with(func(t *plan.Task) { t.Inputs = "sha256:j" }), 5, "false"},
		"of no inputs":            {[]step{{passed, 0}}, with(func(t *plan.Task) { t.Inputs = "" }), 5, "false"},
		"another shard":           {[]step{{passed, 0}}, with(func(t *plan.Task) { t.Shard = "" }), 5, "false"},
		"another command":         {[]step{{passed, 0}}, with(func(t *plan.Task) { t.Command = "sha256:d" }), 5, "false"},
		"another integration":     {[]step{{passed, 0}}, with(func(t *plan.Task) { t.Integration = "b" }), 5, "false"},
	} {
		memory := documents{}
		for _, s := range c.steps {
			err := history.NewStore(memory).Remember(t.Context(), []plan.Task{task}, []plan.Result{s.result}, nil,
				minutes(s.minute), minutes(s.minute+2))
			if err != nil {
				t.Fatal(err)
			}
		}
		began, ok := history.NewStore(memory).Snapshot(minutes(c.minute)).Passed(t.Context(), c.ask, time.Hour)
		got := "false"
		if ok {
			got = fmt.Sprintf("true, %s", began.Format("15:04"))
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// A pass after a failure with the same inputs does not count, even when the failure is
// forgotten first.
func TestPassedAfterForgottenFailure(t *testing.T) {
	store := history.NewStore(documents{})
	passed := plan.Result{Status: plan.Passed, Attempts: 1, Spans: []plan.Span{{}}}
	run := func(inputs string, r plan.Result) {
		if err := store.Remember(t.Context(), []plan.Task{{Integration: "a", Inputs: inputs}}, []plan.Result{r}, nil, noon,
			noon); err != nil {
			t.Fatal(err)
		}
	}
	run("it", failed(1))
	run("it", passed)
	for i := range 29 { // with the pass, as many as are remembered
		run(fmt.Sprint(i), passed)
	}
	s := store.Snapshot(noon)
	if _, ok := s.Passed(t.Context(), plan.Task{Integration: "a", Inputs: "28"}, time.Hour); !ok {
		t.Error("the last one is forgotten")
	}
	if _, ok := s.Passed(t.Context(), plan.Task{Integration: "a", Inputs: "it"}, time.Hour); ok {
		t.Error("a pass after a failure counts")
	}
}

// Results with other inputs do not count, and neither does a document that cannot be read.
func TestPassedOfOthers(t *testing.T) {
	memory := documents{}
	task := plan.Task{ID: "a", Integration: "a", Inputs: "1"}
	other := task
	other.Inputs = "2"
	store := history.NewStore(memory)
	for _, c := range []struct {
		task   plan.Task
		result plan.Result
	}{{task, plan.Result{Status: plan.Passed, Attempts: 1, Spans: []plan.Span{{}}}}, {other, failed(1)}} {
		if err := store.Remember(t.Context(), []plan.Task{c.task}, []plan.Result{c.result}, nil, noon, noon); err != nil {
			t.Fatal(err)
		}
	}
	snapshot := store.Snapshot(noon)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, ok := snapshot.Passed(ended, task, time.Hour); ok {
		t.Error("an interrupted reading counts")
	}
	if _, ok := snapshot.Passed(t.Context(), task, time.Hour); !ok {
		t.Error("a failure of other inputs counts, or an interrupted reading was kept")
	}
	for key, raw := range memory {
		for cut := range raw {
			memory[key] = raw[:cut]
			if _, ok := store.Snapshot(noon).Passed(t.Context(), task, time.Hour); ok {
				t.Errorf("%q counts", raw[:cut])
			}
		}
	}
	if _, ok := history.NewStore(broken{}).Snapshot(noon).Passed(t.Context(), task, time.Hour); ok {
		t.Error("what cannot be read counts")
	}
}
