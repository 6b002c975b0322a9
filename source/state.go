package source

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/durations"
	"github.com/app-sre/prcheck/state/history"
	"github.com/app-sre/prcheck/trace"
)

// State opens what is remembered, in a folder or at s3://BUCKET/PREFIX; nil when
// no place is named. What cannot be used is the user's mistake, unless nobody
// answers.
func State(ctx context.Context, place string, to state.Access) (state.Store, error) {
	if place == "" {
		return nil, nil
	}
	s, err := state.At(ctx, place, to)
	if err != nil && !errors.Is(err, state.ErrUnreachable) {
		err = invalid(ctx, err)
	}
	return s, err
}

// Memory is [State] for those who can do without: when nobody answers nothing is
// remembered, and what cannot be written to is only read. One line on stderr
// says so.
func Memory(ctx context.Context, env cli.Env, place string, to state.Access) (state.Store, error) {
	s, err := State(ctx, place, to)
	switch {
	case errors.Is(err, state.ErrUnreachable):
		_, _ = fmt.Fprintf(env.Stderr, "warning: nothing is remembered: %s\n", sanitize.Line(err.Error())) // the run goes on
		return nil, nil
	case errors.Is(err, state.ErrReadOnly):
		_, _ = fmt.Fprintf(env.Stderr, "warning: nothing new is remembered: %s\n", sanitize.Line(err.Error()))
		return s, nil
	}
	return s, err
}

// Traces are what is remembered of tasks that passed; nil without a state.
func Traces(in state.Store) *trace.Store {
	if in == nil {
		return nil
	}
	store := trace.NewStore(in)
	return &store
}

// Durations are what is remembered of how long tasks took; nil without a state.
func Durations(in state.Store) *durations.Store {
	if in == nil {
		return nil
	}
	store := durations.NewStore(in)
	return &store
}

// Blame is what is remembered of how tasks ended; nil without a state.
func History(in state.Store) *history.Store {
	if in == nil {
		return nil
	}
	store := history.NewStore(in)
	return &store
}

// Passed is what is remembered of tasks that passed by now. With none nothing counts
// as passed; the tasks have the inputs all the same by which they are remembered.
func Passed(in state.Store, none bool, now time.Time) planner.Results {
	if none {
		return nothing{}
	}
	return History(in).Snapshot(now)
}

// nothing passed.
type nothing struct{}

func (nothing) Passed(context.Context, plan.Task, time.Duration) (time.Time, bool) {
	return time.Time{}, false
}

// Collect forgets what is old or too much, at most once a day.
func Collect(ctx context.Context, in state.Store, now time.Time) error {
	return state.Collect(ctx, in, state.DefaultLimits(trace.Breaches), now)
}
