package baseline_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/baseline"
)

func failed(code int) plan.Result {
	return plan.Result{Status: plan.Failed, Class: plan.ClassTask, ExitCode: code,
		Reason: fmt.Sprintf("exit code %d", code), Attempts: 1}
}

var task = plan.Task{ID: "a", Integration: "a", Argv: []string{"a"}}

func TestIsComparable(t *testing.T) {
	with := func(change func(*plan.Result)) plan.Result {
		r := failed(1)
		change(&r)
		return r
	}
	native := plan.Task{ID: "n", Native: true}
	for _, c := range []struct {
		name string
		task plan.Task
		in   plan.Result
		want bool
	}{
		{"it failed", task, failed(1), true},
		{"transient after two attempts", task, with(func(r *plan.Result) { r.Class = plan.ClassTransient }), true},
		{"it passed", task, plan.Result{Status: plan.Passed}, false},
		{"the data is wrong", task, with(func(r *plan.Result) { r.Class = plan.ClassConfig }), false},
		{"out of time", task, plan.Result{Status: plan.TimedOut, Class: plan.ClassTransient, ExitCode: -1}, false},
		{"canceled", task, plan.Result{Status: plan.Canceled, ExitCode: -1}, false},
		{"not run", task, plan.Result{Status: plan.NotRun, ExitCode: -1}, false},
		{"a signal", task, plan.Result{Status: plan.Failed, Class: plan.ClassTask, ExitCode: -1,
			Reason: "killed by signal 9"}, false},
		{"its log was not kept", task, with(func(r *plan.Result) { r.Reason += "; its log could not be kept: disk full" }),
			false},
		{"the same on base already", task, with(func(r *plan.Result) { r.Class = plan.ClassBaseline }), false},
		{"a native integration", native, plan.Result{Status: plan.Failed, Class: plan.ClassTask, ExitCode: -1,
			Reason: "no owner"}, true},
	} {
		if got := baseline.IsComparable(c.task, c.in); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// sha stands for the sha256 of a bundle.
func sha(letter string) string { return strings.Repeat(letter, 64) }

func TestCompare(t *testing.T) {
	const at, same = "[2026-11-21 10:00:00] ", "fails the same way on base"
	const quiet = "not comparable with base: its log does not say why it fails"
	long := strings.Repeat("x", 300)
	tests := []struct {
		name, head, base string
		again            string // a second run on base, if one is asked for; "" is never asked for
		text             string // the finding; "" is same
	}{
		{"the same", "no owner\n", "no owner\n", "", same},
		{"nothing said", "", "", "", quiet},
		{"white space said", " \n\t\n", "\n", "", quiet},
		{"another error", "no owner\n", "no role\n", "", `fails differently on base: "no owner" is missing there`},
		{"one more error", "no owner\nno role\n", "no owner\n", "", `fails differently on base: "no role" is missing there`},
		{"one error less", "no owner\n", "no owner\nno role\n", "",
			"fails differently on base: it says more there (2 lines instead of 1)"},
		{"twice what is there once", "no owner\nno owner\n", "no owner\n", "",
			`fails differently on base: "no owner" is missing there`},
		{"a long line", long, "x", "", `fails differently on base: "` + strings.Repeat("x", 200) + `…" is missing there`},

		{"in another order", "b\na\nc\n", "a\nb\nc\n", "a\nb\nc\n",
			`fails differently on base: "a" stands at another place there`},
		{"in another order there, too", "b\na\nc\n", "a\nb\nc\n", "b\na\nc\n", same},
		{"in another order elsewhere", "b\na\nc\nd\n", "a\nb\nc\nd\n", "a\nb\nd\nc\n",
			`fails differently on base: "a" stands at another place there`},
		{"mends one and breaks another", "checking a\nchecking b\nno\n", "checking a\nno\nchecking b\n",
			"checking a\nno\nchecking b\n", `fails differently on base: "no" stands at another place there`},

		{"only INFO", at + "[INFO] bye\n", "[2026-11-21 10:00:09] [INFO] bye\n", "", same},
		{"only INFO, and other", at + "[INFO] bye\n", at + "[INFO] see you\n", "",
			`fails differently on base: "` + at + `[INFO] bye" is missing there`},
		{"only INFO on head", at + "[INFO] bye\n", at + "[INFO] bye\n" + at + "[ERROR] no\n", "",
			"fails differently on base: it says more there (2 lines instead of 1)"},
		{"what the change would do", at + "[INFO] [DRY-RUN] [u.py:run:1] - ['create_user', 'x']\n" + at +
			"[ERROR] no owner\n", at + "[ERROR] no owner\n", "", same},
		{"what the change would do, as a sentence", at + "[INFO] [DRY-RUN] [u.py:run:1] - Creating robot account x\n" + at +
			"[ERROR] no owner\n", at + "[ERROR] no owner\n", "", same},
		{"a list that is no effect", at + "[INFO] [DRY-RUN] [u.py:run:1] - ['validating', 'x']\n" + at + "[ERROR] no owner\n",
			at + "[INFO] [DRY-RUN] [u.py:run:1] - ['validating', 'y']\n" + at + "[ERROR] no owner\n", "",
			`fails differently on base: "` + at + `[INFO] [DRY-RUN] [u.py:run:1] - ['validating', 'x']" is missing there`},
		{"behind another object", at + "[INFO] checking /a\n[INFO] checking /b\n[ERROR] no\n",
			at + "[INFO] checking /a\n[ERROR] no\n[INFO] checking /b\n",
			at + "[INFO] checking /a\n[ERROR] no\n[INFO] checking /b\n",
			`fails differently on base: the INFO line before it differs there, in "[ERROR] no"`},
		{"behind a new object", "[INFO] checking /c\n[ERROR] no\n", "[INFO] checking /a\n[ERROR] no\n", "",
			`fails differently on base: "[INFO] checking /c" is missing there`},
		{"INFO lines of one side", "[INFO] x\n[ERROR] no\n", "[ERROR] no\n", "",
			`fails differently on base: "[INFO] x" is missing there`},
		{"INFO lines that differ", "[INFO] a is bad\n[ERROR] no\n", "[INFO] b is bad\n[ERROR] no\n", "",
			`fails differently on base: "[INFO] a is bad" is missing there`},
		{"INFO with a number that differs each time", "[INFO] 12 ms\n[ERROR] no\n", "[INFO] 13 ms\n[ERROR] no\n",
			"[INFO] 14 ms\n[ERROR] no\n", same},
		{"DEBUG lines of one side", "[DEBUG] x\n[ERROR] no\n", "[ERROR] no\n[DEBUG] y\n", "", same},
		{"threads", "[INFO] b\n[ERROR] x: no\n[INFO] a\n[ERROR] y: no\n",
			"[INFO] a\n[ERROR] x: no\n[INFO] b\n[ERROR] y: no\n", "[INFO] a\n[INFO] b\n[ERROR] y: no\n[ERROR] x: no\n",
			`fails differently on base: the INFO line before it differs there, in "[ERROR] y: no"`},
		{"what the change would do, as a warning", at + "[WARNING] x\nno owner\n", "no owner\n", "",
			`fails differently on base: "` + at + `[WARNING] x" is missing there`},
		{"INFO inside an error", "error: INFO is missing\nno owner\n", "no owner\n", "",
			`fails differently on base: "error: INFO is missing" is missing there`},
		{"INFO as the beginning of a word", "INFORMATION is missing\nno owner\n", "no owner\n", "",
			`fails differently on base: "INFORMATION is missing" is missing there`},
		{"logfmt", "no owner\ntime=2026-11-21T10:00:00Z level=debug msg=x\n", "no owner\n", "", same},
		{"JSON", "no owner\n" + `{"time":"x","level":"debug","msg":"x"}` + "\n", "no owner\n", "", same},

		{"the time at the beginning", at + "[ERROR] no\n", "[2026-11-20 09:11:30] [ERROR] no\n", "", same},
		{"the time of logfmt", `time="2026-11-21T10:00:00Z" level=error msg=no`,
			`time="2026-11-20T10:00:09Z" level=error msg=no`, "", same},
		{"the time of JSON", `{"ts":1795345783.5,"level":"error"}`, `{"ts":1795345799.1,"level":"error"}`, "", same},
		{"a time before a level", "2026-11-21 10:00:00,123 ERROR no", "2026-11-20 10:00:00,456 ERROR no", "", same},
		{"times of the run",
			"2026/11/22 10:00:01 no owner since 2026-11-22T10:00:01.123Z, 10:00:02, 2026-11-22 19:00:01+09:00, 1795341601.5",
			"2026/11/22 10:00:00 no owner since 2026-11-22T10:00:00.1Z, 10:00:00, 2026-11-22T10:00:00Z, 1795341600", "", same},
		{"a time of the data", "no owner since 2026-11-20 10:00:01", "no owner since 2026-11-20 10:00:02",
			"no owner since 2026-11-20 10:00:02",
			`fails differently on base: a time differs there, in "no owner since 2026-11-20 10:00:01"`},
		{"a time of the data at the beginning", "2026-11-20 10:00:01 is over", "2026-11-20 10:00:02 is over",
			"2026-11-20 10:00:02 is over", `fails differently on base: a time differs there, in "2026-11-20 10:00:01 is over"`},
		{"a date", "expired on 2026-11-21", "expired on 2026-11-20", "expired on 2026-11-20",
			`fails differently on base: a time differs there, in "expired on 2026-11-21"`},

		{"durations", "gave up after 1.234s, took 3m2s, in 12 ms", "gave up after 2.5s, took 1m9s, in 7 ms",
			"gave up after 2.6s, took 1m7s, in 9 ms", same},
		{"a duration of the data", "took 30s", "took 40s", "took 40s",
			`fails differently on base: a number differs there, in "took 30s"`},
		{"a duration of the data beside another", "took 30s, in 12 ms", "took 40s, in 13 ms", "took 40s, in 14 ms",
			`fails differently on base: a number differs there, in "took 30s, in 12 ms"`},
		{"addresses in memory", "<x at 0x7f00aabbccdd> failed", "<x at 0x7f11aabbccee> failed",
			"<x at 0x7f11aabbccef> failed", same},
		{"an address of the data", "<x at 0x7f00aabbccdd> failed", "<x at 0x7f11aabbccee> failed",
			"<x at 0x7f11aabbccee> failed", `fails differently on base: an id differs there, in "<x at 0x7f00aabbccdd> failed"`},
		{"the port of the server", "POST http://127.0.0.1:40001/graphql: no", "POST http://127.0.0.1:40002/graphql: no", "",
			same},
		{"ports of the data", "POST http://127.0.0.1:4001/graphql: no", "POST http://127.0.0.1:4002/graphql: no",
			"POST http://127.0.0.1:4002/graphql: no",
			`fails differently on base: a number differs there, in "POST http://127.0.0.1:4001/graphql: no"`},
		{"processes", "vault[123]: no, pid=77, Thread-3", "vault[99]: no, pid=1, Thread-41", "vault[98]: no, pid=2, Thread-7",
			same},
		{"requests", "AccessDenied, request id: 1b9e8a40-aaaa-bbbb", "AccessDenied, request id: 77777777-cccc-dddd",
			"AccessDenied, request id: 8eeeeeee-cccc-dddd", same},
		{"temporary files", "/tmp/tmpabcdefgh/x: no", "/tmp/tmpzz99yy88/x: no", "/tmp/tmpzz99yy87/x: no", same},
		{"the config file", "/tmp/prcheck-40001/config: no", "/tmp/prcheck-40002/config: no", "", same},
		{"bundles", "graphqlsha/" + sha("a") + " no", "graphqlsha/" + sha("b") + " no", "", same},
		{"counts", "2 clusters failed", "1 cluster failed", "",
			`fails differently on base: "2 clusters failed" is missing there`},
		{"counts of one word", "errors: 2", "errors: 1", "errors: 1",
			`fails differently on base: a number differs there, in "errors: 2"`},
		{"numbers that change sides", "user 9 is bad at 0x123456\nuser 7 is bad at 0x123457\n",
			"user 5 is bad at 0x123458\nuser 7 is bad at 0x123459\n", "user 7 is bad at 0x12345a\nuser 5 is bad at 0x12345b\n",
			`fails differently on base: a number differs there, in "user 9 is bad at 0x123456"`},
		{"another kind", "code 12", "code ab12cd", "", `fails differently on base: an id differs there, in "code 12"`},
		{"words are no noise", "cafe-face is gone", "face-cafe is gone", "",
			`fails differently on base: "cafe-face is gone" is missing there`},
		{"other words teach nothing", "no 1\n", "no 2\n", "yes 2\n",
			`fails differently on base: a number differs there, in "no 1"`},

		{"an escape that swallows what follows", "no owner\n\x1b]0;no role\n", "no owner\n", "",
			"fails differently on base: a line of the log is missing there"},
		{"DEBUG with colours", "no owner\n\x1b[32mDEBUG\x1b[0m x\n", "no owner\n", "", same},
		{"written over", "INFO x\rno role\nno owner\n", "INFO x\rno owner\n", "",
			`fails differently on base: "no role" is missing there`},
		{"escapes and bytes", "\x1b[31mno owner\x1b[0m \xff\n", "no owner \xff\n", "", same},
	}
	for _, c := range tests {
		run := func(log, port, bundle string) baseline.Run {
			r := failed(1)
			r.Tail = sanitize.Text(log)
			began := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
			return baseline.Run{Result: r, Log: log, Began: began, Ended: began.Add(time.Second),
				HandedOut: []string{sha(bundle), "127.0.0.1:" + port, "/tmp/prcheck-" + port + "/config"}}
		}
		head, base := run(c.head, "40001", "a"), []baseline.Run{run(c.base, "40002", "b")}
		got := baseline.Compare(task, head, base...)
		if got.Unclear != (c.again != "") {
			t.Errorf("%s: got %+v after one run on base", c.name, got)
		}
		if got.Unclear {
			got = baseline.Compare(task, head, append(base, run(c.again, "40003", "b"))...)
		}
		if got.Same != (c.text == same) || got.Finding != c.text || (got.Fingerprint != "") != got.Same {
			t.Errorf("%s: got %+v, want %q", c.name, got, c.text)
		}
	}
}

// A run on base with an error of its own teaches nothing and hides nothing.
func TestBaseFlakes(t *testing.T) {
	run := func(log string) baseline.Run { return baseline.Run{Result: failed(1), Log: log} }
	head, a, b := run("took 1 s\n"), run("took 2 s\n"), run("took 3 s\n")
	flake := run("took 4 s\nconnection reset\n")
	retried := flake
	retried.Result.Before, retried.Result.Attempts = []plan.Attempt{{Status: plan.Failed}}, 2
	for i, c := range []struct {
		base          []baseline.Run
		same, unclear bool
	}{
		{[]baseline.Run{a, flake}, false, true},
		{[]baseline.Run{a, flake, b}, true, false},
		{[]baseline.Run{a, flake, flake, flake}, false, false},
		{[]baseline.Run{flake}, false, false},
		{[]baseline.Run{retried}, false, true},
		{[]baseline.Run{retried, a}, false, true},
		{[]baseline.Run{retried, a, b}, true, false},
	} {
		if got := baseline.Compare(task, head, c.base...); got.Same != c.same || got.Unclear != c.unclear {
			t.Errorf("%d: got %+v, want %+v", i, got, c)
		}
	}
}

// A comparison tells what it left out, and shows a line only if the result does.
func TestLeftOut(t *testing.T) {
	run := func(n int) baseline.Run {
		log := fmt.Sprintf("[DEBUG] x\n[ERROR] took %d s\n[ERROR] hunt\x1b[0mer%d\n", n, n)
		r := failed(1)
		r.Tail = fmt.Sprintf("[DEBUG] x\n[ERROR] took %d s\n[ERROR] ***", n)
		return baseline.Run{Result: r, Log: log}
	}
	got := baseline.Compare(task, run(1), run(2), run(3))
	want := []string{"1 lines that announce effects or are of level DEBUG (1 on base)", `a number in "[ERROR] took 2 s"`,
		"an id in a line of the log"}
	if !got.Same || got.Lines != 2 || !slices.Equal(got.LeftOut, want) {
		t.Errorf("got %+v, want %q", got, want)
	}
}

// A further run on base is evidence. If it ends in another way, nothing is the same.
func TestFurtherRunsAreEvidence(t *testing.T) {
	run := func(n int) baseline.Run {
		return baseline.Run{Result: failed(1), Log: fmt.Sprintf("took %d s\n", n)}
	}
	passed, other, lost := baseline.Run{Result: plan.Result{Status: plan.Passed}}, run(4), run(4)
	other.Result = failed(2)
	lost.LogErr = errors.New("gone")
	for finding, again := range map[string]baseline.Run{
		"not comparable with base: another run there ended in another way: passes on base":                         passed,
		"not comparable with base: another run there ended in another way: fails differently on base: exit code 2": other,
		"not comparable with base: its log on base cannot be compared: gone":                                       lost,
	} {
		if got := baseline.Compare(task, run(1), run(2), again); got.Same || got.Unclear || got.Finding != finding {
			t.Errorf("got %+v, want %q", got, finding)
		}
	}
}

// In doubt a failure belongs to the change.
func TestCompareInDoubt(t *testing.T) {
	const log = "no owner\n"
	lost := errors.New("no space left on device")
	transient := failed(1)
	transient.Class = plan.ClassTransient
	for name, c := range map[string]struct {
		head, base baseline.Run
		text       string
	}{
		"it passes": {baseline.Run{Result: failed(1), Log: log},
			baseline.Run{Result: plan.Result{Status: plan.Passed}, Log: log}, "passes on base"},
		"another exit code": {baseline.Run{Result: failed(1), Log: log}, baseline.Run{Result: failed(2), Log: log},
			"fails differently on base: exit code 2"},
		"another class": {baseline.Run{Result: failed(1), Log: log}, baseline.Run{Result: transient, Log: log},
			"fails differently on base: class transient"},
		"out of time": {baseline.Run{Result: failed(1), Log: log},
			baseline.Run{Result: plan.Result{Status: plan.TimedOut, Class: plan.ClassTransient, Reason: "timed out after 1m"},
				Log: log}, "not comparable with base: timed out after 1m"},
		"config on base": {baseline.Run{Result: failed(1), Log: log},
			baseline.Run{Result: plan.Result{Status: plan.Failed, Class: plan.ClassConfig, ExitCode: 1,
				Reason: "it may not read /a"}, Log: log}, "not comparable with base: it may not read /a"},
		"no log": {baseline.Run{Result: failed(1), Log: log, LogErr: lost}, baseline.Run{Result: failed(1), Log: log},
			"not comparable with base: its log cannot be compared: no space left on device"},
		"no log on base": {baseline.Run{Result: failed(1), Log: log}, baseline.Run{Result: failed(1), Log: log, LogErr: lost},
			"not comparable with base: its log on base cannot be compared: no space left on device"},
	} {
		if got := baseline.Compare(task, c.head, c.base); !reflect.DeepEqual(got, baseline.Comparison{Finding: c.text}) {
			t.Errorf("%s: got %+v, want %q", name, got, c.text)
		}
	}
}

// The finding shows a line only if the result shows it, because there secrets are masked.
func TestFindingShowsNoUnmaskedLine(t *testing.T) {
	head := failed(1)
	head.Tail = "token *** is wrong"
	got := baseline.Compare(task, baseline.Run{Result: head, Log: "token hunt\x1b[0mer22 is wrong\n"},
		baseline.Run{Result: failed(1), Log: "x\n"})
	if want := "fails differently on base: a line of the log is missing there"; got.Finding != want {
		t.Errorf("got %q, want %q", got.Finding, want)
	}
}

// FuzzCompare checks that two equal logs are the same failure unless no line counts, and
// that a log with one more line is not.
func FuzzCompare(f *testing.F) {
	for _, seed := range []string{"", "x", "[INFO] x\nno", "\xff\x1b[", "x\n\x1b]", "INFO", "10:00:00 a\r\nb"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, log string) {
		base := baseline.Run{Result: failed(1), Log: log}
		if got := baseline.Compare(task, base, base); !got.Same &&
			got.Finding != "not comparable with base: its log does not say why it fails" {
			t.Errorf("%q is not like itself: %+v", log, got)
		}
		head := baseline.Run{Result: failed(1), Log: log + "\nonly the change says this\n"}
		if !strings.Contains(log, "only the change") && baseline.Compare(task, head, base).Same {
			t.Errorf("a line more than %q is not seen", log)
		}
	})
}
