package simulation

import (
	"context"
	"errors"

	"github.com/app-sre/prcheck/state"
)

// A memory is a state in memory.
type memory map[string][]byte

var errKilled = errors.New("killed")

// A hook lets the process die after some writes.
type hook struct {
	left int
	kill context.CancelCauseFunc
}

var hooks = hook{left: -1}

// writesLeft says after how many writes the process dies; negative is never.
func (m memory) writesLeft(n int, kill context.CancelCauseFunc) { hooks = hook{n, kill} }

func (m memory) Read(_ context.Context, key string) ([]byte, error) {
	raw, ok := m[key]
	if !ok {
		return nil, state.ErrNotFound
	}
	return raw, nil
}

func (m memory) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	raw, err := change(m[key])
	if err != nil || raw == nil {
		return err
	}
	m[key] = raw
	if hooks.left--; hooks.left == 0 {
		hooks.kill(errKilled)
	}
	return nil
}

func (m memory) Write(_ context.Context, key string, raw []byte) error {
	m[key] = raw
	return nil
}

func (m memory) Remove(_ context.Context, key string) error {
	delete(m, key)
	return nil
}

func (m memory) List(context.Context, string) ([]state.Entry, error) { return nil, nil }
func (m memory) Discard(context.Context, state.Entry) error          { return errors.ErrUnsupported }
