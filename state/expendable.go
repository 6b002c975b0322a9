package state

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"
)

// Expendable returns a store that need not be writable. After the first write that the system
// refuses, for instance because the disk is full, it refuses all others with [ErrReadOnly], and failed
// was told the reason once. What is there can be read as before.
func Expendable(s Store, failed func(error)) Store {
	return &expendable{Store: s, failed: failed}
}

// An expendable is a store that gives up writing when the system refuses it.
type expendable struct {
	Store
	failed func(error)
	isOver atomic.Bool
}

// Write implements [Store].
func (e *expendable) Write(ctx context.Context, key string, raw []byte) error {
	return e.try(ctx, key, func() error { return e.Store.Write(ctx, key, raw) })
}

// Remove implements [Store].
func (e *expendable) Remove(ctx context.Context, key string) error {
	return e.try(ctx, key, func() error { return e.Store.Remove(ctx, key) })
}

// Discard implements [Store].
func (e *expendable) Discard(ctx context.Context, of Entry) error {
	return e.try(ctx, of.Key, func() error { return e.Store.Discard(ctx, of) })
}

// Update implements [Store]. An error of change is no failure of the store.
func (e *expendable) Update(ctx context.Context, key string, change func(old []byte) ([]byte, error)) error {
	var refused error
	err := e.try(ctx, key, func() error {
		err := e.Store.Update(ctx, key, func(old []byte) (raw []byte, err error) {
			raw, refused = change(old)
			return raw, refused
		})
		if refused != nil {
			return nil
		}
		return err
	})
	if refused != nil {
		return fmt.Errorf("changing %q in the state: %w", key, refused)
	}
	return err
}

// try calls a function that writes, unless an earlier one failed.
func (e *expendable) try(ctx context.Context, key string, write func() error) error {
	if e.isOver.Load() {
		return refuseWrite(key)
	}
	err := write()
	var refused syscall.Errno
	if ctx.Err() != nil || !errors.As(err, &refused) {
		return err // the next document may be written
	}
	if !e.isOver.Swap(true) {
		e.failed(err)
	}
	return fmt.Errorf("%w: %w", ErrReadOnly, err)
}

// tidy removes what writers left that died, see [Collect].
func (e *expendable) tidy(ctx context.Context, before time.Time) error {
	if t, ok := e.Store.(tidier); ok {
		return t.tidy(ctx, before)
	}
	return nil
}
