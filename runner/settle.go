package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/baseline"
	"github.com/app-sre/prcheck/runner/progress"
	"github.com/app-sre/prcheck/state/lease"
	"github.com/app-sre/prcheck/wrapper"
)

// errTimeUsedUp is the cause of a context that ended because the time for runs on base
// was used up.
var errTimeUsedUp = errors.New("the time for runs on base was up (max_baseline_seconds)")

// A settlement finds out which failures belong to the change. It runs failed tasks
// again: on base, and then on head if the error may disappear by itself. All these runs
// together may take as long as the setting max_baseline_seconds allows.
type settlement struct {
	*run
	opts    wrapper.Options // for further attempts, on either side
	onBase  func() (wrapper.Runner, error)
	isFlaky func(context.Context, plan.Task) bool
	notes   io.Writer

	mu         sync.Mutex
	timeLeft   time.Duration                  // that runs of this settlement may still take
	sameOnBase map[string]baseline.Comparison // failures that are the same on base, by task
	err        error                          // the first error; after it no task runs again
}

// A failure is a failed result that may not belong to the change.
type failure struct {
	task plan.Task
	head *plan.Result
	base *plan.Result // nil until the task ran on base
}

// newSettlement makes a settlement for a run on head with these options.
func (r *run) newSettlement(opts wrapper.Options) *settlement {
	s := &settlement{
		run: r, opts: opts, isFlaky: r.isFlaky(), notes: r.opts.Notes,
		timeLeft: r.Settings.Baseline(), sameOnBase: map[string]baseline.Comparison{},
		onBase: sync.OnceValues(func() (wrapper.Runner, error) { return r.environment().Runner(r.Plan.Tasks) }),
	}
	if r.opts.NoBaseline {
		s.timeLeft = 0
	}
	if r.opts.Progress.Mode == progress.None {
		s.notes = io.Discard
	}
	s.opts.FailFast, s.opts.Settle, s.opts.Observe = false, nil, nil
	return s
}

// settleOne settles the failure of one task while the other tasks still run. It is
// for [wrapper.Options.Settle]: the task holds its slot and its targets meanwhile.
func (s *settlement) settleOne(ctx context.Context, task plan.Task, result plan.Result) plan.Result {
	opts, results := s.opts, []plan.Result{result}
	opts.Targets, opts.Lease = nil, nil
	s.settle(ctx, io.Discard, opts, []plan.Task{task}, results)
	return results[0]
}

// settleAll settles all failures at the end of a run, in place. The results are in
// the order of the plan's tasks.
func (s *settlement) settleAll(ctx context.Context, results []plan.Result) error {
	s.settle(ctx, s.notes, s.opts, s.Plan.Tasks, results)
	return s.err
}

// settle settles the failures among results, in place. If time runs out, or after an
// error, the remaining failures stay as they are.
func (s *settlement) settle(ctx context.Context, notes io.Writer, opts wrapper.Options, tasks []plan.Task, results []plan.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	failures := unsettled(tasks, results)
	if len(failures) == 0 || s.timeLeft <= 0 || s.err != nil || ctx.Err() != nil {
		return
	}
	limited, cancel := context.WithTimeoutCause(ctx, s.timeLeft, errTimeUsedUp)
	defer cancel()
	defer func(began time.Time) { s.timeLeft -= time.Since(began) }(time.Now())
	err := s.rerunOnBase(limited, notes, opts, failures)
	if err == nil && limited.Err() == nil {
		err = s.retryOnHead(limited, notes, opts, failures)
	}
	if !errors.Is(context.Cause(ctx), lease.ErrLost) { // a lost lease ends only this task, not the run
		err = errors.Join(err, ctx.Err())
	}
	s.err = err
}

// unsettled returns the failures that may not belong to the change and that were not
// compared with base yet.
func unsettled(tasks []plan.Task, results []plan.Result) []*failure {
	var out []*failure
	for i, t := range tasks {
		if i < len(results) && baseline.IsComparable(t, results[i]) && results[i].Baseline == nil {
			out = append(out, &failure{task: t, head: &results[i]})
		}
	}
	return out
}

// rerunOnBase runs failed tasks on base and compares each failure with the run there.
// Tasks that base does not know are left out.
func (s *settlement) rerunOnBase(ctx context.Context, notes io.Writer, opts wrapper.Options, failures []*failure) error {
	failures, err := s.knownOnBase(failures)
	if len(failures) == 0 || err != nil {
		return err
	}
	say(notes, "%s; running %s on base, for at most %s", tasksFailed(len(failures)), pronoun(len(failures)), s.timeLeft.Round(time.Second))
	runner, err := s.onBase()
	if err != nil {
		return err
	}
	if opts.Logs, err = s.baseLogs(); err != nil {
		return err
	}
	var tasks []plan.Task
	for _, f := range failures {
		tasks = append(tasks, withoutOmissions(f.task))
	}
	results, err := wrapper.Run(ctx, tasks, runner, opts)
	for i, f := range failures {
		f.base = &results[i]
		s.compare(f, context.Cause(ctx))
	}
	return err
}

// compare compares a failure with the run on base and notes the outcome in its
// result. A failure that is the same on base gets the class baseline. The cause says
// why the run on base was canceled, if it was.
func (s *settlement) compare(f *failure, cause error) {
	c := s.compareLogs(f.task, *f.head, *f.base)
	if f.base.Status == plan.Canceled && cause != nil {
		c = baseline.Comparison{Finding: "not comparable with base: " + cause.Error()}
	}
	f.head.Baseline = &plan.Baseline{Finding: c.Finding, Seconds: f.base.Seconds, Log: f.base.Log}
	if c.Same {
		f.head.Class = plan.ClassBaseline
		s.sameOnBase[f.task.ID] = c
	}
}

// How many attempts on head a task gets before its failure counts.
const (
	maxAttemptsRetried = 3 // for a task whose first error may disappear, so that it had two attempts already
	maxAttemptsFlaky   = 5 // for a task that is known to fail and to pass with the same inputs
)

// maxAttempts returns how many attempts on head the task of a failure may have.
func (s *settlement) maxAttempts(ctx context.Context, f *failure) int {
	switch {
	case s.isFlaky(ctx, f.task):
		return maxAttemptsFlaky
	case len(f.head.Before) > 0:
		return maxAttemptsRetried
	}
	return 1
}

// retryOnHead gives further attempts on head to failures that may disappear and that are
// not the same on base. It is the last step of a run because such errors come in bursts:
// by now time has passed, and no other task uses the target.
func (s *settlement) retryOnHead(ctx context.Context, notes io.Writer, opts wrapper.Options, failures []*failure) error {
	limits := map[*failure]int{}
	for _, f := range failures {
		limits[f] = s.maxAttempts(ctx, f)
	}
	for range maxAttemptsFlaky { // ends the loop even if a task cannot start
		left := slices.DeleteFunc(slices.Clone(failures), func(f *failure) bool {
			return f.head.Attempts >= limits[f] || !baseline.IsComparable(f.task, *f.head)
		})
		if len(left) == 0 || ctx.Err() != nil {
			return nil
		}
		say(notes, "%s for reasons that may pass; running %s once more", tasksFailed(len(left)), pronoun(len(left)))
		if err := s.attemptOnHead(ctx, opts, left); err != nil {
			return err
		}
	}
	return nil
}

// attemptOnHead gives each failure one more attempt on head. An attempt that ran to
// its end replaces the result, and is compared with the run on base.
func (s *settlement) attemptOnHead(ctx context.Context, opts wrapper.Options, failures []*failure) error {
	var tasks []plan.Task
	opts.Before = map[string]plan.Result{}
	for _, f := range failures {
		tasks = append(tasks, f.task)
		opts.Before[f.task.ID] = *f.head
	}
	opts.Observe = s.journaled(func(wrapper.Event) {})
	results, err := wrapper.Run(ctx, tasks, s.head, opts)
	for i, f := range failures {
		if r := results[i]; r.Status != plan.Passed && r.Status != plan.Failed && r.Status != plan.TimedOut {
			continue
		}
		*f.head = results[i]
		if f.base != nil && baseline.IsComparable(f.task, *f.head) {
			s.compare(f, nil)
		}
	}
	return err
}

// say writes one line for people. An error of writing is ignored.
func say(notes io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(notes, "runner: "+format+"\n", args...)
}

func tasksFailed(n int) string {
	if n == 1 {
		return "1 task failed"
	}
	return fmt.Sprintf("%d tasks failed", n)
}

func pronoun(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}
