package main

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

// errBudget is the cause of a context that ended with the time on base.
var errBudget = errors.New("the time for runs on base was up (max_baseline_seconds)")

// A subtraction takes the failures that are not this change's out of results.
type subtraction struct {
	job
	opts   wrapper.Options // of the run on head
	head   wrapper.Runner
	onBase func() (wrapper.Runner, error)
	flaky  func(plan.Task) bool // known to be so

	mu    sync.Mutex
	left  time.Duration                  // of the time for all that runs here
	found map[string]baseline.Comparison // by task, of those that fail on base the same way
	err   error
}

// A doubt is a failure that may not be the change's.
type doubt struct {
	task plan.Task
	head *plan.Result
	base *plan.Result // nil: it did not run there
}

// subtract begins the subtraction of a run.
func (j job) subtract(opts wrapper.Options, head wrapper.Runner, onBase func([]plan.Task) (wrapper.Runner, error)) *subtraction {
	s := &subtraction{
		job: j, opts: opts, head: head, flaky: j.flaky(), found: map[string]baseline.Comparison{}, left: j.settings.Baseline(),
		onBase: sync.OnceValues(func() (wrapper.Runner, error) { return onBase(j.plan.Tasks) }),
	}
	if j.noBaseline {
		s.left = 0
	}
	s.opts.FailFast, s.opts.Settle, s.opts.Observe = false, nil, nil
	return s
}

// one is for [wrapper.Options.Settle]: the task has its slot and its targets.
func (s *subtraction) one(ctx context.Context, task plan.Task, result plan.Result) plan.Result {
	opts, results := s.opts, []plan.Result{result}
	opts.Targets, opts.Lease = nil, nil
	s.from(ctx, io.Discard, opts, []plan.Task{task}, results)
	return results[0]
}

// all is for the end of a run. It returns what was found of the failures of base.
func (s *subtraction) all(ctx context.Context, note io.Writer, results []plan.Result) (map[string]baseline.Comparison, error) {
	if s.progress == progress.None {
		note = io.Discard
	}
	s.from(ctx, note, s.opts, s.plan.Tasks, results)
	return s.found, s.err
}

// from runs the tasks that failed again, over base alone, and marks those that
// fail there the same way: they are not this change's to mend. What is left of
// those that may pass gets last attempts on head. What is in doubt stays as it is.
func (s *subtraction) from(ctx context.Context, note io.Writer, opts wrapper.Options, tasks []plan.Task, results []plan.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := doubts(tasks, results)
	if len(all) == 0 || s.left <= 0 || s.err != nil || ctx.Err() != nil {
		return
	}
	limited, cancel := context.WithTimeoutCause(ctx, s.left, errBudget)
	defer cancel()
	defer func(began time.Time) { s.left -= time.Since(began) }(time.Now())
	err := s.base(limited, note, opts, all)
	if err == nil && limited.Err() == nil {
		err = s.last(limited, note, opts, all)
	}
	if !errors.Is(context.Cause(ctx), lease.ErrLost) { // otherwise only this task is to end
		err = errors.Join(err, ctx.Err())
	}
	s.err = err
}

// doubts are the failures that may not be the change's, and of which it was not
// found out yet.
func doubts(tasks []plan.Task, results []plan.Result) []*doubt {
	var all []*doubt
	for i, t := range tasks {
		if i < len(results) && baseline.Eligible(t, results[i]) && results[i].Baseline == nil {
			all = append(all, &doubt{task: t, head: &results[i]})
		}
	}
	return all
}

// base runs what base knows there.
func (s *subtraction) base(ctx context.Context, note io.Writer, opts wrapper.Options, all []*doubt) error {
	known, err := s.known(all)
	if len(known) == 0 || err != nil {
		return err
	}
	_, _ = fmt.Fprintf(note, "runner: %s; running %s on base, for at most %s\n", failures(len(known)), it(len(known)), s.left.Round(time.Second)) // only a note
	runner, err := s.onBase()
	if err != nil {
		return err
	}
	if opts.Logs, err = s.baseLogs(); err != nil {
		return err
	}
	var tasks []plan.Task
	for _, d := range known {
		tasks = append(tasks, onBaseAlone(d.task))
	}
	results, err := wrapper.Run(ctx, tasks, runner, opts)
	for i, d := range known {
		d.base = &results[i]
		s.judge(d, context.Cause(ctx))
	}
	return err
}

// judge compares both sides of a failure, and marks it.
func (s *subtraction) judge(d *doubt, ended error) {
	f := s.compare(d.task, *d.head, *d.base)
	if d.base.Status == plan.Canceled && ended != nil {
		f = baseline.Comparison{Text: "not comparable with base: " + ended.Error()}
	}
	d.head.Baseline = &plan.Baseline{Finding: f.Text, Seconds: d.base.Seconds, Log: d.base.Log}
	if f.Same {
		d.head.Class = plan.ClassBaseline
		s.found[d.task.ID] = f
	}
}

// How many attempts a task has at most when its failure is not of base.
const (
	ofRetried = 3 // it was tried again already, since an error of it may pass
	ofFlaky   = 5 // it is known to fail and to pass with the same inputs
)

// most is how many attempts a task may have.
func (s *subtraction) most(d *doubt) int {
	switch {
	case s.flaky(d.task):
		return ofFlaky
	case len(d.head.Before) > 0:
		return ofRetried
	}
	return 1
}

// last runs on head again what failed there for reasons that may pass, and not as
// on base. Such reasons come in bunches: by now all others have ended, and time has
// passed.
func (s *subtraction) last(ctx context.Context, note io.Writer, opts wrapper.Options, all []*doubt) error {
	most := map[*doubt]int{}
	for _, d := range all {
		most[d] = s.most(d)
	}
	for range ofFlaky { // also when one cannot start
		left := slices.DeleteFunc(slices.Clone(all), func(d *doubt) bool {
			return d.head.Attempts >= most[d] || !baseline.Eligible(d.task, *d.head)
		})
		if len(left) == 0 || ctx.Err() != nil {
			return nil
		}
		_, _ = fmt.Fprintf(note, "runner: %s for reasons that may pass; running %s once more\n", failures(len(left)), it(len(left))) // only a note
		if err := s.again(ctx, opts, left); err != nil {
			return err
		}
	}
	return nil
}

// again runs failures on head once more. Where that comes to an end it counts, and
// is compared with base as before.
func (s *subtraction) again(ctx context.Context, opts wrapper.Options, all []*doubt) error {
	var tasks []plan.Task
	opts.Before = map[string]plan.Result{}
	for _, d := range all {
		tasks = append(tasks, d.task)
		opts.Before[d.task.ID] = *d.head
	}
	opts.Observe = s.observe(func(wrapper.Event) {})
	results, err := wrapper.Run(ctx, tasks, s.head, opts)
	for i, d := range all {
		if r := results[i]; r.Status != plan.Passed && r.Status != plan.Failed && r.Status != plan.TimedOut {
			continue
		}
		*d.head = results[i]
		if d.base != nil && baseline.Eligible(d.task, *d.head) {
			s.judge(d, nil)
		}
	}
	return err
}
