package plan_test

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
)

func onBase(tail string) plan.Result {
	return plan.Result{Status: plan.Failed, Class: plan.ClassBaseline, ExitCode: 1, Tail: tail,
		Baseline: &plan.Baseline{Finding: "fails the same way on base"}}
}

func TestVerdict(t *testing.T) {
	passed := plan.Result{Status: plan.Passed}
	failed := plan.Result{Status: plan.Failed, Class: plan.ClassTask, ExitCode: 1}
	short := plan.Result{Status: plan.NotRun, Class: plan.ClassEnvironment,
		Reason: "could not be started: too many open files"}
	const whole, part = "", "1/2"
	for _, c := range []struct {
		name    string
		part    string
		reused  int
		results []plan.Result
		want    plan.Verdict
	}{
		{"nothing", whole, 0, nil, plan.VerdictPassed},
		{"passed", whole, 0, []plan.Result{passed}, plan.VerdictPassed},
		{"failed", whole, 0, []plan.Result{passed, failed}, plan.VerdictFailed},
		{"one is broken on base", whole, 0, []plan.Result{onBase("x")}, plan.VerdictPassed},
		{"two are, and one passed", whole, 0, []plan.Result{onBase("x"), onBase("x"), passed}, plan.VerdictPassed},
		{"two are", whole, 0, []plan.Result{onBase("x"), onBase("y")}, plan.VerdictNotChecked},
		{"two are, of a part", part, 0, []plan.Result{onBase("x"), onBase("y")}, plan.VerdictPassed},
		{"two are, of a part that is the whole", "1/1", 0, []plan.Result{onBase("x"), onBase("y")}, plan.VerdictNotChecked},
		{"two are, and one failed", whole, 0, []plan.Result{onBase("x"), onBase("y"), failed}, plan.VerdictFailed},
		{"two are, and one was not run", whole, 0, []plan.Result{onBase("x"), onBase("y"), {Status: plan.NotRun}},
			plan.VerdictFailed},
		{"a shortage", whole, 0, []plan.Result{passed, short}, plan.VerdictNotChecked},
		{"a shortage of a part", part, 0, []plan.Result{passed, short}, plan.VerdictNotChecked},
		{"a shortage and a failure", whole, 0, []plan.Result{failed, short}, plan.VerdictFailed},
		{"two are, and others passed before", whole, 12, []plan.Result{onBase("x"), onBase("y")}, plan.VerdictPassed},
		{"two are, one failed, and others passed before", whole, 12, []plan.Result{onBase("x"), onBase("y"), failed},
			plan.VerdictFailed},
		{"a shortage, and others passed before", whole, 12, []plan.Result{passed, short}, plan.VerdictNotChecked},
	} {
		rs := plan.Results{Results: c.results, Reused: c.reused}
		if c.part != "" {
			if err := rs.Part.Set(c.part); err != nil {
				t.Fatal(err)
			}
		}
		if got := rs.Verdict(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		if why := rs.WhyNotChecked(); (why != "") != (c.want == plan.VerdictNotChecked) {
			t.Errorf("%s: got %q", c.name, why)
		}
	}
}

// What broken tasks have in common is said once.
func TestWhyNotChecked(t *testing.T) {
	const broken = "no task passed, and 2 fail the same way on base"
	for _, c := range []struct{ a, b, want string }{
		{"a\nModuleNotFoundError: No module named 'x'\n", "b\nModuleNotFoundError: No module named 'x'",
			broken + "; all of them say: ModuleNotFoundError: No module named 'x'"},
		{"Traceback (most recent call last):\n  File a\nKeyError: a",
			"Traceback (most recent call last):\n  File b\nKeyError: b", broken},
		{"[2026-11-22 10:00:00] [ERROR] login to https://vault refused\nbye a",
			"[2026-11-22 10:00:05] [ERROR] login to https://vault refused\nbye b",
			broken + "; all of them say: [ERROR] login to https://vault refused"},
		{"cannot reach 127.0.0.1:4001", "cannot reach 127.0.0.1:4002",
			broken + "; all of them say: cannot reach 127.0.0.1:4001"},
		{"a", "b", broken},
		{"", "", broken},
		{strings.Repeat("é", 300), strings.Repeat("é", 300), broken + "; all of them say: " + strings.Repeat("é", 200) + "…"},
	} {
		rs := plan.Results{Results: []plan.Result{onBase(c.a), onBase(c.b)}}
		if got := rs.WhyNotChecked(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	rs := plan.Results{Results: []plan.Result{{Status: plan.Passed}, {Status: plan.NotRun, Class: plan.ClassEnvironment,
		Reason: "could not be started: fork"}}}
	if got, want := rs.WhyNotChecked(),
		"1 of 2 tasks could not be checked on this machine; all of them say: could not be started: fork"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
