package runner

import (
	"context"
	"slices"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/runner/baseline"
	"github.com/app-sre/prcheck/runner/recording"
	"github.com/app-sre/prcheck/wrapper"
)

// An audit runs units on both sides.
type audit struct {
	*run
	onHead, onBase *auditSide
}

// An auditSide starts units on one side. On both sides they start in the same way.
type auditSide struct {
	runner    wrapper.Runner
	logs      wrapper.LogFolder
	handedOut handouts
	announced *announcements
	reported  *reports
}

// newSide returns a side on which units see a bundle as head. The recording takes what they
// ask; nil takes nothing.
func (a *audit) newSide(head *bundle.Bundle, folder string, read *recording.Recording) (*auditSide, error) {
	s := &auditSide{announced: a.newAnnouncements(), reported: a.newReports()}
	env := a.environment()
	env.Head, env.HandOut, env.Effects, env.Findings = head, s.handedOut.note, s.announced.start, s.reported.start
	if head == a.Head {
		env.Place, env.Read = a.placeOnHead, a.read.note
	}
	if read != nil {
		env.Observe = read.StartAttempt
	}
	var err error
	if s.runner, err = env.Runner(a.Plan.Tasks); err != nil {
		return nil, err
	}
	s.logs, err = a.comparedLogs(folder)
	return s, err
}

// finish adds to a result what the last attempt announced and found.
func (s *auditSide) finish(t plan.Task, r *plan.Result) {
	s.announced.finish(t, r)
	s.reported.finish(t, r)
}

// A trial is a unit, with its runs on both sides so far.
type trial struct {
	unit       plan.Skipped
	task       plan.Task
	head, base []baseline.Run
}

// auditAll audits units in their order, as many at once as tasks may run. Each unit has its
// outcome before others begin, so that an audit that is cut short has audited as many as it
// can.
func (a *audit) auditAll(ctx context.Context, sample []plan.Skipped) []plan.Audited {
	var out []plan.Audited
	for batch := range slices.Chunk(sample, a.opts.Jobs) {
		var trials []*trial
		for _, s := range batch {
			if a.whyNotOnBase(s.Task) == "" {
				trials = append(trials, &trial{unit: s, task: withoutOmissions(s.Task)})
			}
		}
		a.runTrials(ctx, trials)
		for _, s := range batch {
			if why := a.whyNotOnBase(s.Task); why != "" {
				out = append(out, unclear(s, why))
				continue
			}
			out, trials = append(out, a.outcome(ctx, trials[0])), trials[1:]
		}
	}
	return out
}

// unclear is the outcome of a unit that nobody can judge.
func unclear(s plan.Skipped, why string) plan.Audited {
	return plan.Audited{Task: s.Task.ID, Integration: s.Task.Integration, Shard: s.Task.Label(), Rung: s.Rung,
		Outcome: plan.AuditUnclear, Finding: why}
}

// runTrials runs units on both sides: once, a second time where the sides differ, and then on
// base for as long as that may show that the difference is noise.
func (a *audit) runTrials(ctx context.Context, trials []*trial) {
	pair := func(trials []*trial) {
		a.runOn(ctx, a.onHead, trials, func(t *trial) *[]baseline.Run { return &t.head })
		left := slices.DeleteFunc(slices.Clone(trials), (*trial).hasPassed)
		a.runOn(ctx, a.onBase, left, func(t *trial) *[]baseline.Run { return &t.base })
	}
	pair(trials)
	differing := slices.DeleteFunc(slices.Clone(trials), func(t *trial) bool {
		return ctx.Err() != nil || t.hasPassed() || !t.differs()
	})
	pair(differing)
	for ctx.Err() == nil {
		differing = slices.DeleteFunc(differing, func(t *trial) bool {
			return len(t.base) >= baseline.MaxRuns || !t.mayBeNoise()
		})
		if len(differing) == 0 {
			return
		}
		a.runOn(ctx, a.onBase, differing, func(t *trial) *[]baseline.Run { return &t.base })
	}
}

// runOn runs units once more on one side.
func (a *audit) runOn(ctx context.Context, side *auditSide, trials []*trial, runs func(*trial) *[]baseline.Run) {
	if len(trials) == 0 || ctx.Err() != nil {
		return
	}
	shared := &sharedTargets{state: a.State}
	opts := wrapper.RunOptions{
		Jobs: a.opts.Jobs, Logs: side.logs, Masker: a.masker, Finish: side.finish, Memory: a.opts.MemoryLimit,
		Transient: a.transientErrors,
		Backoff:   a.opts.Backoff, Targets: a.targets, Lease: shared.lease(), Began: a.began,
		Before: map[string]plan.Result{},
	}
	var tasks []plan.Task
	for _, t := range trials {
		tasks = append(tasks, t.task)
		if before := *runs(t); len(before) > 0 {
			opts.Before[t.task.ID] = before[len(before)-1].Result
		}
	}
	results, err := wrapper.Run(ctx, tasks, side.runner, opts)
	for i, t := range trials {
		run := a.evidence(t.task, results[i], side.logs, side.handedOut.of(t.task.ID))
		if wroteNothing(t.task, results[i]) {
			run.LogErr = nil
		}
		if run.LogErr == nil {
			run.LogErr = err
		}
		*runs(t) = append(*runs(t), run)
	}
}

// wroteNothing reports whether a task has no log because it wrote nothing. If a log could not be
// kept, the reason of the result says so.
func wroteNothing(t plan.Task, r plan.Result) bool {
	return r.Log == "" && r.Tail == "" && (r.OK() && r.Reason == "" || baseline.IsComparable(t, r))
}

// outcome returns how a unit ended.
func (a *audit) outcome(ctx context.Context, t *trial) plan.Audited {
	out := plan.Audited{Task: t.task.ID, Integration: t.task.Integration, Shard: t.task.Label(), Rung: t.unit.Rung}
	for _, r := range slices.Concat(t.head, t.base) {
		out.Seconds += r.Result.Seconds
		if r.Result.Status == plan.Canceled && ctx.Err() != nil {
			t.head = nil
		}
	}
	if len(t.head) == 0 || len(t.base) == 0 && !t.hasPassed() || len(t.head) < 2 && t.differs() && ctx.Err() != nil {
		out.Outcome, out.Finding = plan.AuditLeft, "the time for the audit was up (--audit-budget)"
		return out
	}
	var finding string
	if out.Outcome, finding = t.judge(); len(t.base) > 0 {
		if why := a.whyNotAsOnBase(ctx, t.task); why != "" {
			out.Outcome, finding = plan.AuditUnclear, why
		}
	}
	if out.Outcome == plan.AuditRight {
		return out
	}
	out.Finding = a.masker.Text(finding)
	for _, r := range slices.Concat(t.head, t.base) {
		if r.Result.Log != "" {
			out.Logs = append(out.Logs, r.Result.Log)
		}
	}
	return out
}
