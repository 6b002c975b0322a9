package statetest

import (
	"context"
	"sync"

	"github.com/app-sre/prcheck/state"
)

// A Hanging is a store that does not answer: a call lasts until its context ends,
// and its error is that of the context.
type Hanging struct {
	state.Store // answers the calls that do not hang
	hangs       func() bool
	begin       sync.Once
	began       chan struct{}
}

// Hang returns a store that passes calls on to another one. A call hangs when
// hangs returns true at its beginning.
func Hang(s state.Store, hangs func() bool) *Hanging {
	return &Hanging{Store: s, hangs: hangs, began: make(chan struct{})}
}

// Began returns a channel that is closed when a call hangs.
func (h *Hanging) Began() <-chan struct{} { return h.began }

func (h *Hanging) hang(ctx context.Context) error {
	if !h.hangs() {
		return nil
	}
	h.begin.Do(func() { close(h.began) })
	<-ctx.Done()
	return ctx.Err()
}

// Read hangs, or reads a document.
func (h *Hanging) Read(ctx context.Context, key string) ([]byte, error) {
	if err := h.hang(ctx); err != nil {
		return nil, err
	}
	return h.Store.Read(ctx, key)
}

// Write hangs, or writes a document.
func (h *Hanging) Write(ctx context.Context, key string, raw []byte) error {
	if err := h.hang(ctx); err != nil {
		return err
	}
	return h.Store.Write(ctx, key, raw)
}

// Update hangs, or changes a document.
func (h *Hanging) Update(ctx context.Context, key string, change func(old []byte) ([]byte, error)) error {
	if err := h.hang(ctx); err != nil {
		return err
	}
	return h.Store.Update(ctx, key, change)
}

// Remove hangs, or removes a document.
func (h *Hanging) Remove(ctx context.Context, key string) error {
	if err := h.hang(ctx); err != nil {
		return err
	}
	return h.Store.Remove(ctx, key)
}

// List hangs, or lists documents.
func (h *Hanging) List(ctx context.Context, folder string) ([]state.Entry, error) {
	if err := h.hang(ctx); err != nil {
		return nil, err
	}
	return h.Store.List(ctx, folder)
}

// Discard hangs, or discards a document.
func (h *Hanging) Discard(ctx context.Context, e state.Entry) error {
	if err := h.hang(ctx); err != nil {
		return err
	}
	return h.Store.Discard(ctx, e)
}
