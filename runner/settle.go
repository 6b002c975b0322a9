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
	opts    wrapper.RunOptions // for further attempts, on either side
	onBase  func() (wrapper.Runner, error)
	alike   func() (wrapper.Runner, error) // runs tasks on head as they run on base, without recording queries
	isFlaky func(context.Context, plan.Task) bool
	notes   io.Writer

	mu         sync.Mutex
	timeLeft   time.Duration                  // that runs of this settlement may still take
	sameOnBase map[string]baseline.Comparison // failures that are the same on base, by task
	handedOut  handouts                       // in runs that are compared, but for the first on head
	reported   *reports                       // by natives on base
	err        error                          // the first error; after it no task runs again
}

// newSettlement makes a settlement for a run on head with these options.
func (r *run) newSettlement(opts wrapper.RunOptions) *settlement {
	s := &settlement{
		run: r, opts: opts, isFlaky: r.isFlaky(), notes: r.opts.Notes,
		timeLeft: r.Settings.Baseline(), sameOnBase: map[string]baseline.Comparison{}, reported: r.newReports(),
	}
	s.onBase = sync.OnceValues(func() (wrapper.Runner, error) {
		env := r.environment()
		env.HandOut, env.Findings = s.handedOut.note, s.reported.start
		return env.Runner(r.Plan.Tasks)
	})
	s.alike = sync.OnceValues(func() (wrapper.Runner, error) {
		env := r.environment()
		env.Head, env.Place, env.Read, env.HandOut = r.Head, r.placeOnHead, nil, s.handedOut.note
		return env.Runner(r.Plan.Tasks)
	})
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
// for [wrapper.RunOptions.Settle]: the task holds its slot and its targets meanwhile.
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
func (s *settlement) settle(ctx context.Context, notes io.Writer, opts wrapper.RunOptions, tasks []plan.Task,
	results []plan.Result) {
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
func (s *settlement) retryOnHead(ctx context.Context, notes io.Writer, opts wrapper.RunOptions,
	failures []*failure) error {
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
func (s *settlement) attemptOnHead(ctx context.Context, opts wrapper.RunOptions, failures []*failure) error {
	var tasks []plan.Task
	opts.Before = map[string]plan.Result{}
	for _, f := range failures {
		tasks = append(tasks, f.task)
		opts.Before[f.task.ID] = *f.head
	}
	opts.Observe = s.journaled(func(wrapper.Event) {})
	results, err := wrapper.Run(ctx, tasks, s.head, opts)
	var comparable []*failure
	for i, f := range failures {
		if r := results[i]; r.Status != plan.Passed && r.Status != plan.Failed && r.Status != plan.TimedOut {
			continue
		}
		*f.head = results[i]
		if len(f.base) > 0 && baseline.IsComparable(f.task, *f.head) {
			comparable = append(comparable, f)
		}
	}
	return errors.Join(err, s.compare(ctx, io.Discard, opts, comparable))
}

// say writes one line for people. An error of writing is ignored.
func say(notes io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(notes, "runner: "+format+"\n", args...)
}

func tasksFailed(n int) string { return countTasks(n) + " failed" }

func countTasks(n int) string {
	if n == 1 {
		return "1 task"
	}
	return fmt.Sprintf("%d tasks", n)
}

func pronoun(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// A failure is a failed result that may not belong to the change, with the further runs
// that tell. These runs are evidence only: none of them makes the result pass.
type failure struct {
	task  plan.Task
	head  *plan.Result
	base  []baseline.Run // the runs on base
	alike *baseline.Run  // the run on head that was started as on base; nil if the first was
}

// rerunOnBase runs failed tasks on base and compares each failure with the run there.
// Tasks that base does not know are left out.
func (s *settlement) rerunOnBase(ctx context.Context, notes io.Writer, opts wrapper.RunOptions,
	failures []*failure) error {
	failures, err := s.knownOnBase(failures)
	if len(failures) == 0 || err != nil {
		return err
	}
	say(notes, "%s; running %s on base, for at most %s", tasksFailed(len(failures)), pronoun(len(failures)),
		s.timeLeft.Round(time.Second))
	if err := s.runOnBase(ctx, opts, failures); err != nil {
		return err
	}
	return s.compare(ctx, notes, opts, failures)
}

// runOnBase runs failed tasks on base, once more if they ran there before.
func (s *settlement) runOnBase(ctx context.Context, opts wrapper.RunOptions, failures []*failure) error {
	runner, err := s.onBase()
	if err != nil {
		return err
	}
	logs, err := s.comparedLogs(baseFolder)
	if err != nil {
		return err
	}
	opts.Before, opts.Finish = map[string]plan.Result{}, s.reported.finish
	for _, f := range failures {
		if n := len(f.base); n > 0 {
			opts.Before[f.task.ID] = f.base[n-1].Result
		}
	}
	runs, err := s.runAgain(ctx, opts, logs, runner, failures)
	for i, f := range failures {
		f.base = append(f.base, runs[i])
	}
	return err
}

// runAlike runs failed tasks on head as they run on base: without early exit.
func (s *settlement) runAlike(ctx context.Context, opts wrapper.RunOptions, failures []*failure) error {
	if len(failures) == 0 {
		return nil
	}
	runner, err := s.alike()
	if err != nil {
		return err
	}
	logs, err := s.comparedLogs(alikeFolder)
	if err != nil {
		return err
	}
	opts.Before, opts.Finish = nil, nil
	runs, err := s.runAgain(ctx, opts, logs, runner, failures)
	for i, f := range failures {
		f.alike = &runs[i]
	}
	return err
}

// runAgain runs failed tasks without the conditions under which they may leave out work.
func (s *settlement) runAgain(ctx context.Context, opts wrapper.RunOptions, logs wrapper.LogFolder,
	runner wrapper.Runner, failures []*failure) ([]baseline.Run, error) {
	var tasks []plan.Task
	for _, f := range failures {
		tasks = append(tasks, withoutOmissions(f.task))
	}
	opts.Logs, opts.Observe = logs, nil
	results, err := wrapper.Run(ctx, tasks, runner, opts)
	var out []baseline.Run
	for i, t := range tasks {
		out = append(out, s.evidence(t, results[i], logs, s.handedOut.of(t.ID)))
	}
	return out, err
}

// compare compares failures with their runs on base and notes the outcome in the results.
// As long as differences may be noise and time is left, it runs the tasks on base again.
func (s *settlement) compare(ctx context.Context, notes io.Writer, opts wrapper.RunOptions, failures []*failure) error {
	var unlike []*failure
	for _, f := range failures {
		if f.alike = nil; s.needsRunAlike(f) {
			unlike = append(unlike, f)
		}
	}
	err := s.runAlike(ctx, opts, unlike)
	for len(failures) > 0 {
		var unclear []*failure
		for _, f := range failures {
			c := withFindings(s.compareOnce(f), f)
			if why := s.whyNotAsOnBase(ctx, f.task); c.Same && why != "" {
				c = baseline.Comparison{Finding: "not comparable with base: " + why}
			}
			if s.note(f, c, context.Cause(ctx)) {
				unclear = append(unclear, f)
			}
		}
		if len(unclear) == 0 || ctx.Err() != nil || err != nil {
			break
		}
		say(notes, "%s almost as on base; running %s there once more to see what differs each time",
			tasksFailed(len(unclear)), pronoun(len(unclear)))
		err = s.runOnBase(ctx, opts, unclear)
		failures = unclear
	}
	return err
}

// needsRunAlike reports whether the first run on head cannot be compared with base, because
// it was started in another way or by an earlier process, and whether it is worthwhile to
// run the task on head again.
func (s *settlement) needsRunAlike(f *failure) bool {
	base := f.base[0].Result
	isHopeless := !baseline.IsComparable(f.task, base) || base.ExitCode != f.head.ExitCode
	return !isHopeless && (hasOmissions(f.task) || len(f.head.Spans) == 0)
}

// compareOnce compares a failure with the runs on base that there are.
func (s *settlement) compareOnce(f *failure) baseline.Comparison {
	if f.alike == nil {
		logs := wrapper.LogFolder{Dir: s.run.opts.Logs}
		return baseline.Compare(f.task, s.evidence(f.task, *f.head, logs, s.run.handedOut.of(f.task.ID)), f.base...)
	}
	again := f.alike.Result
	if !baseline.IsComparable(f.task, again) || again.ExitCode != f.head.ExitCode {
		why := again.Reason
		if again.OK() {
			why = "it passes"
		}
		return baseline.Comparison{Finding: "not comparable with base: started as on base, it ends in another way on head: " +
			why}
	}
	return baseline.Compare(f.task, *f.alike, f.base...)
}

// note notes the outcome of a comparison in the result. A failure that is the same on base
// gets the class baseline. The cause says why the last run was canceled, if it was. Note
// returns whether another run on base may say more.
func (s *settlement) note(f *failure, c baseline.Comparison, cause error) (unclear bool) {
	last := f.base[len(f.base)-1].Result
	isCanceled := last.Status == plan.Canceled || f.alike != nil && f.alike.Result.Status == plan.Canceled
	if isCanceled && cause != nil {
		c = baseline.Comparison{Finding: "not comparable with base: " + cause.Error()}
	}
	found := &plan.Baseline{Finding: c.Finding, Seconds: last.Seconds, Log: f.base[0].Result.Log, Lines: c.Lines,
		LeftOut: c.LeftOut}
	if f.alike != nil {
		found.Seconds += f.alike.Result.Seconds
		found.MoreLogs = append(found.MoreLogs, f.alike.Result.Log)
	}
	for _, b := range f.base[1:] {
		found.MoreLogs = append(found.MoreLogs, b.Result.Log)
	}
	found.MoreLogs = slices.DeleteFunc(found.MoreLogs, func(name string) bool { return name == "" })
	f.head.Baseline = found
	if c.Same {
		f.head.Class = plan.ClassBaseline
		s.sameOnBase[f.task.ID] = c
	}
	return c.Unclear && !isCanceled
}
