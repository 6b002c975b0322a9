package approvals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/state"
)

// version is the version of the documents.
const version = "1"

// The bounds of a document.
const (
	maxDocument = 16 << 20
	maxEntries  = 20_000
)

// A Store keeps the book of a merge request in a state, which should be one that signs.
type Store struct {
	in   state.Store
	key  string
	warn func(error)
}

// NewStore returns the store for a merge request, named as in group/project!1. warn is told of a document that cannot
// be used: then every word counts for its own version alone.
func NewStore(in state.Store, mergeRequest string, warn func(error)) Store {
	return Store{in, "approvals/" + state.Name(mergeRequest) + ".json", warn}
}

// A document is a book as it is kept.
type document struct {
	Version string  `json:"version"`
	Entries []Entry `json:"entries"`
}

var kind = state.Kind[document]{Version: version, Limit: maxDocument}

// Load returns what is kept. A document that is damaged, or not signed by somebody who is trusted, is as good as none.
// A state that does not answer is an error.
func (s Store) Load(ctx context.Context) (Book, error) {
	raw, err := s.in.Read(ctx, s.key)
	switch {
	case errors.Is(err, state.ErrNotFound):
		return Book{}, nil
	case errors.Is(err, state.ErrUntrusted):
		s.warn(fmt.Errorf("approvals that were kept do not count: %w", err))
		return Book{}, nil
	case err != nil:
		return Book{}, fmt.Errorf("reading approvals: %w", err)
	}
	d, err := kind.Decode(raw)
	if err != nil {
		s.warn(fmt.Errorf("approvals that were kept do not count: %w", err))
		return Book{}, nil
	}
	return Book{Entries: d.Entries}, nil
}

// Save keeps a book. Entries that another run kept meanwhile stay.
func (s Store) Save(ctx context.Context, b Book) error {
	err := s.in.Update(ctx, s.key, func(old []byte) ([]byte, error) {
		all := slices.Clone(b.Entries)
		if d, err := kind.Decode(old); old != nil && err == nil {
			all = merged(d.Entries, all)
		}
		slices.SortStableFunc(all, func(a, b Entry) int { return a.At.Compare(b.At) })
		return json.Marshal(document{version, all[max(0, len(all)-maxEntries):]})
	})
	if err != nil {
		return fmt.Errorf("keeping approvals: %w", err)
	}
	return nil
}

// merged returns the entries of both lists, once each.
func merged(a, b []Entry) []Entry {
	known := map[Entry]bool{}
	var out []Entry
	for _, e := range slices.Concat(a, b) {
		if !known[e.key()] {
			known[e.key()] = true
			out = append(out, e)
		}
	}
	return out
}
