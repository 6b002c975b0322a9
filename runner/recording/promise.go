package recording

import (
	"context"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/trace"
)

// A promiseCheck checks whether integrations with "trace: static" keep their promise
// to send always the same queries.
type promiseCheck struct {
	store  trace.Store
	plan   *plan.Plan
	mask   func(text string) string
	at     time.Time
	broken map[string]bool // integrations whose promise this run found broken
}

// check checks the promise of an integration against the attempts of one of its tasks.
// If the task breaks the promise, check notes that in the state and returns warnings; the
// warning about the promise itself comes once for each integration.
//
// The result of the task is changed to a failure if the plan relied on the promise, see
// [failForBrokenPromise]. That holds if this task broke the promise, or if the promise
// was broken since the plan was made, for example by another part of the plan. If several
// tasks of this run break it, only the first fails: one failure fails the check.
func (c promiseCheck) check(ctx context.Context, name string, attempts []*trace.Trace,
	result *plan.Result) (warnings []string) {
	decision, _ := c.plan.Decision(name)
	breach := c.mask(findBreach(ctx, c.store, attempts, result.OK()))
	switch {
	case breach != "" && !c.broken[name]:
		c.broken[name] = true
		warnings = append(warnings,
			fmt.Sprintf("BROKEN PROMISE: %q is trace: static, but %s; its traces are set aside, and it runs in full until "+
				"planner upkeep confirm says otherwise", name, breach))
		if err := c.store.Break(ctx, name, breach, c.at); err != nil {
			warnings = append(warnings, err.Error())
		}
		failForBrokenPromise(decision, result, breach)
	case !c.broken[name] && len(decision.Evidence.Traces) > 0:
		failForBrokenPromise(decision, result, c.store.Breach(ctx, name))
	}
	return warnings
}

// failForBrokenPromise changes the result of a task to a failure if its integration
// broke its promise and the plan left out work of the integration because of it: other
// shards, or tasks that passed before with the same inputs. Nobody knows whether that
// work was needed, so the check must not pass. The remedy is a new plan, which does not
// rely on the promise.
//
// A result that fails the check already stays as it is. An empty breach means that the
// promise was kept.
func failForBrokenPromise(d plan.Decision, r *plan.Result, breach string) {
	leftOutWork := d.Decision == plan.Shards || d.Evidence.Reused > 0
	if breach == "" || !leftOutWork || r.Blocks() {
		return
	}
	r.Status, r.Class = plan.Failed, plan.ClassConfig
	r.Reason = "it is trace: static, but " + breach + "; work was left out because of that promise: plan again"
}

// findBreach returns how a task broke the promise of its integration in one of its
// attempts. It returns "" if the promise was kept, if there is no earlier trace to
// compare with, or if the promise is noted as broken already.
func findBreach(ctx context.Context, store trace.Store, attempts []*trace.Trace, passed bool) string {
	last := attempts[len(attempts)-1]
	if store.Broken(ctx, last.Integration) != "" {
		return ""
	}
	earlier, _ := store.Load(ctx, last.TaskKey)
	if len(earlier) == 0 {
		return ""
	}
	for _, attempt := range attempts {
		isComplete := attempt == last && passed
		if difference := earlier[0].Asks(attempt, !isComplete); difference != "" {
			return difference
		}
	}
	return ""
}
