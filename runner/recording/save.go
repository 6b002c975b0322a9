package recording

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/trace"
)

// CheckAndSave checks the promises of integrations with "trace: static", and saves the
// traces of the tasks that passed. It returns warnings for people: broken promises, and
// traces that could not be saved.
//
// It changes the results of tasks that may not count as passed because a promise was
// broken, see [failForBrokenPromise]. The results are in the order of the plan's tasks.
func (r *Recording) CheckAndSave(ctx context.Context, store trace.Store, p *plan.Plan, results []plan.Result,
	rules *settings.Settings, at time.Time) (warnings []string) {
	promises := promiseCheck{store: store, plan: p, mask: r.Mask, at: at, broken: map[string]bool{}}
	for i, t := range p.Tasks {
		attempts := r.traces(t, at)
		if len(attempts) == 0 || i >= len(results) || t.Native {
			continue
		}
		passed, tracing := results[i].OK(), rules.For(t.Integration).Trace
		if tracing == settings.TraceStatic {
			warnings = append(warnings, promises.check(ctx, t.Integration, attempts, &results[i])...)
		}
		if passed && tracing != settings.TraceNone {
			last := attempts[len(attempts)-1]
			if r.Files != nil {
				last = last.WithFiles(r.Files(t.ID))
			}
			if err := r.save(ctx, store, last); err != nil && !errors.Is(err, state.ErrReadOnly) {
				warnings = append(warnings, err.Error())
			}
		}
	}
	return warnings
}

// save saves a trace. A trace that contains a secret is an error and is not saved.
func (r *Recording) save(ctx context.Context, store trace.Store, t *trace.Trace) error {
	raw, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if text := string(raw); r.Mask(text) != text {
		return fmt.Errorf("the trace of %q is not saved: a query or an answer contains a secret", t.Integration)
	}
	return store.Save(ctx, t)
}
