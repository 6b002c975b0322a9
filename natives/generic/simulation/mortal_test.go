package simulation

import (
	"context"
	"errors"
	"sync"

	"github.com/app-sre/prcheck/state"
)

// errKilled stands for the end of the process.
var errKilled = errors.New("killed")

// A mortal is a process that dies at a chosen moment: before or after a request, or before or after
// something is read or written in the state. Nothing that it does afterwards has an effect.
type mortal struct {
	mu     sync.Mutex
	left   int // moments until it dies
	dead   bool
	cancel context.CancelFunc
}

// lives counts a moment, and returns an error if the process is dead.
func (m *mortal) lives() error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left--
	if m.left > 0 {
		return nil
	}
	if !m.dead {
		m.dead = true
		m.cancel()
	}
	return errKilled
}

func (m *mortal) guard(s state.Store) state.Store {
	if m == nil {
		return s
	}
	return guarded{s, m}
}

// guarded is a state that a dead process does not reach.
type guarded struct {
	state.Store
	mortal *mortal
}

// around does something between two moments.
func (g guarded) around(do func() error) error {
	if err := g.mortal.lives(); err != nil {
		return err
	}
	err := do()
	if dead := g.mortal.lives(); dead != nil {
		return dead
	}
	return err
}

func (g guarded) Read(ctx context.Context, key string) (raw []byte, err error) {
	if g.mortal.dies() {
		return nil, errKilled
	}
	return g.Store.Read(ctx, key)
}

func (g guarded) List(ctx context.Context, folder string) ([]state.Entry, error) {
	if g.mortal.dies() {
		return nil, errKilled
	}
	return g.Store.List(ctx, folder)
}

func (g guarded) Write(ctx context.Context, key string, raw []byte) error {
	return g.around(func() error { return g.Store.Write(ctx, key, raw) })
}

func (g guarded) Update(ctx context.Context, key string, change func(old []byte) ([]byte, error)) error {
	return g.around(func() error { return g.Store.Update(ctx, key, change) })
}

func (g guarded) Remove(ctx context.Context, key string) error {
	return g.around(func() error { return g.Store.Remove(ctx, key) })
}

func (g guarded) Discard(ctx context.Context, e state.Entry) error {
	return g.around(func() error { return g.Store.Discard(ctx, e) })
}

// dies reports whether the process is dead; reading is no moment of its own.
func (m *mortal) dies() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
}
