package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// change returns the plan of a small merge request.
func change(t testing.TB) *plan.Plan {
	t.Helper()
	p := &plan.Plan{
		Changes: plan.Changes{
			Datafiles: []plan.Datafile{
				{Path: "/users/ana.yml", Schema: "/access/user-1.yml", Kind: plan.Modified, Fields: []string{"/roles/1"}},
				{Path: "/roles/dev.yml", Schema: "/access/role-1.yml", Kind: plan.Metadata, Fields: []string{"/__identifier"}},
			},
			Resources: []plan.Resource{{Path: "/grafana/app.json", Kind: plan.Added}},
			Schemas:   []string{"/access/user-1.yml"},
		},
		Integrations: []plan.Decision{
			{Name: "dns", Decision: plan.Skip, Rung: plan.RungSchema,
				Reason: "none of the 4 changed schemas is one of the 7 it may read"},
			{Name: "github-users", Decision: plan.Skip, Rung: plan.RungState,
				Reason:   "its desired state is the same on both sides",
				Evidence: plan.Evidence{State: &plan.State{Base: "sha256:aa", Head: "sha256:aa"}}},
			{Name: "housekeeping", Decision: plan.Skip, Rung: plan.RungDefinition, Reason: "it has no pr_check"},
			{Name: "new-thing", Decision: plan.Run, Rung: plan.RungDefinition, Reason: "only head defines it",
				Tasks: []string{"new-thing"}},
			{Name: "quay-repos", Decision: plan.Skip, Rung: plan.RungSchema,
				Reason: "none of the 4 changed schemas is one of the 3 it may read"},
			{Name: "terraform-users", Decision: plan.Shards, Rung: plan.RungShards,
				Reason: "its desired state differs for 2 of 9 keys",
				Evidence: plan.Evidence{
					Definition: []string{"/integrations/terraform-users.yml"}, Allowed: 12, Schemas: []string{"/access/user-1.yml"},
					Paths: []string{"/users/ana.yml"},
					Queries: []plan.QueryDifference{{Name: "roles", Reached: 1, Roots: 12,
						Fields: []string{"/users/ana.yml#/roles/1"}}},
					State: &plan.State{Base: "sha256:aa", Head: "sha256:bb"}, Keys: []string{"app-sre", "osd"},
				}, Tasks: []string{"terraform-users/app-sre", "terraform-users/osd"}},
			{Name: "user-validator", Decision: plan.Run, Rung: plan.RungSchema,
				Reason:   "it may read /access/user-1.yml and has no queries",
				Evidence: plan.Evidence{Doubts: []string{"no queries and no trace"}}, Tasks: []string{"user-validator"}},
		},
		Warnings: []string{"prcheck.yaml: the rule for resources/jenkins/** matches no file"},
	}
	for _, id := range []string{"new-thing", "terraform-users/app-sre", "terraform-users/osd", "user-validator"} {
		name, shard, _ := strings.Cut(id, "/")
		argv := []string{"qontract-reconcile", "--config", "{config}", "--dry-run", name}
		if shard != "" {
			argv = append(argv, "--account-name", shard)
		}
		p.Tasks = append(p.Tasks, plan.Task{ID: id, Integration: name, Shard: shard, Argv: argv, Timeout: "10m0s",
			EstimateSeconds: 42})
	}
	p.Tasks[0].Argv, p.Tasks[0].Blocked = nil, "only head defines it, so it has no trusted command"
	p.Tasks[3].Argv = append(p.Tasks[3].Argv, "a b", "")
	p.Tasks[3].Order = -1
	seal(t, p)
	return p
}

func seal(t testing.TB, p *plan.Plan) {
	t.Helper()
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
}

// failedResults returns results with every outcome.
func failedResults(p *plan.Plan) *plan.Results {
	return &plan.Results{Plan: p.Digest, Forecast: &plan.Forecast{P50: 280, P90: 340.5, Unknown: 1, Took: 612.44},
		Results: []plan.Result{
			{Task: "user-validator", Status: plan.Passed, Seconds: 3.2, Attempts: 1, Log: "logs/user-validator-1.log"},
			{Task: "terraform-users/app-sre", Status: plan.Failed, Class: plan.ClassTask, Reason: "exit code 3", ExitCode: 3,
				Seconds:  12.34,
				Attempts: 2, Log: "logs/terraform-users-app-sre-2.log",
				Tail: "[terraform-users] create user ana\n\nError: role \"dev\" has no ```policy```\n/lgtm"},
			{Task: "terraform-users/osd", Status: plan.TimedOut, Class: plan.ClassTask, Reason: "timed out after 10m0s",
				ExitCode: -1, Seconds: 600.1, Attempts: 1, Tail: "waiting for AWS"},
			{Task: "new-thing", Status: plan.NotRun, Class: plan.ClassConfig, Reason: p.Tasks[0].Blocked, ExitCode: -1},
		}}
}

// baselineResults returns results in which one task is broken on base and the others
// passed, one of them in a later attempt.
func baselineResults(p *plan.Plan) *plan.Results {
	rs := passedResults(p)
	first, last := time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC), time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	rs.Results[1] = plan.Result{
		Task: "terraform-users/app-sre", Status: plan.Failed, Class: plan.ClassBaseline, Reason: "exit code 3", ExitCode: 3,
		Seconds: 12.3, Attempts: 1,
		Log: "logs/a.log", Tail: "Error: <account> is gone", Baseline: &plan.Baseline{Finding: "fails the same way on base",
			Since: &first, Seconds: 11, Log: "logs/base/a.log"},
	}
	rs.Results[2].Attempts = 2
	rs.Results[2].Before = []plan.Attempt{{Status: plan.Failed, Class: plan.ClassTransient, Reason: "exit code 1",
		Log: "logs/b.log"}}
	rs.Results[2].Flaky = &plan.Flaky{FirstSeen: first, LastSeen: last, Failures: 3, Runs: 40, Rate: 0.075}
	return rs
}

// mixedResults returns results in which one task is broken on base, and another one
// fails twice but passes on base.
func mixedResults(p *plan.Plan) *plan.Results {
	rs := baselineResults(p)
	rs.Results[3] = plan.Result{
		Task: "user-validator", Status: plan.Failed, Class: plan.ClassTransient, Reason: "exit code 1", ExitCode: 1,
		Seconds: 4, Attempts: 2, Log: "logs/c.2.log",
		Tail: "connection reset by peer",
		Before: []plan.Attempt{{Status: plan.TimedOut, Class: plan.ClassTransient, Reason: "timed out after 10m0s",
			Log: "logs/c.log"}},
		Baseline: &plan.Baseline{Finding: "passes on base", Seconds: 1, Log: "logs/base/c.log"},
	}
	return rs
}

// outageResults returns results in which two tasks were not run because their target
// was unavailable.
func outageResults(p *plan.Plan) *plan.Results {
	rs := passedResults(p)
	rs.Results[1] = plan.Result{Task: "terraform-users/app-sre", Status: plan.Failed, Class: plan.ClassTransient,
		Reason: "exit code 1", ExitCode: 1,
		Seconds: 3, Waited: 9.5, TargetWait: 2.25, Attempts: 2, Tail: "connection refused"}
	for _, i := range []int{2, 3} {
		rs.Results[i] = plan.Result{Task: p.Tasks[i].ID, Status: plan.NotRun, Class: plan.ClassTransient, ExitCode: -1,
			Unavailable: "aws/<x>",
			Reason:      "target unavailable: aws/<x>: 3 tasks in a row failed there for reasons that may pass"}
	}
	return rs
}

// passedResults returns results in which all tasks passed.
func passedResults(p *plan.Plan) *plan.Results {
	rs := &plan.Results{Plan: p.Digest}
	for _, task := range p.Tasks {
		rs.Results = append(rs.Results, plan.Result{Task: task.ID, Status: plan.Passed, Seconds: 2, Attempts: 1})
	}
	return rs
}

// emptyPlan returns a plan with nothing to run.
func emptyPlan(t testing.TB) *plan.Plan {
	t.Helper()
	p := &plan.Plan{Integrations: []plan.Decision{{Name: "dns", Decision: plan.Skip, Rung: plan.RungSchema,
		Reason: "nothing it may read changed"}}}
	seal(t, p)
	return p
}

// reusedPlan returns a plan in which all tasks but one passed before.
func reusedPlan(t testing.TB) *plan.Plan {
	t.Helper()
	began := time.Date(2026, 11, 21, 11, 30, 1, 0, time.UTC)
	p := &plan.Plan{
		Integrations: []plan.Decision{
			{Name: "dns", Decision: plan.Skip, Rung: plan.RungResult,
				Reason:   "it may read /a, which changed; its task passed with the same inputs, 2026-11-21 11:30 UTC",
				Evidence: plan.Evidence{Reused: 1, Passed: []plan.Earlier{{Inputs: "sha256:0123456789abcdef", Began: began}}}},
			{Name: "users", Decision: plan.Shards, Rung: plan.RungShards,
				Reason: "its desired state differs; 2 of its 3 tasks passed with the same inputs and do not run again",
				Tasks:  []string{"users/<b>"},
				Evidence: plan.Evidence{Keys: []string{"<b>", "a", "c"}, Reused: 2, Passed: []plan.Earlier{
					{Shard: "a", Inputs: "sha256:0123456789abcdef", Began: began}, {Shard: "c{1/2}", Inputs: "sha256:0123456789abcdef",
						Began: began.Add(time.Hour)}}}},
		},
		Tasks: []plan.Task{{ID: "users/<b>", Integration: "users", Shard: "<b>", Argv: []string{"x"}, Timeout: "1m0s"}},
	}
	seal(t, p)
	return p
}

// trainPlan returns the plan of the pipeline of a merge train.
func trainPlan(t testing.TB) *plan.Plan {
	t.Helper()
	p := reusedPlan(t)
	train := &plan.Train{Own: "sha256:0123", Results: 30, Hold: 3}
	train.Add("users", "<b>", func() plan.Reason {
		return plan.Reason{Code: plan.CodeOthersFiles, Names: []string{"/users/<b>.yml", "/users/c.yml"}}
	})
	for range 20 {
		train.Add("vault", "", func() plan.Reason { return plan.Reason{Code: plan.CodeNotNeeded, Names: []string{"schema"}} })
	}
	p.MergeRequest = &plan.MergeRequest{Name: "shop/data!7", Commit: "4be1f0c9", InTrain: true, Train: train}
	seal(t, p)
	return p
}

// TestNothingChecked checks the verdict and the title of checks without an answer.
func TestNothingChecked(t *testing.T) {
	onBase := func(task string) plan.Result {
		return plan.Result{Task: task, Status: plan.Failed, Class: plan.ClassBaseline, ExitCode: 1, Attempts: 1,
			Reason: "exit code 1",
			Tail:   "[" + task + "]\nNo module named '<x>'", Baseline: &plan.Baseline{Finding: "fails the same way on base"}}
	}
	one := reusedPlan(t)
	two := reusedPlan(t)
	two.Tasks = append(two.Tasks, plan.Task{ID: "users/z", Integration: "users", Shard: "z", Argv: []string{"x"},
		Timeout: "1m0s"})
	two.Integrations[1].Tasks = append(two.Integrations[1].Tasks, "users/z")
	seal(t, two)
	alone, both := *one, *two // without results of earlier runs
	for _, p := range []*plan.Plan{&alone, &both} {
		p.Integrations = slices.Clone(p.Integrations)
		for i := range p.Integrations {
			p.Integrations[i].Evidence = plan.Evidence{}
		}
		seal(t, p)
	}
	for _, c := range []struct {
		name    string
		plan    *plan.Plan
		results []plan.Result
		verdict plan.Verdict
		title   string
	}{
		{"a single one", &alone, []plan.Result{onBase("users/<b>")}, plan.VerdictPassed,
			"PASSED: 0 of 1 task passed, 1 already broken on base: not checked"},
		{"a single one beside tasks that passed before", one, []plan.Result{onBase("users/<b>")}, plan.VerdictPassed,
			"PASSED: 0 of 1 task passed, 1 already broken on base; 3 tasks passed before with the same inputs"},
		{"two beside tasks that passed before", two, []plan.Result{onBase("users/<b>"), onBase("users/z")},
			plan.VerdictPassed,
			"PASSED: 0 of 2 tasks passed, 2 already broken on base; 3 tasks passed before with the same inputs"},
		{"two", &both, []plan.Result{onBase("users/<b>"), onBase("users/z")}, plan.VerdictNotChecked,
			"NOT CHECKED: no task passed, and 2 fail the same way on base; all of them say: No module named '<x>'"},
		{"one of two", two, []plan.Result{onBase("users/<b>"), {Task: "users/z", Status: plan.Passed}}, plan.VerdictPassed,
			"PASSED: 1 of 2 tasks passed, 1 already broken on base"},
		{"one is missing", two, []plan.Result{onBase("users/<b>")}, plan.VerdictFailed,
			"FAILED: 1 of 2 tasks did not pass (1 not run), 1 already broken on base"},
		{"a shortage", two, []plan.Result{{Task: "users/<b>", Status: plan.NotRun, Class: plan.ClassEnvironment, ExitCode: -1,
			Reason: "could not be started: fork"}, {Task: "users/z", Status: plan.Passed}},
			plan.VerdictNotChecked,
			"NOT CHECKED: 1 of 2 tasks could not be checked on this machine; all of them say: could not be started: fork"},
	} {
		rep := report.New(c.plan, &plan.Results{Plan: c.plan.Digest, Results: c.results})
		var text, markdown, html, junit bytes.Buffer
		err := errors.Join(report.Text(&text, rep, report.Style{}), report.Markdown(&markdown, rep),
			report.HTML(&html, report.Page{Plan: c.plan, Report: rep}),
			report.JUnit(&junit, report.Input{Plan: c.plan, Report: rep}))
		lines := strings.Split(strings.TrimSpace(text.String()), "\n")
		if title := lines[len(lines)-1]; err != nil || rep.Verdict != c.verdict || title != c.title {
			t.Errorf("%s: got %s, %q, %v, want %s, %q", c.name, rep.Verdict, title, err, c.verdict, c.title)
		}
		if strings.Contains(html.String(), "head good") || strings.Contains(html.String(), "module named '<x>'") ||
			strings.Contains(markdown.String(), "✅") ||
			strings.Contains(markdown.String(), "'<x>'\n\n") {
			t.Errorf("%s: the page or the Markdown is wrong", c.name)
		}
		if bad := c.verdict == plan.VerdictPassed; strings.Contains(junit.String(), `failures="0" errors="0"`) != bad {
			t.Errorf("%s: got %s", c.name, junit.String())
		}
	}
}

func TestGolden(t *testing.T) {
	p := change(t)
	failed, passed, nothing := report.New(p, failedResults(p)), report.New(p, passedResults(p)),
		report.New(emptyPlan(t), nil)
	findings := report.Input{Plan: p, Report: failed}
	broken, both := report.New(p, baselineResults(p)), report.New(p, mixedResults(p))
	down, before := report.New(p, outageResults(p)), reusedPlan(t)
	again, train := report.New(before, passedResults(before)), trainPlan(t)
	combined := report.New(train, passedResults(train))
	tests := map[string]func(io.Writer) error{
		"outage.txt":         func(w io.Writer) error { return report.Text(w, down, report.Style{}) },
		"outage.color":       func(w io.Writer) error { return report.Text(w, down, report.Style{Color: true}) },
		"outage.md":          func(w io.Writer) error { return report.Markdown(w, down) },
		"outage.junit":       func(w io.Writer) error { return report.JUnit(w, report.Input{Plan: p, Report: down}) },
		"outage.codequality": func(w io.Writer) error { return report.CodeQuality(w, report.Input{Plan: p, Report: down}) },
		"outage.metrics":     func(w io.Writer) error { return report.Metrics(w, report.Input{Plan: p, Report: down}) },
		"reused.txt":         func(w io.Writer) error { return report.Text(w, again, report.Style{}) },
		"reused.md":          func(w io.Writer) error { return report.Markdown(w, again) },
		"reused.json":        func(w io.Writer) error { return report.JSON(w, again) },
		"train.txt":          func(w io.Writer) error { return report.Text(w, combined, report.Style{}) },
		"train.md":           func(w io.Writer) error { return report.Markdown(w, combined) },
		"train-plan.txt":     func(w io.Writer) error { return report.PlanText(w, train, report.Style{}) },
		"train-plan.md":      func(w io.Writer) error { return report.PlanMarkdown(w, train) },
		"reused.metrics":     func(w io.Writer) error { return report.Metrics(w, report.Input{Plan: before, Report: again}) },
		"explain-reused":     func(w io.Writer) error { return report.ExplainText(w, before, "users", nil) },
		"failed.junit":       func(w io.Writer) error { return report.JUnit(w, findings) },
		"failed.codequality": func(w io.Writer) error { return report.CodeQuality(w, findings) },
		"failed.metrics":     func(w io.Writer) error { return report.Metrics(w, findings) },
		"passed.junit":       func(w io.Writer) error { return report.JUnit(w, report.Input{Plan: p, Report: passed}) },
		"passed.codequality": func(w io.Writer) error { return report.CodeQuality(w, report.Input{Plan: p, Report: passed}) },
		"failed.txt":         func(w io.Writer) error { return report.Text(w, failed, report.Style{}) },
		"failed.color":       func(w io.Writer) error { return report.Text(w, failed, report.Style{Color: true}) },
		"failed.md":          func(w io.Writer) error { return report.Markdown(w, failed) },
		"failed.json":        func(w io.Writer) error { return report.JSON(w, failed) },
		"passed.txt":         func(w io.Writer) error { return report.Text(w, passed, report.Style{}) },
		"passed.md":          func(w io.Writer) error { return report.Markdown(w, passed) },
		"broken.txt":         func(w io.Writer) error { return report.Text(w, broken, report.Style{}) },
		"broken.color":       func(w io.Writer) error { return report.Text(w, broken, report.Style{Color: true}) },
		"broken.md":          func(w io.Writer) error { return report.Markdown(w, broken) },
		"broken.json":        func(w io.Writer) error { return report.JSON(w, broken) },
		"both.txt":           func(w io.Writer) error { return report.Text(w, both, report.Style{}) },
		"nothing.txt":        func(w io.Writer) error { return report.Text(w, nothing, report.Style{}) },
		"nothing.json":       func(w io.Writer) error { return report.JSON(w, nothing) },
		"plan.txt":           func(w io.Writer) error { return report.PlanText(w, p, report.Style{}) },
		"plan.md":            func(w io.Writer) error { return report.PlanMarkdown(w, p) },
		"explain-shards":     func(w io.Writer) error { return report.ExplainText(w, p, "terraform-users", nil) },
		"explain-run":        func(w io.Writer) error { return report.ExplainText(w, p, "user-validator", nil) },
		"explain-skip":       func(w io.Writer) error { return report.ExplainText(w, p, "github-users", nil) },
		"explain-blocked":    func(w io.Writer) error { return report.ExplainText(w, p, "new-thing", nil) },
	}
	for name, render := range tests {
		t.Run(name, func(t *testing.T) { compareGolden(t, name, render) })
	}
}

func TestMissingResultsFail(t *testing.T) {
	p := change(t)
	results := passedResults(p)
	results.Results = results.Results[1:]
	rep := report.New(p, results)
	if rep.Verdict != plan.VerdictFailed || rep.Counts.NotRun != 1 || rep.Results[0].Reason != plan.MissingReason {
		t.Errorf("got %+v", rep)
	}
	if rep := report.New(p, nil); rep.Verdict != plan.VerdictFailed || rep.Counts.NotRun != 4 {
		t.Errorf("got %+v", rep)
	}
}

func TestResultsThatDoNotFitFail(t *testing.T) {
	p := emptyPlan(t)
	foreign := &plan.Results{Plan: p.Digest, Results: []plan.Result{{Task: "x", Status: plan.Passed}}}
	other := &plan.Results{Plan: "sha256:other"}
	for want, results := range map[string]*plan.Results{`result for "x"`: foreign,
		`belong to plan "sha256:other"`: other} {
		rep := report.New(p, results)
		if rep.Verdict != plan.VerdictFailed || len(rep.Warnings) != 1 || !strings.Contains(rep.Warnings[0], want) {
			t.Errorf("got %+v, want a warning with %q", rep, want)
		}
	}
	full := change(t)
	twice := passedResults(full)
	twice.Results = append(twice.Results, twice.Results[0])
	if rep := report.New(full, twice); rep.Verdict != plan.VerdictFailed {
		t.Errorf("got %+v", rep)
	}
}

func TestNewLeavesItsInputsAlone(t *testing.T) {
	p := change(t)
	before, _ := json.Marshal(p)
	rep := report.New(p, failedResults(p))
	rep.Warnings[0], rep.Integrations[0].Name = "x", "x"
	if after, _ := json.Marshal(p); !bytes.Equal(after, before) {
		t.Errorf("the plan became %s", after)
	}
}

func TestUnknownNames(t *testing.T) {
	p := change(t)
	tests := map[string]string{
		"terraform-user": "did you mean terraform-users?",
		"users":          "did you mean github-users, terraform-users?",
		"dsn":            `unknown integration "dsn"`,
		"zzz":            "the plan has 7 integrations, none with a name like it",
		"":               "none with a name like it",
		"\x1b[31mdnss":   `unknown integration "dnss"`,
	}
	for name, want := range tests {
		err := report.ExplainText(io.Discard, p, name, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", name, err, want)
		}
	}
}

// TestUnavailable checks that tasks that were not run because their target was
// unavailable are counted separately and fail the check.
func TestUnavailable(t *testing.T) {
	p := &plan.Plan{Tasks: []plan.Task{{ID: "a"}, {ID: "b"}, {ID: "c"}}}
	down := plan.Result{Task: "c", Status: plan.NotRun, Class: plan.ClassTransient, Reason: "target unavailable: aws/x",
		Unavailable: "aws/x"}
	rep := report.New(p,
		&plan.Results{Results: []plan.Result{{Task: "a", Status: plan.Passed}, {Task: "b", Status: plan.NotRun}, down}})
	if rep.Verdict != plan.VerdictFailed || rep.Counts.NotRun != 2 || rep.Counts.Unavailable != 1 {
		t.Errorf("got %s, %+v", rep.Verdict, rep.Counts)
	}
	var out strings.Builder
	if err := report.Text(&out, rep, report.Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 of 3 tasks did not pass (1 not run, 1 not run since the target is unavailable)",
		"not run: target unavailable: aws/x",
		"\nFailures (1)\n  b not run\n", "\nNot checked: target unavailable (1)\n", "\n  aws/x: c\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}
