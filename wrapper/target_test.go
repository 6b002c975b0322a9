package wrapper_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/wrapper"
)

// sharing returns tasks on shards. Each uses the target of its shard.
func sharing(shards ...string) []plan.Task {
	var out []plan.Task
	for i, shard := range shards {
		t := task(fmt.Sprint(i, "-", shard))
		t.Shard = shard
		out = append(out, t)
	}
	return out
}

// bearing returns the targets of a task: one per shard, with the given limits, and
// none for the shard "".
func bearing(t wrapper.Target) func(plan.Task) []wrapper.Target {
	return func(task plan.Task) []wrapper.Target {
		if task.Shard == "" {
			return nil
		}
		one := t
		one.Name = "aws/" + task.Shard
		return []wrapper.Target{one, one} // naming it twice does no harm
	}
}

// A use counts the tasks that use each target.
type use struct {
	mu     sync.Mutex
	now    map[string]int
	most   map[string]int
	starts map[string][]time.Duration
	began  time.Time
}

func newUse() *use {
	return &use{now: map[string]int{}, most: map[string]int{}, starts: map[string][]time.Duration{}, began: time.Now()}
}

func (u *use) enter(shard string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.now[shard]++
	u.most[shard] = max(u.most[shard], u.now[shard])
	u.starts[shard] = append(u.starts[shard], time.Since(u.began))
}

func (u *use) leave(shard string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.now[shard]--
}

// taking returns a Runner of tasks that take the given time.
func (u *use) taking(d time.Duration) runnerFunc {
	return func(ctx context.Context, task plan.Task, _ io.Writer) error {
		u.enter(task.Shard)
		defer u.leave(task.Shard)
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
		return ctx.Err()
	}
}

// A task that waits for a target holds no slot. A target never has more tasks than its
// maximum.
func TestTargetsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUse()
		tasks := sharing("a", "a", "a", "a", "a", "b", "b", "", "", "")
		var waits []string
		results, err := wrapper.Run(t.Context(), tasks, u.taking(time.Minute), wrapper.RunOptions{
			Jobs: 4, Targets: bearing(wrapper.Target{Max: 1}),
			Observe: func(e wrapper.Event) {
				if e.WaitsFor != "" {
					waits = append(waits, e.Task.ID+" for "+e.WaitsFor)
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]time.Duration{
			"a": {0, time.Minute, 2 * time.Minute, 3 * time.Minute, 4 * time.Minute},
			"b": {0, time.Minute}, "": {0, 0, time.Minute},
		}
		if !reflect.DeepEqual(u.starts, want) || u.most["a"] != 1 || u.most["b"] != 1 {
			t.Errorf("started at %v, at most %v at once", u.starts, u.most)
		}
		if got := results[4].Waited; got != 240 {
			t.Errorf("the last one waited for %gs, want 240", got)
		}
		if got := strings.Join(waits,
			", "); got != "1-a for aws/a, 2-a for aws/a, 3-a for aws/a, 4-a for aws/a, 6-b for aws/b" {
			t.Errorf("waits: %s", got)
		}
	})
}

// TargetWait counts the time for which a task waits for a target while a slot is free.
// It also counts waiting for other processes, and waiting before later attempts.
func TestTargetWait(t *testing.T) {
	late := func(ctx context.Context, _ []wrapper.Target, do func(context.Context)) {
		time.Sleep(time.Minute)
		do(ctx)
	}
	for name, test := range map[string]struct {
		lease          wrapper.Lease
		waited, target float64 // of the last task
	}{
		"here":      {nil, 120, 60},
		"elsewhere": {late, 240, 180},
	} {
		synctest.Test(t, func(t *testing.T) {
			tasks := sharing("", "", "a", "a")
			before := plan.Result{Task: tasks[3].ID, Status: plan.Failed, Attempts: 2, Waited: 7, TargetWait: 5}
			results, err := wrapper.Run(t.Context(), tasks, newUse().taking(time.Minute), wrapper.RunOptions{
				Jobs: 2, Targets: bearing(wrapper.Target{Max: 1}), Lease: test.lease,
				Before: map[string]plan.Result{before.Task: before},
			})
			if err != nil {
				t.Fatal(err)
			}
			if r := results[0]; r.Waited != 0 || r.TargetWait != 0 {
				t.Errorf("%s: without a target got %+v", name, r)
			}
			if r := results[3]; r.Waited != test.waited+7 || r.TargetWait != test.target+5 {
				t.Errorf("%s: got %g and %g, want %g and %g", name, r.Waited, r.TargetWait, test.waited+7, test.target+5)
			}
		})
	}
}

// No period has more starts than the rate allows. Tasks of other targets go on.
func TestTargetsHaveARate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUse()
		tasks := sharing("a", "a", "a", "a", "a", "", "")
		_, err := wrapper.Run(t.Context(), tasks, u.taking(10*time.Second), wrapper.RunOptions{
			Jobs: 3, Targets: bearing(wrapper.Target{Rate: 2, Per: time.Minute}),
		})
		s := time.Second
		want := map[string][]time.Duration{"a": {0, 0, 60 * s, 60 * s, 120 * s}, "": {0, 10 * s}}
		if err != nil || !reflect.DeepEqual(u.starts, want) {
			t.Errorf("started at %v, %v", u.starts, err)
		}
	})
}

// A run that is canceled, or that stops at the first failure, waits for no target.
func TestTargetsAndTheEnd(t *testing.T) {
	for name, fast := range map[string]bool{"interrupted": false, "fail fast": true} {
		for _, lease := range []wrapper.Lease{nil, never} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				run := runnerFunc(func(ctx context.Context, task plan.Task, _ io.Writer) error {
					if fast {
						return errors.New("no")
					}
					<-ctx.Done()
					return nil
				})
				began := time.Now()
				results, err := wrapper.Run(ctx, sharing("", "a", "a", "a"), run, wrapper.RunOptions{
					Jobs: 2, FailFast: fast, Targets: bearing(wrapper.Target{Max: 1, Rate: 1, Per: time.Hour}), Lease: lease,
				})
				if err != nil || fast && time.Since(began) > 0 || time.Since(began) > time.Minute {
					t.Errorf("%s: it took %v, %v", name, time.Since(began), err)
				}
				for i, r := range results {
					if r.Status != plan.Canceled && !(fast && r.Status == plan.Failed) || i > 1 && r.Attempts > 0 {
						t.Errorf("%s: %+v", name, r)
					}
				}
			})
		}
	}
}

// never is a lease that is never granted.
func never(ctx context.Context, _ []wrapper.Target, _ func(context.Context)) { <-ctx.Done() }

// A task that waits for a lease does not delay tasks of other targets. For each target
// only one task waits for a lease at a time.
func TestLeasesAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUse()
		var mu sync.Mutex
		asking, most := map[string]int{}, 0
		count := func(name string, by int) {
			mu.Lock()
			defer mu.Unlock()
			asking[name] += by
			most = max(most, asking[name])
		}
		lease := func(ctx context.Context, all []wrapper.Target, do func(context.Context)) {
			count(all[0].Name, 1)
			time.Sleep(5 * time.Minute)
			if all[0].Name == "aws/b" {
				time.Sleep(time.Second) // so that it is clear who is first
			}
			count(all[0].Name, -1)
			do(ctx)
		}
		results, err := wrapper.Run(t.Context(), sharing("a", "a", "a", "b", "", ""), u.taking(time.Minute),
			wrapper.RunOptions{
				Jobs: 1, Targets: bearing(wrapper.Target{Max: 2}), Lease: lease,
			})
		if err != nil || most != 1 {
			t.Fatalf("%d ask at once, %v", most, err)
		}
		m := time.Minute
		want := map[string][]time.Duration{"": {0, m}, "a": {5 * m, 12 * m, 18 * m}, "b": {6 * m}}
		if !reflect.DeepEqual(u.starts, want) {
			t.Errorf("started at %v", u.starts)
		}
		for _, r := range results {
			if !r.OK() {
				t.Errorf("%+v", r)
			}
		}
	})
}

// A task that loses its lease while it runs is canceled and gets no second attempt. A
// task that loses its lease before it runs asks again. If there is no way to lease, the
// limits of this process hold.
func TestLeasesAreLost(t *testing.T) {
	lost := errors.New("the lease is lost")
	for _, c := range []struct {
		name  string
		lease wrapper.Lease
		want  plan.Result
	}{
		{"while it ran", func(ctx context.Context, _ []wrapper.Target, do func(context.Context)) {
			ctx, lose := context.WithCancelCause(ctx)
			time.AfterFunc(30*time.Second, func() { lose(lost) })
			do(ctx)
		}, plan.Result{Task: "0-a", Status: plan.Canceled, Class: plan.ClassTransient, Reason: "canceled: the lease is lost",
			ExitCode: -1, Attempts: 1, Seconds: 30}},
		{"before", func() wrapper.Lease {
			times := 0
			return func(ctx context.Context, _ []wrapper.Target, do func(context.Context)) {
				ctx, lose := context.WithCancelCause(ctx)
				defer lose(nil)
				if times++; times < 3 {
					lose(lost)
				}
				do(ctx)
			}
		}(), plan.Result{Task: "0-a", Status: plan.Passed, Attempts: 1, Seconds: 60}},
		{"no state", func(context.Context, []wrapper.Target, func(context.Context)) {},
			plan.Result{Task: "0-a", Status: plan.Passed, Attempts: 1, Seconds: 60}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				run := runnerFunc(func(ctx context.Context, _ plan.Task, _ io.Writer) error {
					select {
					case <-time.After(time.Minute):
					case <-ctx.Done():
					}
					return nil // even if it takes no notice
				})
				results, err := wrapper.Run(t.Context(), sharing("a"), run, wrapper.RunOptions{
					Targets: bearing(wrapper.Target{Max: 1}), Lease: c.lease,
				})
				got := results[0]
				got.Spans = nil
				if err != nil || !reflect.DeepEqual(got, c.want) {
					t.Errorf("got  %+v, %v\nwant %+v", got, err, c.want)
				}
			})
		})
	}
}

// A target at which three tasks in a row fail for transient reasons is unavailable.
func TestUnavailableTarget(t *testing.T) {
	for _, c := range []struct {
		name string
		ends string // of the tasks: p(assed), f(ailed), t(ransient), o(ut of time)
		want string // of the results: the same, and u(navailable)
	}{
		{"all fails", "tttttt", "tttuuu"},
		{"out of time", "oooooo", "ooouuu"},
		{"mixed", "totp", "totu"},
		{"not in a row", "ttpttp", "ttpttp"},
		{"another failure tells that it is there", "ttftttp", "ttftttu"},
		{"late", "pppttttt", "pppttt" + "uu"},
		{"the data is wrong", "ffffff", "ffffff"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tasks := sharing(strings.Split(strings.Repeat("a", len(c.ends)), "")...)
				tasks = append(tasks, sharing("b")...)
				ends := map[string]byte{}
				for i, task := range tasks[:len(c.ends)] {
					ends[task.ID] = c.ends[i]
				}
				tasks[len(c.ends)].ID = "other"
				run := runnerFunc(func(ctx context.Context, task plan.Task, _ io.Writer) error {
					switch ends[task.ID] {
					case 'f':
						return errors.New("the data is wrong")
					case 't':
						return errors.New("connection refused")
					case 'o':
						<-ctx.Done()
					}
					return nil
				})
				results, err := wrapper.Run(t.Context(), tasks, run,
					wrapper.RunOptions{Jobs: 2, Targets: bearing(wrapper.Target{Max: 1})})
				if err != nil {
					t.Fatal(err)
				}
				got := ""
				for _, r := range results[:len(c.ends)] {
					got += letter(r)
				}
				if got != c.want || !results[len(c.ends)].OK() {
					t.Errorf("got %q, want %q; other: %+v", got, c.want, results[len(c.ends)])
				}
				if err := plan.WriteResults(io.Discard, &plan.Results{Plan: "x", Results: results}); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func letter(r plan.Result) string {
	switch {
	case r.Unavailable == "aws/a" && r.Status == plan.NotRun && r.Class == plan.ClassTransient && r.Blocks() &&
		r.Reason == "target unavailable: aws/a: 3 tasks in a row failed there for reasons that may pass":
		return "u"
	case r.Status == plan.TimedOut:
		return "o"
	case r.Class == plan.ClassTransient:
		return "t"
	case r.Status == plan.Failed:
		return "f"
	}
	return string(r.Status[:1])
}

// For random tasks and targets: all tasks end, no target has more tasks than its
// maximum, and each task holds a lease while it runs.
func TestTargetsHoldAlways(t *testing.T) {
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			limit := wrapper.Target{Max: 1 + r.IntN(3)}
			var tasks []plan.Task
			took := map[string]time.Duration{}
			uses := map[string][]wrapper.Target{}
			for i := range 30 {
				one := task(fmt.Sprint(i))
				one.Order, one.Memory = r.IntN(2), int64(r.IntN(4))
				took[one.ID] = time.Duration(r.IntN(300)) * time.Second
				for _, name := range []string{"a", "b", "c"}[:r.IntN(4)] {
					uses[one.ID] = append(uses[one.ID], wrapper.Target{Name: name, Max: limit.Max})
				}
				tasks = append(tasks, one)
			}
			leases := &pool{now: map[string]int{}}
			u := newUse()
			run := runnerFunc(func(ctx context.Context, task plan.Task, log io.Writer) error {
				for _, use := range uses[task.ID] {
					u.enter(use.Name)
					defer u.leave(use.Name)
				}
				select {
				case <-time.After(took[task.ID]):
				case <-ctx.Done():
				}
				return nil
			})
			opts := wrapper.RunOptions{Jobs: 1 + r.IntN(4), Memory: 5, Targets: func(task plan.Task) []wrapper.Target {
				return uses[task.ID]
			}}
			if seed%2 == 0 {
				opts.Lease = leases.hold
			}
			results, err := wrapper.Run(t.Context(), tasks, run, opts)
			for _, result := range results {
				if !result.OK() {
					t.Errorf("seed %d: %+v", seed, result)
				}
			}
			for name, most := range u.most {
				if most > limit.Max || leases.now[name] != 0 {
					t.Errorf("seed %d: %d at %s at once, want at most %d; %d leases are left", seed, most, name, limit.Max,
						leases.now[name])
				}
			}
			if err != nil || leases.wrong {
				t.Errorf("seed %d: %v, more leases than there is room for: %v", seed, err, leases.wrong)
			}
		})
	}
}

// A pool grants one lease per target at a time. Some leases are lost before they are
// used.
type pool struct {
	mu    sync.Mutex
	now   map[string]int
	asked int
	wrong bool
}

func (p *pool) hold(ctx context.Context, targets []wrapper.Target, do func(context.Context)) {
	for !p.take(targets, 1) {
		time.Sleep(time.Second)
	}
	defer p.take(targets, -1)
	ctx, lose := context.WithCancel(ctx)
	defer lose()
	p.mu.Lock()
	if p.asked++; p.asked%5 == 0 {
		lose()
	}
	p.mu.Unlock()
	do(ctx)
}

func (p *pool) take(targets []wrapper.Target, by int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range targets {
		if by > 0 && p.now[t.Name] > 0 {
			return false
		}
	}
	for _, t := range targets {
		p.now[t.Name] += by
		p.wrong = p.wrong || p.now[t.Name] > 1
	}
	return true
}
