package manager

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/state"
)

// errFault is what a broken part of the scene answers.
var errFault = errors.New("a fault of the test")

// A notebook is a state in memory that can break.
type notebook struct {
	mu   sync.Mutex
	docs map[string][]byte
	ask  func() error // before each call; nil: it works
}

func (n *notebook) do(what func()) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ask != nil {
		if err := n.ask(); err != nil {
			return err
		}
	}
	what()
	return nil
}

// Read implements [state.Store].
func (n *notebook) Read(_ context.Context, key string) (raw []byte, err error) {
	if err := n.do(func() { raw = n.docs[key] }); err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, state.ErrNotFound
	}
	return slices.Clone(raw), nil
}

// Write implements [state.Store].
func (n *notebook) Write(_ context.Context, key string, raw []byte) error {
	return n.do(func() { n.docs[key] = slices.Clone(raw) })
}

// Update implements [state.Store].
func (n *notebook) Update(_ context.Context, key string, change func([]byte) ([]byte, error)) (err error) {
	broken := n.do(func() {
		var raw []byte
		if raw, err = change(slices.Clone(n.docs[key])); raw != nil && err == nil {
			n.docs[key] = raw
		}
	})
	return errors.Join(broken, err)
}

// Remove implements [state.Store].
func (n *notebook) Remove(_ context.Context, key string) error {
	return n.do(func() { delete(n.docs, key) })
}

// List implements [state.Store].
func (n *notebook) List(_ context.Context, folder string) (out []state.Entry, err error) {
	err = n.do(func() {
		for _, key := range slices.Sorted(maps.Keys(n.docs)) {
			if strings.HasPrefix(key, folder+"/") {
				out = append(out, state.Entry{Key: key, Size: int64(len(n.docs[key]))})
			}
		}
	})
	return out, err
}

// Discard implements [state.Store].
func (n *notebook) Discard(ctx context.Context, e state.Entry) error { return n.Remove(ctx, e.Key) }
