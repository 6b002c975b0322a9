package runner

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/effects"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/pending"
	"github.com/app-sre/prcheck/wrapper"
)

// errBudgetUsedUp is the cause of a context that ended because the time for comparing
// effects was used up.
var errBudgetUsedUp = errors.New("the time for comparing effects was up (effects.budget)")

// A comparison tells the effects that this change causes from those that are pending on base
// anyway. It changes what is shown, and never a verdict: whatever goes wrong, the effects
// stay as they are, with the reason.
type comparison struct {
	*run
	opts     wrapper.RunOptions
	defined  map[string]bool // integrations that base defines
	contents string          // digest of what base contains
	known    *pending.Snapshot
	warnings []string
}

// compareEffects compares the effects of tasks that passed with those on base, in place, as
// the settings ask. It returns warnings.
func (r *run) compareEffects(ctx context.Context, notes io.Writer, opts wrapper.RunOptions,
	results []plan.Result) []string {
	policy := r.Settings.EffectPolicy()
	if !policy.Compare {
		return nil
	}
	c := &comparison{run: r, opts: opts, defined: map[string]bool{}, contents: r.contentsOfBase(),
		known: pending.NewStore(r.State).Snapshot(time.Now())}
	definitions, err := integration.List(r.Base, r.Settings)
	for _, d := range definitions {
		c.defined[d.Name] = true
	}
	left := c.withoutRuns(ctx, results, err)
	limited, cancel := context.WithTimeoutCause(ctx, policy.Budget, errBudgetUsedUp)
	defer cancel()
	if n := len(left); n > 0 {
		say(notes, "comparing the effects of %s with base, for at most %s", countTasks(n), policy.Budget)
	}
	announce := func(u uncompared) bool { return len(u.result.Effects.Items) > 0 }
	isSilent := func(u uncompared) bool { return !announce(u) }
	c.compare(limited, slices.DeleteFunc(slices.Clone(left), isSilent)) // what is announced matters more than what is gone
	c.compare(limited, slices.DeleteFunc(left, announce))
	return c.warnings
}

// contentsOfBase returns a digest of what a task can see of base: its data and its files.
func (r *run) contentsOfBase() string {
	if r.Places.Base == nil {
		return r.Base.ContentsSHA256()
	}
	tree, err := r.Places.Base()
	if err != nil {
		return "" // no run on base can be remembered, nor made
	}
	return r.Base.ContentsSHA256() + " " + tree.ID()
}

// An uncompared is a task whose effects are known and are not compared with base yet.
type uncompared struct {
	task   plan.Task
	result *plan.Result
}

// withoutRuns compares the effects for which no task must run on base, and returns the
// others. The error says why the definitions on base are not known.
func (c *comparison) withoutRuns(ctx context.Context, results []plan.Result, err error) []uncompared {
	var left []uncompared
	for i, t := range c.Plan.Tasks {
		if i >= len(results) || results[i].Effects == nil || results[i].Effects.Unknown != "" {
			continue
		}
		result, it := &results[i], c.Settings.For(t.Integration)
		switch why := c.whyNever(t, it, err); {
		case result.Effects.Comparison.How == plan.ComparedByData: // the native did it
		case why != "":
			result.Effects = effects.Uncompared(result.Effects, why)
		case !c.defined[t.Integration] || t.Shard != "" && !mentionsShard(c.Base, t.Shard):
			// base does not have it, so it announces nothing there
			result.Effects = effects.Compare(result.Effects, &plan.Effects{})
		default:
			if onBase, ok := c.recall(ctx, t, it); ok {
				result.Effects = c.compared(t, result.Effects, onBase)
				if result.Effects.Compared {
					result.Effects.Comparison.How = plan.ComparedWithState
				}
				continue
			}
			left = append(left, uncompared{t, result})
		}
	}
	return left
}

// whyNever says why the tasks of an integration do not run on base to compare their effects,
// "" if they do.
func (c *comparison) whyNever(t plan.Task, it settings.Integration, err error) string {
	switch why := c.whyNotOnBase(t); {
	case it.NoBaseline:
		return "the settings say that it never runs on base (baseline: none)"
	case c.run.opts.NoBaseline:
		return "nothing runs on base (--no-baseline)"
	case err != nil:
		return "the integrations of base cannot be read"
	case why != "":
		return why
	}
	return ""
}

// compare runs tasks on base and compares their effects.
func (c *comparison) compare(ctx context.Context, left []uncompared) {
	if len(left) == 0 {
		return
	}
	results, began, err := c.runOnBase(ctx, left)
	if err != nil {
		c.warnings = append(c.warnings, "effects were not compared with base: "+err.Error())
	}
	var runs []pending.Run
	for i, u := range left {
		switch {
		case i >= len(results):
			u.result.Effects = effects.Uncompared(u.result.Effects, "the task could not run on base")
		case results[i].Status == plan.Canceled && ctx.Err() != nil:
			u.result.Effects = effects.Uncompared(u.result.Effects, whyCanceled(ctx))
		default:
			if why := c.whyNotAsOnBase(ctx, u.task); why != "" {
				u.result.Effects = effects.Uncompared(u.result.Effects, why)
				continue
			}
			u.result.Effects = c.compared(u.task, u.result.Effects, results[i].Effects)
			if c.isRememberable(u.task) {
				runs = append(runs, c.runOf(u.task, results[i].Effects, began))
			}
		}
	}
	c.rememberPending(ctx, runs)
}

// whyCanceled says why a run on base was canceled.
func whyCanceled(ctx context.Context) string {
	if cause := context.Cause(ctx); errors.Is(cause, errBudgetUsedUp) {
		return cause.Error()
	}
	return "the run was interrupted"
}

// runOnBase runs tasks on base, without the conditions under which they leave out work that
// did not change, because on base nothing did.
func (c *comparison) runOnBase(ctx context.Context, left []uncompared) ([]plan.Result, time.Time, error) {
	began := time.Now()
	var tasks []plan.Task
	for _, u := range left {
		tasks = append(tasks, withoutOmissions(u.task))
	}
	announced := c.newAnnouncements()
	env := c.environment()
	env.Effects = announced.start
	runner, err := env.Runner(tasks)
	if err != nil {
		return nil, began, err
	}
	logs, err := c.comparedLogs(baseFolder)
	if err != nil {
		return nil, began, err
	}
	opts := c.opts
	opts.Logs, opts.Finish, opts.Observe, opts.Settle, opts.FailFast, opts.Before = logs, announced.finish, nil, nil,
		false, nil
	results, err := wrapper.Run(ctx, tasks, runner, opts)
	return results, began, err
}

// compared compares the effects of a task with those on base. A task that may leave out work
// on head says nothing about the rest, so for it no effect is gone.
func (c *comparison) compared(t plan.Task, head, base *plan.Effects) *plan.Effects {
	out := effects.Compare(head, base)
	if hasOmissions(t) {
		out.Items = slices.DeleteFunc(out.Items, func(e plan.Effect) bool { return e.Since == plan.SinceGone })
	}
	return out
}

// isRememberable reports whether what a task announces on base may be used for another
// change: its command is known entirely, and head changes nothing of it.
func (c *comparison) isRememberable(t plan.Task) bool {
	d, ok := c.Plan.Decision(t.Integration)
	return ok && c.State != nil && c.contents != "" && !t.Native && t.Command != "" &&
		len(settings.EnvPlaceholderNames(t.Argv...)) == 0 &&
		len(d.Evidence.Edited)+len(d.Evidence.Doubts) == 0
}

// runOf describes a run of a task on base.
func (c *comparison) runOf(t plan.Task, e *plan.Effects, began time.Time) pending.Run {
	return pending.Run{Task: t, Base: c.contents, Rules: c.Settings.For(t.Integration).EffectsDigest(), Began: began,
		Effects: e}
}

// recall returns what a task announced on base not long ago, if that is remembered.
func (c *comparison) recall(ctx context.Context, t plan.Task, it settings.Integration) (*plan.Effects, bool) {
	if !c.isRememberable(t) || it.Reuse <= 0 {
		return nil, false
	}
	return c.known.Find(ctx, c.runOf(t, nil, time.Time{}), it.Reuse)
}

// rememberPending writes to the state what tasks announced on base.
func (c *comparison) rememberPending(ctx context.Context, runs []pending.Run) {
	if len(runs) == 0 {
		return
	}
	ctx, cancel := state.WithGrace(ctx)
	defer cancel()
	if err := pending.NewStore(c.State).Add(ctx, runs, time.Now()); err != nil && !errors.Is(err, state.ErrReadOnly) {
		c.warnings = append(c.warnings, err.Error())
	}
}
