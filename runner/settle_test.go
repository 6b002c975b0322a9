package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/runner/progress"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state/lease"
	"github.com/app-sre/prcheck/wrapper"
)

// A side writes a word in each attempt of its tasks. After the last word it repeats it.
type side struct {
	words string // "ok" passes, "slow" takes an hour, "config" fails because of the data, any other word fails
	ran   int
}

func (s *side) Run(ctx context.Context, _ plan.Task, log io.Writer) error {
	words := strings.Split(s.words, ",")
	word := words[min(s.ran, len(words)-1)]
	s.ran++
	time.Sleep(time.Second)
	_, _ = fmt.Fprintln(log, word)
	switch word {
	case "ok":
		return nil
	case "config":
		return &wrapper.ConfigError{Err: errors.New("no such program")}
	case "slow":
		<-ctx.Done()
	}
	return &wrapper.ExitError{Code: 1}
}

// oneTask returns a run with one task, and the options for running it.
func oneTask(t *testing.T, rules string) (*run, wrapper.RunOptions) {
	t.Helper()
	base, err := bundle.Open("../testdata/shop/base.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	read, err := settings.Read("prcheck.yaml", []byte("version: 1\n"+rules))
	if err != nil {
		t.Fatal(err)
	}
	p := &plan.Plan{Tasks: []plan.Task{{ID: "a", Integration: "price-tags", Argv: []string{"x"}, Timeout: "20m"}}}
	r := &run{
		Input: Input{Plan: p, Base: base, Head: base, Settings: read},
		opts:  Options{Logs: t.TempDir(), Progress: progress.Display{Out: io.Discard, Mode: progress.Plain}}.withDefaults(),
	}
	return r, wrapper.RunOptions{Logs: wrapper.LogFolder{Dir: r.opts.Logs}, Backoff: func(time.Duration) time.Duration {
		return time.Millisecond
	}}
}

// newTestSettlement returns a settlement whose tasks run on these sides.
func (r *run) newTestSettlement(opts wrapper.RunOptions, head, base wrapper.Runner) *settlement {
	r.head = head
	s := r.newSettlement(opts)
	s.onBase = func() (wrapper.Runner, error) { return base, nil }
	s.alike = func() (wrapper.Runner, error) { return head, nil }
	return s
}

// Three different errors that may disappear in another attempt.
const flake1, flake2, flake3 = "connection reset by peer", "HTTP 503", "i/o timeout"

func TestSettle(t *testing.T) {
	const flakes = flake1 + "," + flake2
	for name, test := range map[string]struct {
		head, base string
		settings   string
		before     []plan.Result // what an earlier run left
		flaky      bool          // as is known
		no         bool          // baseline
		want       string        // status, class, attempts, finding
		ran        int           // on base
	}{
		"passes": {head: "ok", want: `passed "" 1 ""`},
		"fails":  {head: "bad", base: "ok", want: `failed "task" 1 "passes on base"`, ran: 1},
		"fails on base": {head: "bad", base: "bad", want: `failed "baseline" 1 "fails the same way on base"`,
			ran: 1},
		"passes the second time": {head: flake1 + ",ok", want: `passed "" 2 ""`},
		"passes the last time":   {head: flakes + ",ok", base: "ok", want: `passed "" 3 ""`, ran: 1},
		"fails the last time": {head: flakes + "," + flake3 + ",ok", base: "ok",
			want: `failed "transient" 3 "passes on base"`, ran: 1},
		"flakes on base, too": {head: flakes + ",ok", base: flake1 + "," + flake3, want: `passed "" 3 ""`, ran: 2},
		"is at fault": {head: flakes + ",bad", base: "ok", want: `failed "task" 3 "passes on base"`,
			ran: 1},
		"is at fault from the second on": {head: flake1 + ",bad", base: "ok", want: `failed "task" 3 "passes on base"`,
			ran: 1},
		"is of base the second time": {head: flake1 + ",bad,ok", base: "bad",
			want: `failed "baseline" 2 "fails the same way on base"`, ran: 1},
		"flakes beside base": {head: flakes + ",bad", base: "bad",
			want: `failed "baseline" 3 "fails the same way on base"`, ran: 1},
		"the data is wrong": {head: flakes + ",config", base: "ok", want: `failed "config" 3 ""`, ran: 1},
		"runs out of time":  {head: "slow", base: "ok", want: `timed_out "transient" 2 ""`},
		"runs out of time at last": {head: flakes + ",slow", base: "ok", settings: "max_baseline_seconds: 3000",
			want: `timed_out "transient" 3 ""`, ran: 1},
		"no time is left for it": {head: flakes + ",slow", base: "ok", settings: "max_baseline_seconds: 60",
			want: `failed "transient" 2 "passes on base"`, ran: 1},
		"base takes all the time": {head: flakes + ",ok", base: "slow",
			want: `failed "transient" 2 "not comparable with base: the time for runs on base was up (max_baseline_seconds)"`,
			ran:  1},
		"nothing runs on base": {head: flakes + ",ok", base: "ok", no: true, want: `failed "transient" 2 ""`},
		"no time for base": {head: flakes + ",ok", base: "ok", settings: "max_baseline_seconds: 0",
			want: `failed "transient" 2 ""`},
		"flaky, passes the second time": {head: "bad,ok", base: "ok", flaky: true, want: `passed "" 2 ""`, ran: 1},
		"flaky, passes the fifth time": {head: "bad,bad," + flakes + ",ok", base: "ok", flaky: true, want: `passed "" 5 ""`,
			ran: 1},
		"flaky, and at fault": {head: "bad", base: "ok", flaky: true, want: `failed "task" 5 "passes on base"`,
			ran: 1},
		"flaky, and of base": {head: "bad", base: "bad", flaky: true,
			want: `failed "baseline" 1 "fails the same way on base"`, ran: 1},
		"flaky beside base": {head: "bad,worse", base: "worse", flaky: true,
			want: `failed "baseline" 2 "fails the same way on base"`, ran: 1},
		"flaky, and the data is wrong": {head: "config", base: "ok", flaky: true, want: `failed "config" 1 ""`},
		"flaky, and runs out of time": {head: "bad,slow", base: "ok", flaky: true, settings: "max_baseline_seconds: 3000",
			want: `timed_out "transient" 2 ""`, ran: 1},
		"flaky, with no time": {head: "bad,ok", base: "ok", flaky: true, settings: "max_baseline_seconds: 0",
			want: `failed "task" 1 ""`},
		"it had its last attempt": {head: "ok", base: "ok", before: []plan.Result{{}, {}},
			want: `failed "transient" 3 "passes on base"`, ran: 1},
		"never compared": {head: "bad", base: "bad", settings: "integrations: {price-tags: {baseline: none}}",
			want: `failed "task" 1 ""`},
		"noise on base": {head: "took 1", base: "took 2,took 3",
			want: `failed "baseline" 1 "fails the same way on base"`, ran: 2},
		"no noise on base": {head: "took 1", base: "took 2",
			want: `failed "task" 1 "fails differently on base: a number differs there, in \"took 1\""`, ran: 2},
		"base passes the second time": {head: "took 1", base: "took 2,ok",
			want: `failed "task" 1 "not comparable with base: another run there ended in another way: passes on base"`, ran: 2},
		"no time for a second run": {head: "took 1", base: "took 2,slow",
			want: `failed "task" 1 "not comparable with base: the time for runs on base was up (max_baseline_seconds)"`, ran: 2},
		"it had two attempts": {head: "ok", base: "ok", before: []plan.Result{{}}, want: `passed "" 3 ""`, ran: 1},
	} {
		for _, fast := range []bool{false, true} {
			if fast && len(test.before) > 0 {
				continue // a result of an earlier run stops nothing
			}
			synctest.Test(t, func(t *testing.T) {
				r, opts := oneTask(t, test.settings)
				r.opts.NoBaseline = test.no
				head, base := &side{words: test.head}, &side{words: test.base}
				s := r.newTestSettlement(opts, head, base)
				s.isFlaky = func(context.Context, plan.Task) bool { return test.flaky }
				opts.FailFast, opts.Settle = fast, s.settleOne
				results := []plan.Result{{Task: "a", Status: plan.Failed, Class: plan.ClassTransient, ExitCode: 1,
					Reason: "exit code 1", Attempts: len(test.before) + 1}}
				for range test.before {
					results[0].Before = append(results[0].Before, plan.Attempt{Status: plan.Failed, Class: plan.ClassTransient})
				}
				if test.before == nil {
					var err error
					if results, err = wrapper.Run(t.Context(), r.Plan.Tasks, head, opts); err != nil {
						t.Fatal(err)
					}
				}
				err := s.settleAll(t.Context(), results)
				result := results[0]
				finding := ""
				if result.Baseline != nil {
					finding = result.Baseline.Finding
				}
				got := fmt.Sprintf("%s %q %d %q", result.Status, result.Class, result.Attempts, finding)
				if got != test.want || err != nil || base.ran != test.ran {
					t.Errorf("%s (at once: %t): got %s, %v, and it ran %d times on base\nwant %s, and %d times", name, fast, got, err,
						base.ran, test.want, test.ran)
				}
				if _, same := s.sameOnBase["a"]; same != result.OnBase() {
					t.Errorf("%s: found %v of %s", name, s.sameOnBase, got)
				}
			})
		}
	}
}

// Before a run on base and before a last attempt people get a message.
func TestSettleMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, opts := oneTask(t, "")
		head := &side{words: flake1 + "," + flake2 + ",ok"}
		results, err := wrapper.Run(t.Context(), r.Plan.Tasks, head, opts)
		if err != nil {
			t.Fatal(err)
		}
		var note bytes.Buffer
		r.opts.Notes = &note
		if err := r.newTestSettlement(opts, head, &side{words: "ok"}).settleAll(t.Context(), results); err != nil {
			t.Fatal(err)
		}
		const want = "runner: 1 task failed; running it on base, for at most 10m0s\n" +
			"runner: 1 task failed for reasons that may pass; running it once more\n"
		if note.String() != want {
			t.Errorf("got %q, want %q", note.String(), want)
		}
	})
}

// An interruption on base or in a last attempt is an error, and the failure stays as it
// was.
func TestSettleInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, opts := oneTask(t, "")
		for _, words := range [][2]string{{"slow", "ok"}, {"ok", "slow"}} {
			head, base := &side{words: flake1 + "," + flake2 + "," + words[0]}, &side{words: words[1]}
			results, err := wrapper.Run(t.Context(), r.Plan.Tasks, head, opts)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(30*time.Second, cancel)
			began := time.Now()
			err = r.newTestSettlement(opts, head, base).settleAll(ctx, results)
			if !errors.Is(err, context.Canceled) || time.Since(began) != 30*time.Second || results[0].Attempts != 2 ||
				!results[0].Blocks() {
				t.Errorf("after %s: got %+v, %v", time.Since(began), results[0], err)
			}
		}
	})
}

// With --fail-fast a task keeps its targets while it runs on base. If it loses them, the
// task ends, and the run goes on.
func TestSettleLosesTargets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, opts := oneTask(t, "")
		opts.Lease = func(context.Context, []wrapper.Target, func(context.Context)) { t.Error("it asks for its targets") }
		s := r.newTestSettlement(opts, nil, &side{words: "slow"})
		held, lose := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { lose(lease.ErrLost) })
		result := s.settleOne(held, r.Plan.Tasks[0], plan.Result{Task: "a", Status: plan.Failed, Class: plan.ClassTask,
			ExitCode: 1, Reason: "exit code 1", Attempts: 1})
		err := s.settleAll(t.Context(), []plan.Result{result})
		if want := "not comparable with base: " + lease.ErrLost.Error(); err != nil || !result.Blocks() ||
			result.Baseline.Finding != want {
			t.Errorf("got %+v, %v, want a failure and %q", result, err, want)
		}
	})
}

// A task that was started with early exit runs on head once more without it, and that run
// is compared. If it passes, the failure is still red.
func TestSettleAlike(t *testing.T) {
	for alike, want := range map[string]string{
		"bad": `failed "baseline" "fails the same way on base"`,
		"ok":  `failed "task" "not comparable with base: started as on base, it ends in another way on head: it passes"`,
		"new": `failed "task" "fails differently on base: \"new\" is missing there"`,
	} {
		synctest.Test(t, func(t *testing.T) {
			r, opts := oneTask(t, "")
			r.Plan.Tasks[0].When = []string{"early_exit"}
			head := &side{words: "early,bad"}
			results, err := wrapper.Run(t.Context(), r.Plan.Tasks, head, opts)
			if err != nil {
				t.Fatal(err)
			}
			s := r.newTestSettlement(opts, head, &side{words: "bad"})
			again := &side{words: alike}
			s.alike = func() (wrapper.Runner, error) { return again, nil }
			err = s.settleAll(t.Context(), results)
			got := fmt.Sprintf("%s %q %q", results[0].Status, results[0].Class, results[0].Baseline.Finding)
			if got != want || err != nil || head.ran != 1 || again.ran != 1 || len(results[0].Baseline.MoreLogs) != 1 {
				t.Errorf("got %s, %v after %d and %d runs, want %s", got, err, head.ran, again.ran, want)
			}
		})
	}
}
