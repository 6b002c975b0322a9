package change

import (
	"context"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/state"
)

// OpenState opens the state, in a folder or at s3://BUCKET/PREFIX; nil when no place is
// named. An error is of the user's making, unless the place cannot be reached.
func OpenState(ctx context.Context, place string, access state.Access) (state.Store, error) {
	if place == "" {
		return nil, nil
	}
	s, err := state.At(ctx, place, access)
	if err != nil && !errors.Is(err, state.ErrUnreachable) {
		err = invalid(ctx, err)
	}
	return s, err
}

// TryState is [OpenState] for a command that can do without the state. When the place cannot
// be reached there is none, and when it cannot be written to it is only read. A line on
// stderr says so.
func TryState(ctx context.Context, env cli.Env, place string, access state.Access) (state.Store, error) {
	s, err := OpenState(ctx, place, access)
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
