package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/lease"
	"github.com/app-sre/prcheck/wrapper"
)

// targets gives the live targets of a task, as the settings say.
func (j job) targets(t plan.Task) []wrapper.Target {
	var out []wrapper.Target
	for _, use := range j.settings.For(t.Integration).Targets(t.Shard) {
		out = append(out, wrapper.Target{Name: use.Name, Max: use.Max, Rate: use.Rate.Count, Per: use.Rate.Per})
	}
	return out
}

// A sharing holds targets against the other runners that share a state. When the
// state fails, it is not asked again: then the limits hold for this run alone.
type sharing struct {
	state state.Store
	mu    sync.Mutex
	err   error
}

// lease is for [wrapper.Options]; nil without a state.
func (s *sharing) lease() wrapper.Lease {
	if s.state == nil {
		return nil
	}
	return func(ctx context.Context, targets []wrapper.Target, do func(context.Context)) {
		if s.trouble() != nil {
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

// trouble is what failed, as a warning.
func (s *sharing) trouble() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		return nil
	}
	return fmt.Errorf("the limits held for this run alone, without regard for others: %w", s.err)
}
