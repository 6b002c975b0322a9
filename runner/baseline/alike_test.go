package baseline_test

import (
	"errors"
	"testing"

	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/baseline"
)

// A task that a change should not concern ends in the same way and says the same, or not; or nothing can be said.
func TestCompareUnaffected(t *testing.T) {
	const effect = "[INFO] [DRY-RUN] [u.py:run:1] - ['create_user', 'x']\n"
	const same, differs, unclear = "says the same on base", "says something else on base: ", "-"
	passed := plan.Result{Status: plan.Passed}
	late := plan.Result{Status: plan.TimedOut, Class: plan.ClassTransient, ExitCode: -1, Reason: "timed out after 1m"}
	killed := plan.Result{Status: plan.Failed, Class: plan.ClassTask, ExitCode: -1, Reason: "killed by signal 9"}
	config := func(why string) plan.Result {
		return plan.Result{Status: plan.Failed, Class: plan.ClassConfig, ExitCode: 1, Reason: why}
	}
	run := func(r plan.Result, log string) baseline.Run {
		r.Tail = sanitize.Text(log)
		return baseline.Run{Result: r, Log: log}
	}
	pass := func(log string) baseline.Run { return run(passed, log) }
	fail := func(log string) baseline.Run { return run(failed(1), log) }
	lost := pass("a\n")
	lost.LogErr = errors.New("gone")
	type runs []baseline.Run
	for _, c := range []struct {
		name    string
		finding string // "-" at its beginning: nothing can be said
		runs    runs   // on head, and on base
	}{
		{"both pass", same, runs{pass("a\n"), pass("a\n")}},
		{"nothing said", same, runs{pass(""), pass("")}},
		{"another line", differs + `"a" is missing there`, runs{pass("a\n"), pass("b\n")}},
		{"an effect of head", differs + `"` + effect[:len(effect)-1] + `" is missing there`, runs{pass(effect), pass("")}},
		{"an effect of base", differs + "it says more there (1 lines instead of 0)", runs{pass(""), pass(effect)}},
		{"INFO that is no effect", same, runs{pass("[INFO] a\n"), pass("[INFO] b\n[DEBUG] c\n")}},
		{"noise", same, runs{pass("took 1 s\n"), pass("took 2 s\n"), pass("took 3 s\n")}},

		{"fails on base", "it passes; on base: it fails: exit code 1", runs{pass("a\n"), fail("a\n")}},
		{"passes on base", "it fails: exit code 1; on base: it passes", runs{fail("a\n"), pass("a\n")}},
		{"other codes", "it fails: exit code 1; on base: it fails: exit code 2", runs{fail("a\n"), run(failed(2), "a\n")}},
		{"both fail", same, runs{fail("a\n[INFO] b\n"), fail("a\n[INFO] c\n")}},
		{"both fail and say only INFO", differs + `"[INFO] b" is missing there`,
			runs{fail("[INFO] b\n"), fail("[INFO] c\n")}},

		{"late on both sides",
			unclear + "it says nothing: timed out after 1m; on base: timed out after 1m", runs{run(late, ""), run(late, "")}},
		{"late on head", "it timed out; on base: it passes", runs{run(late, ""), pass("")}},
		{"late on base", "it passes; on base: it timed out", runs{pass(""), run(late, "")}},
		{"killed on head", unclear + "it says nothing: killed by signal 9; on base: passed", runs{run(killed, ""), pass("")}},
		{"not run on base", unclear + "it says nothing: passed; on base: not_run",
			runs{pass(""), run(plan.Result{Status: plan.NotRun}, "")}},
		{"other ends on base", unclear + "runs on base end in different ways", runs{pass(""), pass(""), fail("")}},
		{"the same settings are wrong", "ends the same way on base",
			runs{run(config("no /a"), "a\n"), run(config("no /a"), "b\n")}},
		{"other settings are wrong", "it fails: no /a; on base: it fails: no /b",
			runs{run(config("no /a"), ""), run(config("no /b"), "")}},
		{"no log of head", unclear + "a log cannot be compared: gone", runs{lost, pass("a\n")}},
		{"no log of base", unclear + "a log cannot be compared: gone", runs{pass("a\n"), pass("a\n"), lost}},
	} {
		got := baseline.CompareUnaffected(task, c.runs[0], c.runs[1:]...)
		finding := got.Finding
		if !got.IsClear() {
			finding = unclear + finding
		}
		if isSame := finding == same || finding == "ends the same way on base"; finding != c.finding || got.Same != isSame {
			t.Errorf("%s: got %+v, want %q", c.name, got, c.finding)
		}
	}
}

// The reason of a native integration is a line that is compared.
func TestCompareUnaffectedNatives(t *testing.T) {
	native := plan.Task{ID: "n", Native: true}
	run := func(reason string) baseline.Run {
		r := plan.Result{Status: plan.Failed, Class: plan.ClassTask, ExitCode: -1, Reason: reason}
		return baseline.Run{Result: r, Log: "a\n"}
	}
	if got := baseline.CompareUnaffected(native, run("no owner"), run("no owner")); !got.Same || got.Lines != 2 {
		t.Errorf("got %+v", got)
	}
	got := baseline.CompareUnaffected(native, run("no owner"), run("no role"))
	if got.Same || got.Finding != `says something else on base: "no owner" is missing there` {
		t.Errorf("got %+v", got)
	}
}
