package wrapper_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/wrapper"
)

// runnerFunc is a function that is a Runner.
type runnerFunc func(ctx context.Context, task plan.Task, log io.Writer) error

func (f runnerFunc) Run(ctx context.Context, task plan.Task, log io.Writer) error {
	return f(ctx, task, log)
}

func task(id string) plan.Task {
	return plan.Task{ID: id, Integration: "x", Argv: []string{"x"}, Timeout: "10m0s"}
}

// runOne runs one task and returns its result.
func runOne(t *testing.T, task plan.Task, r wrapper.Runner, opts wrapper.RunOptions) plan.Result {
	t.Helper()
	results, err := wrapper.Run(t.Context(), []plan.Task{task}, r, opts)
	if err != nil {
		t.Fatal(err)
	}
	return results[0]
}

func TestResultsComeInTaskOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tasks []plan.Task
		for i := range 100 {
			tasks = append(tasks, task(fmt.Sprint(i)))
		}
		results, err := wrapper.Run(t.Context(), tasks,
			runnerFunc(func(_ context.Context, task plan.Task, log io.Writer) error {
				i, err := strconv.Atoi(task.ID)
				time.Sleep(time.Duration(len(tasks)-i) * time.Second) // the later, the shorter
				fmt.Fprint(log, "I am ", task.ID)
				return err
			}), wrapper.RunOptions{Jobs: 7})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range results {
			if want := fmt.Sprint(i); r.Task != want || r.Tail != "I am "+want || r.Status != plan.Passed || r.Attempts != 1 {
				t.Errorf("result %d is %+v", i, r)
			}
		}
	})
}

func TestLimitIsRespected(t *testing.T) {
	for _, test := range []struct{ jobs, want int }{{1, 1}, {3, 3}, {0, runtime.GOMAXPROCS(0)}} {
		synctest.Test(t, func(t *testing.T) {
			var now, most atomic.Int64
			tasks := make([]plan.Task, 50)
			for i := range tasks {
				tasks[i] = task(fmt.Sprint(i))
			}
			_, err := wrapper.Run(t.Context(), tasks, runnerFunc(func(context.Context, plan.Task, io.Writer) error {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(time.Second)
				now.Add(-1)
				return nil
			}), wrapper.RunOptions{Jobs: test.jobs})
			if err != nil || int(most.Load()) > test.want {
				t.Errorf("jobs %d: %d at once, want at most %d (%v)", test.jobs, most.Load(), test.want, err)
			}
		})
	}
}

func TestOrderGroupsFollowEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tasks := []plan.Task{task("later"), task("first"), task("short"), task("long")}
		tasks[0].Order, tasks[1].Order = 5, -3
		tasks[3].EstimateSeconds = 60
		var mu sync.Mutex
		var got []string
		note := func(word, id string) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, word+" "+id)
		}
		results, err := wrapper.Run(t.Context(), tasks,
			runnerFunc(func(_ context.Context, task plan.Task, _ io.Writer) error {
				note("start", task.ID)
				time.Sleep(time.Second)
				note("end", task.ID)
				return &wrapper.ExitError{Code: 1} // a red group does not stop the next
			}), wrapper.RunOptions{Jobs: 1})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"start first", "end first", "start long", "end long", "start short", "end short", "start later",
			"end later"}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if results[0].Task != "later" || results[0].Seconds != 1 {
			t.Errorf("got %+v", results[0])
		}
	})
}

func TestErrorOfARunnerBecomesAResult(t *testing.T) {
	config := &wrapper.ConfigError{Err: errors.New("it may not read /a")}
	tests := map[string]struct {
		err  error
		want plan.Result
	}{
		"nothing": {nil, plan.Result{Status: plan.Passed}},
		"exit": {&wrapper.ExitError{Code: 3}, plan.Result{Status: plan.Failed, Class: plan.ClassTask,
			Reason: "exit code 3", ExitCode: 3}},
		"signal": {&wrapper.ExitError{Code: -1, Signal: 9}, plan.Result{Status: plan.Failed, Class: plan.ClassTask,
			Reason: "killed by signal 9", ExitCode: -1}},
		"config": {fmt.Errorf("checking: %w", config), plan.Result{Status: plan.Failed, Class: plan.ClassConfig,
			Reason: "checking: it may not read /a", ExitCode: -1}},
		"both": {errors.Join(&wrapper.ExitError{Code: 3}, config),
			plan.Result{Status: plan.Failed, Class: plan.ClassConfig, Reason: "exit code 3; it may not read /a", ExitCode: 3}},
		"any": {errors.New("boom\n\n\x1b[31m  red"), plan.Result{Status: plan.Failed, Class: plan.ClassTask,
			Reason: "boom; red", ExitCode: -1}},
		"token": {errors.New("bad hunter22 and hunt\x1b[0mer22"), plan.Result{Status: plan.Failed, Class: plan.ClassTask,
			Reason: "bad *** and ***", ExitCode: -1}},
	}
	for name, test := range tests {
		synctest.Test(t, func(t *testing.T) {
			got := runOne(t, task("a"), runnerFunc(func(context.Context, plan.Task, io.Writer) error { return test.err }),
				wrapper.RunOptions{Masker: mask.New([]string{"hunter22"})})
			test.want.Task, test.want.Attempts, test.want.Spans = "a", 1, []plan.Span{{}}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("%s: got %+v\nwant %+v", name, got, test.want)
			}
		})
	}
}

func TestTasksThatCannotStart(t *testing.T) {
	blocked, timeless := task("a"), task("b")
	blocked.Blocked, timeless.Timeout = "only head defines it", "soon"
	results, err := wrapper.Run(t.Context(), []plan.Task{blocked, timeless}, nil, wrapper.RunOptions{})
	want := []plan.Result{
		{Task: "a", Status: plan.NotRun, Class: plan.ClassConfig, Reason: "only head defines it", ExitCode: -1},
		{Task: "b", Status: plan.NotRun, Class: plan.ClassConfig, Reason: `the timeout "soon" is not a positive duration`,
			ExitCode: -1},
	}
	if err != nil || !reflect.DeepEqual(results, want) {
		t.Errorf("got %+v, %v\nwant %+v", results, err, want)
	}
}

// The waiting time of a task counts from the start of its group. Its span counts from
// the start of the run.
func TestWaitingAndSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tasks := []plan.Task{task("one"), task("two"), task("three"), task("later group")}
		tasks[3].Order = 1
		results, err := wrapper.Run(t.Context(), tasks, runnerFunc(func(context.Context, plan.Task, io.Writer) error {
			time.Sleep(time.Minute)
			return nil
		}), wrapper.RunOptions{Jobs: 2})
		type when struct {
			Waited float64
			Spans  []plan.Span
		}
		var got []when
		for _, r := range results {
			got = append(got, when{r.Waited, r.Spans})
		}
		want := []when{
			{0, []plan.Span{{Seconds: 60}}}, {0, []plan.Span{{Seconds: 60}}},
			{60, []plan.Span{{Started: 60, Seconds: 60}}}, {0, []plan.Span{{Started: 120, Seconds: 60}}},
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, %v\nwant %v", got, err, want)
		}
	})
}

func TestTimeout(t *testing.T) {
	waits := runnerFunc(func(ctx context.Context, _ plan.Task, _ io.Writer) error {
		<-ctx.Done()
		return nil // says it passed, but too late to be believed
	})
	synctest.Test(t, func(t *testing.T) {
		got := runOne(t, task("a"), waits, wrapper.RunOptions{Backoff: func(time.Duration) time.Duration {
			return 4 * time.Second
		}})
		want := plan.Result{Task: "a", Status: plan.TimedOut, Class: plan.ClassTransient, Reason: "timed out after 10m0s",
			ExitCode: -1, Seconds: 1200, Attempts: 2,
			Spans:  []plan.Span{{Seconds: 600}, {Started: 604, Seconds: 600}},
			Before: []plan.Attempt{{Status: plan.TimedOut, Class: plan.ClassTransient, Reason: "timed out after 10m0s"}}}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
	})
}

func TestARunnerThatIgnoresItsEndIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := runnerFunc(func(_ context.Context, _ plan.Task, log io.Writer) error {
			time.Sleep(time.Hour)
			if _, err := io.WriteString(log, "too late"); err == nil {
				t.Error("output after the end was accepted")
			}
			return nil
		})
		got := runOne(t, task("a"), deaf, wrapper.RunOptions{})
		want := "timed out after 10m0s; it did not stop within 1m0s and was left behind"
		if got.Status != plan.TimedOut || got.Reason != want || got.Tail != "" || got.Attempts != 1 {
			t.Errorf("got %+v, want one attempt and reason %q: it still runs", got, want)
		}
		time.Sleep(time.Hour)
	})
}

func TestCancelStopsRunningAndWaitingTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(90*time.Second, cancel)
		tasks := []plan.Task{task("done"), task("running"), task("waiting"), task("later group")}
		tasks[3].Order = 1
		results, err := wrapper.Run(ctx, tasks, runnerFunc(func(ctx context.Context, task plan.Task, _ io.Writer) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Minute):
				return nil
			}
		}), wrapper.RunOptions{Jobs: 1})
		if err != nil {
			t.Fatal(err)
		}
		want := []plan.Result{
			{Task: "done", Status: plan.Passed, Seconds: 60, Attempts: 1, Spans: []plan.Span{{Seconds: 60}}},
			{Task: "running", Status: plan.Canceled, Reason: "canceled", ExitCode: -1, Seconds: 30, Attempts: 1,
				Waited: 60, Spans: []plan.Span{{Started: 60, Seconds: 30}}},
			{Task: "waiting", Status: plan.Canceled, Reason: "canceled before it started", ExitCode: -1},
			{Task: "later group", Status: plan.Canceled, Reason: "canceled before it started", ExitCode: -1},
		}
		if !reflect.DeepEqual(results, want) {
			t.Errorf("got %+v\nwant %+v", results, want)
		}
	})
}

func TestAPanicFailsItsOwnTaskOnly(t *testing.T) {
	tasks := []plan.Task{task("panics"), task("exits"), task("fine")}
	results, err := wrapper.Run(t.Context(), tasks, runnerFunc(func(_ context.Context, task plan.Task, _ io.Writer) error {
		switch task.ID {
		case "panics":
			panic("no\nway")
		case "exits":
			runtime.Goexit()
		}
		return nil
	}), wrapper.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r := results[0]; r.Status != plan.Failed || r.Class != plan.ClassTask ||
		!strings.HasPrefix(r.Reason, "panic at wrapper_test.TestAPanicFailsItsOwnTaskOnly.func1, line ") ||
		strings.Contains(r.Reason+r.Tail, "no; way") || !strings.Contains(r.Tail, "run_test.go") {
		t.Errorf("got %+v, want the place of the panic in the reason and its stack in the tail, without its message", r)
	}
	if r := results[1]; r.Status != plan.Failed || r.Reason != "the runner ended its goroutine" {
		t.Errorf("got %+v", r)
	}
	if r := results[2]; !r.OK() {
		t.Errorf("got %+v", r)
	}
}

func TestEventsComeOneAtATime(t *testing.T) {
	var got []string // no lock: the race detector would complain
	tasks := []plan.Task{task("a"), task("b")}
	tasks[1].Blocked = "no"
	_, err := wrapper.Run(t.Context(), tasks, runnerFunc(func(context.Context, plan.Task, io.Writer) error { return nil }),
		wrapper.RunOptions{Observe: func(e wrapper.Event) {
			word := "starts"
			if e.Result != nil {
				word = string(e.Result.Status)
			}
			got = append(got, e.Task.ID+" "+word)
		}})
	slices.Sort(got)
	if want := []string{"a passed", "a starts", "b not_run"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestNoTasksNoResults(t *testing.T) {
	if results, err := wrapper.Run(t.Context(), nil, nil, wrapper.RunOptions{}); err != nil || len(results) != 0 {
		t.Errorf("got %v, %v", results, err)
	}
}

// Running tasks share the memory. A task that needs more than there is runs alone among
// the tasks with a need, and a task without a need never waits.
func TestMemoryIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		needs := []int64{3, 3, 2, 1, 9, 0, 0, 4, 1}
		tasks := make([]plan.Task, len(needs))
		for i, n := range needs {
			tasks[i] = task(fmt.Sprint(i))
			tasks[i].Memory = n
		}
		var mu sync.Mutex
		var used, most, running, atOnce int64
		results, err := wrapper.Run(t.Context(), tasks,
			runnerFunc(func(_ context.Context, task plan.Task, _ io.Writer) error {
				add := func(sign int64) {
					mu.Lock()
					defer mu.Unlock()
					used, running = used+sign*min(task.Memory, 5), running+sign
					most, atOnce = max(most, used), max(atOnce, running)
				}
				add(1)
				time.Sleep(time.Second)
				add(-1)
				return nil
			}), wrapper.RunOptions{Jobs: 8, Memory: 5})
		if err != nil || len(results) != len(needs) || most != 5 || atOnce < 3 {
			t.Errorf("got %d results, %d bytes and %d tasks at once, %v; want at most 5 bytes", len(results), most, atOnce, err)
		}
		// A run that is canceled ends although there is no free memory.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		results, err = wrapper.Run(ctx, tasks, runnerFunc(func(ctx context.Context, _ plan.Task, _ io.Writer) error {
			<-ctx.Done()
			return ctx.Err()
		}), wrapper.RunOptions{Jobs: 8, Memory: 5})
		for _, r := range results {
			if r.Status != plan.Canceled {
				t.Errorf("got %+v, %v, want it canceled", r, err)
			}
		}
	})
}

// Tasks start with the longest estimate first. The p90 counts if a task has one.
func TestLongestFirst(t *testing.T) {
	tasks := []plan.Task{task("unknown"), task("steady"), task("varies"), task("short")}
	tasks[1].EstimateSeconds, tasks[1].EstimateP90 = 60, 61
	tasks[2].EstimateSeconds, tasks[2].EstimateP90 = 10, 300
	tasks[3].EstimateSeconds = 20
	var order []string
	_, err := wrapper.Run(t.Context(), tasks, runnerFunc(func(_ context.Context, task plan.Task, _ io.Writer) error {
		order = append(order, task.ID)
		return nil
	}), wrapper.RunOptions{Jobs: 1})
	if want := []string{"varies", "steady", "short", "unknown"}; err != nil || !slices.Equal(order, want) {
		t.Errorf("got %q, %v, want %q", order, err, want)
	}
}

// After the first failure no task starts, running tasks end, and every task has a
// result.
func TestFailFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tasks := []plan.Task{task("fails"), task("runs"), task("next"), task("later")}
		tasks[3].Order = 1
		results, err := wrapper.Run(t.Context(), tasks,
			runnerFunc(func(_ context.Context, task plan.Task, _ io.Writer) error {
				if task.ID == "fails" {
					time.Sleep(time.Second)
					return &wrapper.ExitError{Code: 1}
				}
				time.Sleep(2 * time.Second)
				return nil
			}), wrapper.RunOptions{Jobs: 2, FailFast: true})
		var got []plan.Status
		for _, r := range results {
			got = append(got, r.Status)
		}
		if want := []plan.Status{plan.Failed, plan.Passed, plan.Canceled, plan.Canceled}; err != nil ||
			!slices.Equal(got, want) {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	})
}

// Tasks go on after a failure if Settle returns a result that does not fail the check.
// The task keeps its slot and its target during Settle. The state of the target depends
// on the result before Settle.
func TestFailFastSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tasks := []plan.Task{task("base"), task("base"), task("base"), task("passes"), task("fails"), task("next")}
		for i := range tasks {
			tasks[i].Shard = "s"
		}
		asked, running := []string{}, 0
		began := time.Now()
		results, err := wrapper.Run(t.Context(), tasks,
			runnerFunc(func(_ context.Context, task plan.Task, log io.Writer) error {
				if running++; running > 1 {
					t.Errorf("%s runs beside another", task.ID)
				}
				defer func() { running-- }()
				if task.ID == "passes" {
					return nil
				}
				_, _ = fmt.Fprintln(log, task.ID)
				return &wrapper.ExitError{Code: 1}
			}), wrapper.RunOptions{
				Jobs: 2, FailFast: true, Targets: bearing(wrapper.Target{Max: 1}),
				Settle: func(_ context.Context, task plan.Task, r plan.Result) plan.Result {
					running++
					time.Sleep(time.Second)
					running--
					asked = append(asked, task.ID)
					if r.Baseline = (&plan.Baseline{Finding: "it does"}); task.ID == "base" {
						r.Class = plan.ClassBaseline
					}
					return r
				},
			})
		var got []string
		for _, r := range results {
			got = append(got, string(r.Status)+" "+string(r.Class))
		}
		want := []string{"failed baseline", "failed baseline", "failed baseline", "passed ", "failed task", "canceled "}
		if err != nil || !slices.Equal(got, want) || !slices.Equal(asked, []string{"base", "base", "base", "fails"}) {
			t.Errorf("got %q, %v, want %q; asked of %q", got, err, want, asked)
		}
		if took := time.Since(began); took != 4*time.Second {
			t.Errorf("it took %s, want 4s", took)
		}
	})
}

// Transient failures make a target unavailable even if Settle finds that the tasks fail
// on base, too.
func TestSettledFailuresCountForTheTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tasks := sharing("s", "s", "s", "s")
		results, err := wrapper.Run(t.Context(), tasks, attempts("connection refused"), wrapper.RunOptions{
			Jobs: 1, FailFast: true, Backoff: soon, Targets: bearing(wrapper.Target{}),
			Settle: func(_ context.Context, _ plan.Task, r plan.Result) plan.Result {
				r.Class, r.Baseline = plan.ClassBaseline, &plan.Baseline{Finding: "it does"}
				return r
			},
		})
		if err != nil || results[2].Blocks() || results[3].Unavailable != "aws/s" {
			t.Errorf("got %+v, %v, want that the fourth is not run", results, err)
		}
	})
}
