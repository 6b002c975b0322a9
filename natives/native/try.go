package native

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// try asks the systems whether they would do what is to be created and changed, if the settings
// allow it. It tells which kind of dry run this is, if the integration has both.
func (w *work) try(ctx context.Context) {
	isPlanned := func(u *unit) bool { return u.plan != nil }
	if w.Try == nil || !slices.ContainsFunc(w.units, isPlanned) {
		return // nothing was compared
	}
	if w.env.Trial == nil {
		w.find(reconcile.Finding{Finding: plan.Finding{Code: codeTried, Severity: plan.SeverityNote, Message: readsAlone}})
		return
	}
	var tried, untried atomic.Int64
	each(ctx, len(w.units), w.env.Workers, func(ctx context.Context, i, workers int) error {
		w.tryUnit(ctx, w.units[i], workers, &tried, &untried)
		return nil
	})
	message := "tried by the server: what would be created and changed was sent to it with dryRun=All"
	switch n := untried.Load(); {
	case n > 0 && tried.Load() == 0:
		message = readsAlone
	case n > 0:
		message += fmt.Sprintf(", but for %d steps that cannot be tried", n)
	}
	w.find(reconcile.Finding{Finding: plan.Finding{Code: codeTried, Severity: plan.SeverityNote, Message: message}})
}

// ErrNotTried says that a system cannot try a step.
var ErrNotTried = errors.New("it cannot be tried")

// readsAlone says that no server was asked to try anything.
const readsAlone = "compared by reads alone: what the server itself refuses is not known"

// tryUnit tries the steps of a unit. What the system refuses is blocked.
func (w *work) tryUnit(ctx context.Context, u *unit, workers int, tried, untried *atomic.Int64) {
	if u.plan == nil {
		return
	}
	var steps []*reconcile.Step
	for i := range u.plan.Steps {
		if s := &u.plan.Steps[i]; s.Action == reconcile.Create || s.Action == reconcile.Update {
			steps = append(steps, s)
		}
	}
	errs := each(ctx, len(steps), workers, func(ctx context.Context, i, _ int) (err error) {
		var changes []reconcile.Change
		if changes, err = w.Try(ctx, w.env, u.part, *steps[i]); err == nil {
			steps[i].Changes = changes
		}
		return err
	})
	for i, err := range errs {
		if errors.Is(err, ErrNotTried) {
			untried.Add(1)
			continue
		}
		tried.Add(1)
		if err == nil {
			continue
		}
		s := steps[i]
		s.Action, s.Code, s.Reason = reconcile.Blocked, codeTried, "the server refuses it: "+err.Error()
		u.plan.Findings = append(u.plan.Findings,
			reconcile.Finding{Finding: plan.Finding{Code: codeTried, Severity: plan.SeverityError, Place: s.Place,
				Message: s.Reason}, Keys: []reconcile.Key{s.Key}, OfThing: true})
	}
}
