package baseline_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/baseline"
)

func failed(code int) plan.Result {
	return plan.Result{Status: plan.Failed, Class: plan.ClassTask, ExitCode: code, Reason: fmt.Sprintf("exit code %d", code), Attempts: 1}
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
		{"a signal", task, plan.Result{Status: plan.Failed, Class: plan.ClassTask, ExitCode: -1, Reason: "killed by signal 9"}, false},
		{"its log was not kept", task, with(func(r *plan.Result) { r.Reason += "; its log could not be kept: disk full" }), false},
		{"the same on base already", task, with(func(r *plan.Result) { r.Class = plan.ClassBaseline }), false},
		{"a native integration", native, plan.Result{Status: plan.Failed, Class: plan.ClassTask, ExitCode: -1, Reason: "no owner"}, true},
	} {
		if got := baseline.IsComparable(c.task, c.in); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestCompare(t *testing.T) {
	const at = "[2026-11-21 10:00:00] "
	long := strings.Repeat("x", 300)
	tests := []struct {
		name, head, base string
		same             bool
		text             string
	}{
		{"the same", "no owner\n", "no owner\n", true, "fails the same way on base"},
		{"nothing said", "", "", false, "not comparable with base: its log does not say why it fails"},
		{"white space said", " \n\t\n", "\n", false, "not comparable with base: its log does not say why it fails"},
		{"only what is no error", at + "[INFO] bye\n", at + "[INFO] bye\n", false, "not comparable with base: its log does not say why it fails"},
		{"another error", "no owner\n", "no role\n", false, `fails differently on base: "no owner" is missing there`},
		{"one more error", "no owner\nno role\n", "no owner\n", false, `fails differently on base: "no role" is missing there`},
		{"one error less", "no owner\n", "no owner\nno role\n", true, "fails the same way on base"},
		{"twice what is there once", "no owner\nno owner\n", "no owner\n", false, `fails differently on base: "no owner" is missing there`},
		{"in another order", "b\na\n", "a\nb\n", true, "fails the same way on base"},
		{"a long line", long, "x", false, `fails differently on base: "` + strings.Repeat("x", 200) + `…" is missing there`},

		{"what the change would do", at + "[INFO] [DRY-RUN] [u.py:run:1] - ['create_user', 'x']\n" + at + "[ERROR] no owner\n",
			at + "[ERROR] no owner\n", true, "fails the same way on base"},
		{"what the change would do, as a warning", at + "[WARNING] x\nno owner\n", "no owner\n", false, `fails differently on base: "` + at + `[WARNING] x" is missing there`},
		{"INFO inside an error", "error: INFO is missing\nno owner\n", "no owner\n", false, `fails differently on base: "error: INFO is missing" is missing there`},
		{"INFO as the beginning of a word", "INFORMATION is missing\nno owner\n", "no owner\n", false, `fails differently on base: "INFORMATION is missing" is missing there`},
		{"logfmt", "time=2026-11-21T10:00:00Z level=INFO msg=x\nno owner\n", "no owner\n", true, "fails the same way on base"},
		{"JSON", `{"time":"x","level":"info","msg":"x"}` + "\nno owner\n", "no owner\n", true, "fails the same way on base"},

		{"times", at + "[ERROR] no owner since 2026-11-21T10:00:01.123Z, 10:00:02\n", "[2026-11-21 11:30:59] [ERROR] no owner since 2026-11-20T09:00:01Z, 11:00:02\n", true, "fails the same way on base"},
		{"Go's times", "2026/11/21 10:00:00 no owner", "2026/11/21 10:00:09.123456 no owner", true, "fails the same way on base"},
		{"a date is data", "expired on 2026-11-21", "expired on 2026-11-20", false, `fails differently on base: "expired on 2026-11-21" is missing there`},
		{"durations", "gave up after 1.234s, took 3m2s, in 12 ms", "gave up after 2.5s, took 1m9s, in 7 ms", true, "fails the same way on base"},
		{"a duration of the data", "interval: 30s is too long", "interval: 40s is too long", false, `fails differently on base: "interval: 30s is too long" is missing there`},
		{"addresses in memory", "<x at 0x7f00aabbccdd> failed", "<x at 0x7f11aabbccee> failed", true, "fails the same way on base"},
		{"ports of this machine", "POST http://127.0.0.1:40123/graphql: no", "POST http://127.0.0.1:39877/graphql: no", true, "fails the same way on base"},
		{"ports elsewhere", "10.0.0.1:443: no", "10.0.0.1:444: no", false, `fails differently on base: "10.0.0.1:443: no" is missing there`},
		{"processes", "vault[123]: no, pid=77, Thread-3, goroutine 8 [running]", "vault[99]: no, pid=1, Thread-41, goroutine 1 [running]", true, "fails the same way on base"},
		{"requests", "AccessDenied, request id: 1b9e8a40-aaaa-bbbb", "AccessDenied, request id: 77777777-cccc-dddd", true, "fails the same way on base"},
		{"temporary files", "/tmp/prcheck-1234567/config: no; /tmp/tmpab12cd34/x: no", "/tmp/prcheck-7654321/config: no; /tmp/tmpzz99yy88/x: no", true, "fails the same way on base"},
		{"other files there", "/tmp/a.yaml: no", "/tmp/b.yaml: no", false, `fails differently on base: "/tmp/a.yaml: no" is missing there`},
		{"bundles", "graphqlsha/" + strings.Repeat("aa", 32) + " no", "graphqlsha/" + strings.Repeat("bb", 32) + " no", true, "fails the same way on base"},
		{"other sums", strings.Repeat("ab", 20) + " not found", strings.Repeat("cd", 20) + " not found", false, `fails differently on base: "` + strings.Repeat("ab", 20) + ` not found" is missing there`},
		{"counts", "2 clusters failed", "1 cluster failed", false, `fails differently on base: "2 clusters failed" is missing there`},
		{"counts of one word", "errors: 2", "errors: 1", false, `fails differently on base: "errors: 2" is missing there`},
		{"numbers of things to do", "cannot process 2 accounts", "cannot process 3 accounts", false, `fails differently on base: "cannot process 2 accounts" is missing there`},
		{"ids", "cluster 1b9e8a40-aaaa-bbbb-cccc-000000000001 is gone", "cluster 1b9e8a40-aaaa-bbbb-cccc-000000000002 is gone", false,
			`fails differently on base: "cluster 1b9e8a40-aaaa-bbbb-cccc-000000000001 is gone" is missing there`},
		{"parts of an address", "00:11:22:33:44:55 is taken", "00:66:77:88:44:55 is taken", false, `fails differently on base: "00:11:22:33:44:55 is taken" is missing there`},

		{"an escape that swallows what follows", "no owner\n\x1b]0;no role\n", "no owner\n", false, "fails differently on base: a line of the log is missing there"},
		{"INFO with colours", "\x1b[32mINFO\x1b[0m x\nno owner\n", "no owner\n", true, "fails the same way on base"},
		{"written over", "INFO x\rno role\nno owner\n", "no owner\n", false, `fails differently on base: "no role" is missing there`},
		{"escapes and bytes", "\x1b[31mno owner\x1b[0m \xff\n", "no owner \xff\n", true, "fails the same way on base"},
	}
	for _, c := range tests {
		head, base := failed(1), failed(1)
		head.Tail, base.Tail = sanitize.Text(c.head), sanitize.Text(c.base)
		got := baseline.Compare(task, baseline.Failure{Result: head, Log: c.head}, baseline.Failure{Result: base, Log: c.base}, strings.Repeat("aa", 32), strings.Repeat("bb", 32))
		if got.Same != c.same || got.Finding != c.text || (got.Fingerprint != "") != c.same {
			t.Errorf("%s: got %+v, want %v %q", c.name, got, c.same, c.text)
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
		head, base baseline.Failure
		text       string
	}{
		"it passes":         {baseline.Failure{Result: failed(1), Log: log}, baseline.Failure{Result: plan.Result{Status: plan.Passed}, Log: log}, "passes on base"},
		"another exit code": {baseline.Failure{Result: failed(1), Log: log}, baseline.Failure{Result: failed(2), Log: log}, "fails differently on base: exit code 2"},
		"another class":     {baseline.Failure{Result: failed(1), Log: log}, baseline.Failure{Result: transient, Log: log}, "fails differently on base: class transient"},
		"out of time": {baseline.Failure{Result: failed(1), Log: log},
			baseline.Failure{Result: plan.Result{Status: plan.TimedOut, Class: plan.ClassTransient, Reason: "timed out after 1m"}, Log: log}, "not comparable with base: timed out after 1m"},
		"config on base": {baseline.Failure{Result: failed(1), Log: log},
			baseline.Failure{Result: plan.Result{Status: plan.Failed, Class: plan.ClassConfig, ExitCode: 1, Reason: "it may not read /a"}, Log: log}, "not comparable with base: it may not read /a"},
		"no log":         {baseline.Failure{Result: failed(1), Log: log, LogErr: lost}, baseline.Failure{Result: failed(1), Log: log}, "not comparable with base: its log cannot be compared: no space left on device"},
		"no log on base": {baseline.Failure{Result: failed(1), Log: log}, baseline.Failure{Result: failed(1), Log: log, LogErr: lost}, "not comparable with base: its log on base cannot be compared: no space left on device"},
	} {
		if got := baseline.Compare(task, c.head, c.base); got != (baseline.Comparison{Finding: c.text}) {
			t.Errorf("%s: got %+v, want %q", name, got, c.text)
		}
	}
}

// The finding shows a line only if the result shows it, because there secrets are masked.
func TestFindingShowsNoUnmaskedLine(t *testing.T) {
	head := failed(1)
	head.Tail = "token *** is wrong"
	got := baseline.Compare(task, baseline.Failure{Result: head, Log: "token hunt\x1b[0mer22 is wrong\n"}, baseline.Failure{Result: failed(1), Log: "x\n"})
	if want := "fails differently on base: a line of the log is missing there"; got.Finding != want {
		t.Errorf("got %q, want %q", got.Finding, want)
	}
}

// A failure is never the same on base if head's log has a line that base's log has not,
// with any lines around it and in any order of base's lines.
func TestNewLineIsNeverTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // repeatable
	noise := []string{
		"[2026-11-21 10:00:%02d] [ERROR] cluster c%[2]d: no owner", "gave up after %d.5s, %d left", "pid=%d died of %d",
		"[2026-11-21 10:00:%02d] [INFO] would create user %d", "goroutine %d [running]: x%d", "HTTP %d of %d",
	}
	for range 1000 {
		var base, head []string
		for range random.IntN(6) {
			line := noise[random.IntN(len(noise))]
			n := random.IntN(4)
			base = append(base, fmt.Sprintf(line, random.IntN(60), n))
			if random.IntN(2) == 0 {
				head = append(head, fmt.Sprintf(line, random.IntN(60), n))
			}
		}
		own := fmt.Sprintf("[2026-11-21 10:00:00] [ERROR] user u%d has no role", random.IntN(100))
		at := random.IntN(len(head) + 1)
		head = append(head[:at], append([]string{own}, head[at:]...)...)
		random.Shuffle(len(base), func(i, j int) { base[i], base[j] = base[j], base[i] })
		got := baseline.Compare(task, baseline.Failure{Result: failed(1), Log: strings.Join(head, "\n")}, baseline.Failure{Result: failed(1), Log: strings.Join(base, "\n")})
		if got.Same {
			t.Fatalf("%q is said to be of base, which has %q", head, base)
		}
	}
}

// FuzzCompare checks that two equal logs are the same failure unless no line counts, and
// that a log with one more line is not.
func FuzzCompare(f *testing.F) {
	for _, seed := range []string{"", "x", "[INFO] x\nno", "\xff\x1b[", "x\n\x1b]", "INFO", "10:00:00 a\r\nb"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, log string) {
		base := baseline.Failure{Result: failed(1), Log: log}
		if got := baseline.Compare(task, base, base); !got.Same && got.Finding != "not comparable with base: its log does not say why it fails" {
			t.Errorf("%q is not like itself: %+v", log, got)
		}
		head := baseline.Failure{Result: failed(1), Log: log + "\nonly the change says this\n"}
		if !strings.Contains(log, "only the change") && baseline.Compare(task, head, base).Same {
			t.Errorf("a line more than %q is not seen", log)
		}
	})
}
