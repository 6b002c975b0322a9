package native_test

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/state"
)

// A paper is a state in memory.
type paper struct {
	mu   sync.Mutex
	docs map[string][]byte
}

func newPaper() *paper { return &paper{docs: map[string][]byte{}} }

// Read implements [state.Store].
func (p *paper) Read(_ context.Context, key string) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if raw, ok := p.docs[key]; ok {
		return slices.Clone(raw), nil
	}
	return nil, state.ErrNotFound
}

// Write implements [state.Store].
func (p *paper) Write(_ context.Context, key string, raw []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.docs[key] = slices.Clone(raw)
	return nil
}

// Update implements [state.Store].
func (p *paper) Update(_ context.Context, key string, change func(old []byte) ([]byte, error)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	raw, err := change(slices.Clone(p.docs[key]))
	if raw != nil && err == nil {
		p.docs[key] = raw
	}
	return err
}

// Remove implements [state.Store].
func (p *paper) Remove(_ context.Context, key string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.docs, key)
	return nil
}

// List implements [state.Store].
func (p *paper) List(_ context.Context, folder string) ([]state.Entry, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []state.Entry
	for key, raw := range p.docs {
		if strings.HasPrefix(key, folder+"/") {
			out = append(out, state.Entry{Key: key, Size: int64(len(raw))})
		}
	}
	slices.SortFunc(out, func(a, b state.Entry) int { return strings.Compare(a.Key, b.Key) })
	return out, nil
}

// Discard implements [state.Store].
func (p *paper) Discard(ctx context.Context, e state.Entry) error { return p.Remove(ctx, e.Key) }
