package main

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/state"
)

// A store is a state in memory, which does not wait for a disk.
type store struct {
	mu      sync.Mutex
	texts   map[string]string
	written map[string]time.Time
}

func newStore() *store {
	return &store{texts: map[string]string{}, written: map[string]time.Time{}}
}

// documents returns all documents by key.
func (s *store) documents() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.texts)
}

func (s *store) Read(_ context.Context, key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, ok := s.texts[key]
	if !ok {
		return nil, state.ErrNotFound
	}
	return []byte(text), nil
}

func (s *store) Write(ctx context.Context, key string, raw []byte) error {
	return s.Update(ctx, key, func([]byte) ([]byte, error) { return raw, nil })
}

func (s *store) Update(_ context.Context, key string, change func(old []byte) ([]byte, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var old []byte
	if text, ok := s.texts[key]; ok {
		old = []byte(text)
	}
	raw, err := change(old)
	if err != nil || raw == nil {
		return err
	}
	s.texts[key], s.written[key] = string(raw), time.Now()
	return nil
}

func (s *store) Remove(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.texts, key)
	return nil
}

func (s *store) List(_ context.Context, folder string) ([]state.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []state.Entry
	for key, text := range s.texts {
		if folder == "" || strings.HasPrefix(key, folder+"/") {
			out = append(out, state.Entry{Key: key, Size: int64(len(text)), Written: s.written[key]})
		}
	}
	slices.SortFunc(out, func(a, b state.Entry) int {
		if n := b.Written.Compare(a.Written); n != 0 {
			return n
		}
		return strings.Compare(a.Key, b.Key)
	})
	return out, nil
}

func (s *store) Discard(ctx context.Context, e state.Entry) error { return s.Remove(ctx, e.Key) }
