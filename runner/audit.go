package runner

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/runner/baseline"
	"github.com/app-sre/prcheck/runner/effects"
	"github.com/app-sre/prcheck/runner/recording"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/audits"
	"github.com/app-sre/prcheck/wrapper"
)

// AuditOptions say what an audit runs.
type AuditOptions struct {
	Skipped []plan.Skipped // all units that the plan leaves out
	Rate    float64        // how probable it is for a unit to be in the sample
	Seed    string         // another seed draws another sample
	Budget  time.Duration  // for all runs together
	// Remedy returns the smallest change of a setting or definition with which the plan would
	// run a unit, "" if none is known. Observed tells what the unit read on head. Nil knows none.
	Remedy func(ctx context.Context, unit plan.Skipped, observed plan.Observed) string
}

// A year is for how long audits are counted.
const year = 365 * 24 * time.Hour

// Audit runs a sample of the units that a plan leaves out, on head and on base, and compares
// what both say. The sample depends on the plan and the seed alone; of a plan that runs in
// parts, each part audits its share. A difference counts after a second pair of runs has
// confirmed it. What has not run when the budget is used up is left.
//
// An audit changes no verdict. Its outcome is added to the state, if there is one. An error
// means that nothing was audited; the audit is nil then, unless it only could not be remembered.
func Audit(ctx context.Context, in Input, opts Options, a AuditOptions) (*plan.Audit, error) {
	share := partOf(a.Skipped, opts.Part)
	out := &plan.Audit{Rate: a.Rate, Seed: a.Seed, Skipped: len(share), Units: []plan.Audited{}}
	sample := Sample(share, in.Plan.Digest, a.Seed, a.Rate)
	if len(sample) > 0 {
		r, err := newAudit(in, opts, sample)
		if err != nil {
			return nil, err
		}
		limited, cancel := context.WithTimeout(ctx, a.Budget)
		defer cancel()
		out.Units = r.auditAll(limited, sample)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.addRemedies(ctx, a, sample, out.Units)
	}
	if in.State == nil {
		return out, nil
	}
	ctx, cancel := state.WithGrace(ctx)
	defer cancel()
	now, store := time.Now(), audits.NewStore(in.State)
	remember := func() (audits.AuditSnapshot, error) { return store.Add(ctx, out, now) }
	if len(out.Units) == 0 {
		remember = func() (audits.AuditSnapshot, error) { return store.Snapshot(ctx) }
	}
	known, err := remember()
	if errors.Is(err, state.ErrReadOnly) { // that was reported when the state was opened
		return out, nil
	}
	out.Total = known.Total(now.Add(-year))
	return out, err
}

// partOf returns the units that belong to a part of the plan.
func partOf(all []plan.Skipped, part plan.Fraction) []plan.Skipped {
	var tasks []plan.Task
	for _, s := range all {
		tasks = append(tasks, s.Task)
	}
	mine := map[string]bool{}
	for _, t := range part.Tasks(tasks) {
		mine[t.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(s plan.Skipped) bool { return !mine[s.Task.ID] })
}

// Sample draws units, each with the same probability and independent of the others. The same
// plan and seed draw the same units, in the same random order.
func Sample(all []plan.Skipped, digest, seed string, rate float64) []plan.Skipped {
	drawn := func(s plan.Skipped) [sha256.Size]byte {
		return sha256.Sum256(fmt.Appendf(nil, "%q %q %q", seed, digest, s.Task.ID))
	}
	out := slices.DeleteFunc(slices.Clone(all), func(s plan.Skipped) bool {
		sum := drawn(s)
		return float64(binary.BigEndian.Uint64(sum[:8]))/math.MaxUint64 >= rate && rate < 1
	})
	slices.SortStableFunc(out, func(a, b plan.Skipped) int {
		x, y := drawn(a), drawn(b)
		return bytes.Compare(x[:], y[:])
	})
	return out
}

// newAudit prepares a run of the units of a sample, with a recording of its own.
func newAudit(in Input, opts Options, sample []plan.Skipped) (*audit, error) {
	only := *in.Plan
	only.Tasks = nil
	for _, s := range sample {
		only.Tasks = append(only.Tasks, withoutOmissions(s.Task))
	}
	in.Plan = &only
	if err := checkLogNames(in.Plan); err != nil {
		return nil, cli.Invalid(err)
	}
	opts = opts.withDefaults()
	opts.Part, opts.Journal, opts.Resume, opts.FailFast = plan.Fraction{}, nil, false, false
	r, err := newRun(in.withDefaults(), opts)
	if err != nil {
		return nil, err
	}
	r.began = time.Now()
	a := &audit{run: r}
	read := recording.New(bundle.Apart(in.Base, in.Head).SHA256(), in.Head.SHA256())
	read.Mask = r.masker.Text
	r.recording = read
	if a.onHead, err = a.newSide(r.Head, "audit-head", read); err == nil {
		a.onBase, err = a.newSide(r.Base, "audit-base", nil)
	}
	return a, err
}

// addRemedies names for each wrong skip how it would have been avoided.
func (a *audit) addRemedies(ctx context.Context, opts AuditOptions, sample []plan.Skipped, units []plan.Audited) {
	definitions, err := integration.List(a.Base, a.Settings)
	if opts.Remedy == nil || err != nil {
		return
	}
	observed := a.recording.Observed(a.Plan.Tasks, definitions)
	for i := range units {
		if u := &units[i]; u.Outcome == plan.AuditWrong {
			j := slices.IndexFunc(observed, func(o plan.Observed) bool { return o.Integration == u.Integration })
			read := plan.Observed{Integration: u.Integration}
			if j >= 0 {
				read = observed[j]
			}
			u.Remedy = a.masker.Text(opts.Remedy(ctx, sample[i], read))
		}
	}
}

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

// hasPassed reports whether nothing more than a run that passed is asked of a unit, and all its
// runs on head so far have.
func (t *trial) hasPassed() bool {
	hasFailed := func(r baseline.Run) bool { return !r.Result.OK() }
	return t.unit.Passed && len(t.head) > 0 && !slices.ContainsFunc(t.head, hasFailed)
}

// differs reports whether the first runs of both sides say something else, as far as one pair
// tells.
func (t *trial) differs() bool {
	c := t.compare(0)
	return c.IsClear() && !c.Same
}

// mayBeNoise reports whether another run on base may show that the sides say the same.
func (t *trial) mayBeNoise() bool {
	for i := range t.head {
		if t.compare(i).Unclear {
			return true
		}
	}
	return false
}

// judge returns the outcome of a unit that ran, and what was found. A skip is wrong if both
// runs on head differ from all runs on base in the same clear way.
func (t *trial) judge() (plan.AuditOutcome, string) {
	if t.hasPassed() {
		return plan.AuditRight, ""
	}
	first := t.compare(0)
	same := first.Same
	for i := range t.head {
		c := t.compare(i)
		switch {
		case !c.IsClear():
			return plan.AuditUnclear, c.Finding
		case c.Same != same:
			return plan.AuditUnclear, "it differs from base in one of two runs: " + first.Finding
		}
	}
	switch {
	case same:
		return plan.AuditRight, ""
	case len(t.head) < 2: // nobody confirmed it
		return plan.AuditUnclear, first.Finding
	case first.Unclear:
		return plan.AuditUnclear, "it may be noise: " + first.Finding
	}
	if t.head[0].Result.OK() != t.head[1].Result.OK() {
		return plan.AuditUnclear, "two runs on head end in different ways"
	}
	return plan.AuditWrong, first.Finding
}

// compare compares a run on head with all runs on base: what they say, what they announce and
// what they find.
func (t *trial) compare(i int) baseline.Comparison {
	if t.unit.Passed && t.head[i].Result.OK() {
		return baseline.Comparison{Same: true}
	}
	c := baseline.CompareUnaffected(t.task, t.head[i], t.base...)
	if !c.Same {
		return c
	}
	if t.unit.Passed {
		return baseline.Unclear("it no longer passes, on base neither: " + t.head[i].Result.Reason)
	}
	for _, b := range t.base[1:] {
		if otherReport(b.Result, t.base[0].Result) != "" { // then it says nothing that head has another one
			return c
		}
	}
	if other := otherReport(t.head[i].Result, t.base[0].Result); other != "" {
		return baseline.Comparison{Finding: other}
	}
	return c
}

// otherReport returns how the effects and findings of two runs differ, "" if they do not.
// Effects that are not known do not differ.
func otherReport(head, base plan.Result) string {
	if head.Effects != nil && base.Effects != nil {
		for _, e := range effects.Compare(head.Effects, base.Effects).Items {
			switch e.Since {
			case plan.SinceChange:
				return fmt.Sprintf("it would %s %q, and not on base", e.Kind, e.Subject)
			case plan.SinceGone:
				return fmt.Sprintf("on base it would %s %q", e.Kind, e.Subject)
			case plan.SinceBase:
			}
		}
	}
	onBase := map[plan.Finding]int{}
	for _, f := range base.Findings {
		onBase[identity(f)]++
	}
	for _, f := range head.Findings {
		if onBase[identity(f)]--; onBase[identity(f)] < 0 {
			return fmt.Sprintf("it finds %q, and not on base", f.Message)
		}
	}
	for _, f := range base.Findings {
		if onBase[identity(f)] > 0 {
			return fmt.Sprintf("on base it finds %q", f.Message)
		}
	}
	return ""
}
