package reconcile

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/internal/crash"
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
	wrong := guarded(done, func() map[Key]error { return e.opts.Settle(ctx, done) })
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

// guarded calls a function that returns the errors of steps. A panic is the error of all steps.
func guarded(steps []Step, call func() map[Key]error) (wrong map[Key]error) {
	defer func() {
		if p := recover(); p != nil {
			text := crash.Text(p)
			wrong = map[Key]error{}
			for _, s := range steps {
				wrong[s.Key] = errors.New(text)
			}
		}
	}()
	return call()
}

// writing returns the steps that write.
func (e *execution) writing() []Step {
	return slices.DeleteFunc(slices.Clone(e.plan.Steps), func(s Step) bool { return !s.Action.Writes() })
}
