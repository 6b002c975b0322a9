package plan_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
)

// threeTasks returns a plan with tasks a, b and c.
func threeTasks(t testing.TB) *plan.Plan {
	t.Helper()
	p := &plan.Plan{}
	for _, name := range []string{"a", "b", "c"} {
		p.Integrations = append(p.Integrations, plan.Decision{Name: name, Decision: plan.Run,
			Rung: plan.RungSchema, Reason: "may read what changed", Tasks: []string{name}})
		p.Tasks = append(p.Tasks, plan.Task{ID: name, Integration: name, Argv: []string{"x"}, Timeout: "1s"})
	}
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	return p
}

func part(p *plan.Plan, tasks ...string) *plan.Results {
	rs := &plan.Results{Version: plan.Version, Plan: p.Digest, Results: []plan.Result{}}
	for _, task := range tasks {
		rs.Results = append(rs.Results, plan.Result{Task: task, Status: plan.Passed, Attempts: 1})
	}
	return rs
}

func TestMergeResults(t *testing.T) {
	p := threeTasks(t)
	whole, err := plan.MergeResults(p, part(p, "c"), part(p, "b", "a"))
	if err != nil {
		t.Fatal(err)
	}
	if want := part(p, "a", "b", "c"); !reflect.DeepEqual(whole, want) || whole.Failed() {
		t.Errorf("got %+v, want %+v", whole, want)
	}
	holes, err := plan.MergeResults(p, part(p, "c"))
	if err != nil {
		t.Fatal(err)
	}
	missing, ok := holes.Result("b")
	want := plan.Result{Task: "b", Status: plan.NotRun, Reason: plan.MissingReason, ExitCode: -1}
	if !ok || !reflect.DeepEqual(missing, want) || !holes.Failed() {
		t.Errorf("got %+v, want %+v", missing, want)
	}
	if _, ok := whole.Result("d"); ok {
		t.Error("found a result that is not there")
	}
}

func TestMergeResultsRefuses(t *testing.T) {
	p := threeTasks(t)
	other := part(p, "a")
	other.Plan = "sha256:other"
	tests := map[string]struct {
		parts []*plan.Results
		want  string
	}{
		"unknown task": {[]*plan.Results{part(p, "d")}, `no task "d"`},
		"duplicate":    {[]*plan.Results{part(p, "a"), part(p, "a")}, "two results"},
		"other plan":   {[]*plan.Results{other}, `belong to plan "sha256:other"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := plan.MergeResults(p, test.parts...); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

func TestResultsReadAndWrite(t *testing.T) {
	want := part(threeTasks(t), "a", "b")
	want.Results[1] = plan.Result{Task: "b", Status: plan.Failed, Class: plan.ClassTask, Reason: "exit code 3",
		ExitCode: 3,
		Seconds:  3.2, Attempts: 1, Log: "logs/b.log", Tail: "<b>",
		Waited: 1.5, Spans: []plan.Span{{Started: 1.5, Seconds: 1}, {Started: 4, Seconds: 2.2}}}
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	want.Results[1].Attempts, want.Results[1].Before = 2,
		[]plan.Attempt{{Status: plan.TimedOut, Class: plan.ClassTransient, Reason: "timed out after 1s", Log: "logs/b.log"}}
	want.Results[1].Flaky = &plan.Flaky{FirstSeen: at, LastSeen: at, Failures: 1, Runs: 2, Rate: 0.5}
	want.Results[1].Class, want.Results[1].Baseline = plan.ClassBaseline,
		&plan.Baseline{Finding: "fails the same way on base", Since: &at, Seconds: 1, Log: "logs/base/b.log"}
	var out bytes.Buffer
	if err := plan.WriteResults(&out, want); err != nil {
		t.Fatal(err)
	}
	got, err := plan.ReadResults(&out)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

func TestReadResultsRefuses(t *testing.T) {
	head := `{"version":"prcheck/v1","plan":"sha256:1","results":[`
	tests := map[string]struct{ text, want string }{
		"no plan":       {`{"version":"prcheck/v1"}`, `"plan" is empty`},
		"version":       {`{"version":"v0"}`, `version is "v0"`},
		"trailing":      {head + `]} x`, "more after the document"},
		"no task":       {head + `{"status":"passed"}]}`, "results[0]: the task is empty"},
		"duplicate":     {head + `{"task":"a","status":"passed"},{"task":"a","status":"passed"}]}`, "two results"},
		"status":        {head + `{"task":"a","status":"fine"}]}`, `status is "fine"`},
		"no status":     {head + `{"task":"a"}]}`, `status is ""`},
		"class":         {head + `{"task":"a","status":"failed","class":"bad"}]}`, `class is "bad"`},
		"contradiction": {head + `{"task":"a","status":"passed","exit_code":3}]}`, "contradicts itself"},
		"no finding":    {head + `{"task":"a","status":"failed","class":"baseline"}]}`, `"baseline" must say what was found`},
		"not failed": {head + `{"task":"a","status":"timed_out","class":"baseline","baseline":{"finding":"x"}}]}`,
			`the status is "timed_out"`},
		"attempts": {head + `{"task":"a","status":"passed","attempts":1,"before":[{"status":"failed"}]}]}`,
			"1 attempts and tells of 1 before"},
		"flaky": {head + `{"task":"a","status":"passed","flaky":{"failures":3,"runs":2}}]}`,
			"what flaky says contradicts itself"},
		"unavailable": {head + `{"task":"a","status":"failed","unavailable":"aws/x"}]}`,
			"its target is unavailable, but the status is"},
		"waited":      {head + `{"task":"a","status":"passed","waited_seconds":-1}]}`, "is negative"},
		"target wait": {head + `{"task":"a","status":"passed","target_wait_seconds":-1}]}`, "is negative"},
		"started":     {head + `{"task":"a","status":"passed","spans":[{"started_seconds":-1}]}]}`, "is negative"},
		"took":        {head + `{"task":"a","status":"passed","spans":[{},{"seconds":-1}]}]}`, "is negative"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := plan.ReadResults(strings.NewReader(test.text)); err == nil ||
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

// Only a failure that is on base, too, neither passes nor blocks.
func TestWhatBlocks(t *testing.T) {
	for _, status := range []plan.Status{plan.Passed, plan.Failed, plan.TimedOut, plan.Canceled, plan.NotRun, ""} {
		for _, class := range []plan.Class{"", plan.ClassConfig, plan.ClassTask, plan.ClassTransient, plan.ClassBaseline} {
			r := plan.Result{Status: status, Class: class, Baseline: &plan.Baseline{}, Flaky: &plan.Flaky{}}
			onBase := status == plan.Failed && class == plan.ClassBaseline
			blocks := status != plan.Passed && !onBase
			rs := plan.Results{Results: []plan.Result{{Status: plan.Passed}, r}}
			if r.OnBase() != onBase || r.Blocks() != blocks || rs.Failed() != blocks || r.OK() != (status == plan.Passed) {
				t.Errorf("%s %s: on base %v, blocks %v, want %v, %v", status, class, r.OnBase(), r.Blocks(), onBase, blocks)
			}
		}
	}
}

func TestOnlyPassedIsOK(t *testing.T) {
	for _, status := range []plan.Status{plan.Failed, plan.TimedOut, plan.Canceled, plan.NotRun, ""} {
		if (plan.Result{Status: status}).OK() {
			t.Errorf("%q counts as passed", status)
		}
	}
}
