package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// settleWave waits until what a wave has written works. What does not work fails its step, so
// that steps that need it are not run.
func (e *execution) settleWave(ctx context.Context, wave int) {
	if e.opts.Settle == nil || wave == 0 || ctx.Err() != nil {
		return
	}
	var done []Step
	for _, r := range e.results {
		if r.Step.Wave == wave && r.Status == StatusDone && r.Step.Action.Writes() && r.Step.Action != Remove {
			done = append(done, r.Step)
		}
	}
	if len(done) == 0 {
		return
	}
	wrong := e.callSettle(ctx, done)
	for _, k := range slices.Sorted(maps.Keys(wrong)) {
		i, planned := e.at[k]
		if !planned || wrong[k] == nil {
			continue
		}
		e.results[i].Status, e.results[i].Err = StatusFailed, wrong[k]
		if e.opts.Done != nil {
			e.opts.Done(e.results[i])
		}
	}
}

// callSettle calls the function of the options. A panic is the error of all steps.
func (e *execution) callSettle(ctx context.Context, done []Step) (wrong map[Key]error) {
	defer func() {
		if p := recover(); p != nil {
			wrong = map[Key]error{}
			for _, s := range done {
				wrong[s.Key] = fmt.Errorf("panic: %v", p)
			}
		}
	}()
	return e.opts.Settle(ctx, done)
}
