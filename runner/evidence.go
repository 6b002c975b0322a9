package runner

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/baseline"
	"github.com/app-sre/prcheck/wrapper"
)

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
