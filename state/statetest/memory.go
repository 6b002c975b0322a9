package statetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/state"
)

// A Memory is a state in memory, which waits for no disk and whose documents have the times of the clock that the
// test sees. Several goroutines may use it.
type Memory struct {
	mu        sync.Mutex
	documents map[string]document
}

// A document is a text with the time at which it was written.
type document struct {
	text    string
	written time.Time
}

// NewMemory returns an empty state.
func NewMemory() *Memory { return &Memory{documents: map[string]document{}} }

// Documents returns the texts of all documents by key.
func (m *Memory) Documents() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[string]string{}
	for key, d := range m.documents {
		out[key] = d.text
	}
	return out
}

// Read implements [state.Store].
func (m *Memory) Read(ctx context.Context, key string) (raw []byte, err error) {
	err = m.with(ctx, "reading", key, func() error {
		d, ok := m.documents[key]
		if !ok {
			return state.ErrNotFound
		}
		raw = []byte(d.text)
		return nil
	})
	return raw, err
}

// Write implements [state.Store].
func (m *Memory) Write(ctx context.Context, key string, raw []byte) error {
	return m.with(ctx, "writing", key, func() error { return m.write(key, raw) })
}

// Update implements [state.Store].
func (m *Memory) Update(ctx context.Context, key string, change func(old []byte) ([]byte, error)) error {
	return m.with(ctx, "changing", key, func() error {
		var old []byte
		if d, ok := m.documents[key]; ok {
			old = []byte(d.text)
		}
		raw, err := change(old)
		if err != nil || raw == nil {
			return err
		}
		return m.write(key, raw)
	})
}

// Remove implements [state.Store].
func (m *Memory) Remove(ctx context.Context, key string) error {
	return m.with(ctx, "removing", key, func() error {
		delete(m.documents, key)
		return nil
	})
}

// List implements [state.Store].
func (m *Memory) List(ctx context.Context, folder string) ([]state.Entry, error) {
	if err := state.CheckFolder(folder); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("listing %q in the state: %w", cmp.Or(folder, "all"), err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []state.Entry
	for _, key := range slices.Sorted(maps.Keys(m.documents)) {
		if d := m.documents[key]; folder == "" || strings.HasPrefix(key, folder+"/") {
			out = append(out, state.Entry{Key: key, Size: int64(len(d.text)), Written: d.written})
		}
	}
	slices.SortStableFunc(out, func(a, b state.Entry) int { return b.Written.Compare(a.Written) })
	return out, nil
}

// Discard implements [state.Store].
func (m *Memory) Discard(ctx context.Context, e state.Entry) error {
	return m.with(ctx, "removing", e.Key, func() error {
		if d, ok := m.documents[e.Key]; ok && d.written.Equal(e.Written) && int64(len(d.text)) == e.Size {
			delete(m.documents, e.Key)
		}
		return nil
	})
}

// with does something to a document while nobody else does.
func (m *Memory) with(ctx context.Context, doing, key string, do func() error) error {
	if err := state.CheckKey(key); err != nil {
		return err
	}
	err := ctx.Err()
	if err == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		err = do()
	}
	if err != nil && !errors.Is(err, state.ErrNotFound) {
		return fmt.Errorf("%s %q in the state: %w", doing, key, err)
	}
	return err
}

// write keeps a document.
func (m *Memory) write(key string, raw []byte) error {
	if err := state.CheckSize(raw); err != nil {
		return err
	}
	m.documents[key] = document{string(raw), time.Now()}
	return nil
}
