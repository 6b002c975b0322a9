package runner

import (
	"context"
	"fmt"
	"sync"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/lease"
	"github.com/app-sre/prcheck/wrapper"
)

// targets returns the live targets that a task uses, with their limits, as the
// settings say.
func (r *run) targets(t plan.Task) []wrapper.Target {
	var out []wrapper.Target
	for _, use := range r.Settings.For(t.Integration).Targets(t.Shard) {
		out = append(out, wrapper.Target{Name: use.Name, Max: use.Max, Rate: use.Rate.Count, Per: use.Rate.Per})
	}
	return out
}

// sharedTargets enforces the limits of live targets across all runners that share a
// state. After the first error it no longer asks the state: from then on the limits hold
// only within this run.
type sharedTargets struct {
	state state.Store
	mu    sync.Mutex
	err   error
}

// lease returns the function for [wrapper.RunOptions.Lease], nil without a state.
func (s *sharedTargets) lease() wrapper.Lease {
	if s.state == nil {
		return nil
	}
	return func(ctx context.Context, targets []wrapper.Target, do func(context.Context)) {
		if s.problem() != nil {
			return
		}
		var limits []lease.Limit
		for _, t := range targets {
			limits = append(limits, lease.Limit{Key: t.Name, Max: t.Max, Rate: lease.Rate{Count: t.Rate, Per: t.Per}})
		}
		err := lease.Hold(ctx, s.state, limits, func(ctx context.Context) error {
			do(ctx)
			return nil
		})
		if err != nil && ctx.Err() == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.err = err
		}
	}
}

// problem returns a warning if the limits were not shared with other runners, else nil.
func (s *sharedTargets) problem() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		return nil
	}
	return fmt.Errorf("the limits of targets held only within this run, not across runners: %w", s.err)
}
