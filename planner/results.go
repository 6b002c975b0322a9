package planner

import (
	"context"
	"time"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/schemafilter"
	"github.com/app-sre/prcheck/settings"
)

// maxPassed bounds how many tasks evidence names.
const maxPassed = 20

// maxEffects bounds the effects in the evidence about an integration, in bytes of their
// subjects. Tasks with more effects run again, so that a plan does not grow without end.
const maxEffects = 256 << 10

// A resultFinder finds tasks that passed before with the same inputs.
type resultFinder struct {
	settings *settings.Settings
	results  Results // nil: none are remembered
	distrust Distrust
	tasks    *taskBuilder
	inputs   *inputDigester
}

// reuse divides the tasks of an integration by their earlier runs.
type reuse struct {
	left   []unit         // tasks that must run
	passed []plan.Earlier // tasks that passed before with the same inputs
}

// find fills in the inputs of an integration's tasks, and finds the tasks that
// passed with the same inputs not long ago.
func (f *resultFinder) find(ctx context.Context, o schemafilter.Outcome, s affected.Subject, units []unit) reuse {
	var out reuse
	if len(units) == 0 {
		return out // nothing is evaluated for an integration that is skipped
	}
	size := 0
	digest := f.inputs.of(ctx, o, s)
	for _, u := range units {
		u.task.Inputs = digest(u.task)
		earlier, ok := f.passed(ctx, o, u.task)
		if n := sizeOf(earlier.Effects); ok && size+n <= maxEffects {
			size += n
			out.passed = append(out.passed, earlier)
			continue
		}
		out.left = append(out.left, u)
	}
	return out
}

// sizeOf returns the bytes of the subjects of effects.
func sizeOf(e *plan.Effects) int {
	if e == nil {
		return 0
	}
	n := 0
	for _, item := range e.Items {
		n += len(item.Subject)
	}
	return n
}

// passed tells whether a task need not run, since it passed with the same inputs.
// These tasks always run: tasks of always_run, tasks that cannot be started, and
// tasks that may do something else with the same inputs, and tasks of an integration about
// which a rung is not believed. A task may do something else when head
// edits its rules, when its command is not known entirely, or when it is native,
// since there are many versions of this program. A task for whose effects somebody looks
// runs again unless they are remembered.
func (f *resultFinder) passed(ctx context.Context, o schemafilter.Outcome, t plan.Task) (plan.Earlier, bool) {
	within := f.settings.For(o.Name).Reuse
	always := o.Use.Check == nil || o.Use.Check.AlwaysRun
	if f.results == nil || within <= 0 || always || t.Native || t.NewCommand || t.Blocked != "" ||
		len(distrusted(f.distrust, o.Name)) > 0 ||
		len(f.tasks.editedRules(o)) > 0 || f.tasks.unknownCommand(t).Code != "" {
		return plan.Earlier{}, false
	}
	began, ok := f.results.Passed(ctx, t, within)
	earlier := plan.Earlier{Shard: t.Label(), Inputs: t.Inputs, Began: began}
	if rules := f.settings.For(o.Name).EffectsDigest(); ok && rules != "" {
		earlier.Effects, earlier.Began = f.results.LastEffects(ctx, t, within, rules)
		ok = earlier.Effects != nil
	}
	return earlier, ok
}

// conclude returns the conclusion of the rung result after the rungs below.
func (r reuse) conclude(below plan.Conclusion) plan.Conclusion {
	n := len(r.passed)
	if n == 0 {
		return below
	}
	out := plan.Conclusion{Evidence: plan.Evidence{Reused: n, Passed: r.named()}}
	if len(r.left) > 0 {
		out.Remarks = []plan.Reason{{Code: plan.CodeSomePassedBefore, Count: n, Of: n + len(r.left)}}
		return below.Then(out)
	}
	out.Action, out.Rung, out.Before = plan.Skip, plan.RungResult, below.Reasons()
	out.Reason = plan.Reason{Code: plan.CodePassedBefore, Count: n, At: r.first()}
	return below.Then(out)
}

// named returns the tasks that the evidence names: some of them, but all whose effects are
// known.
func (r reuse) named() []plan.Earlier {
	if r.passed[0].Effects != nil { // somebody looks for the effects of all tasks or of none
		return r.passed
	}
	return r.passed[:min(len(r.passed), maxPassed)]
}

// first returns when the first of the tasks that passed began.
func (r reuse) first() time.Time {
	first := r.passed[0].Began
	for _, p := range r.passed {
		if p.Began.Before(first) {
			first = p.Began
		}
	}
	return first
}
