package state

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Errors that tell what is wrong with a document.
var (
	// ErrOtherVersion says that a document is of a version that this program
	// does not know. It is left as it is.
	ErrOtherVersion = errors.New("this prcheck knows another")
	// ErrCorrupt says that a document is not as any program wrote it.
	ErrCorrupt = errors.New("it is cut short or damaged")
)

// A Kind is what documents of one kind have in common: they are JSON objects
// with a member "version", and are read into a T.
type Kind[T any] struct {
	Version string
	Limit   int            // the largest size in bytes; 0: MaxDocument
	Valid   func(*T) error // what more a document must keep to; nil: nothing
}

// Decode reads a document. The error is [ErrOtherVersion] or [ErrCorrupt].
func (k Kind[T]) Decode(raw []byte) (*T, error) {
	if k.Limit > 0 && len(raw) > k.Limit {
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrCorrupt, k.Limit)
	}
	var head struct {
		Version any `json:"version"`
	}
	if err := json.Unmarshal(raw, &head); err != nil || head.Version == nil {
		return nil, ErrCorrupt
	}
	if head.Version != k.Version {
		return nil, fmt.Errorf("its version is %.40q: %w", fmt.Sprint(head.Version), ErrOtherVersion)
	}
	doc := new(T)
	if err := json.Unmarshal(raw, doc); err != nil {
		return nil, ErrCorrupt
	}
	if k.Valid != nil {
		if err := k.Valid(doc); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
	}
	return doc, nil
}

// Read reads a document of the kind. The error is [ErrNotFound] when there is
// none.
func (k Kind[T]) Read(ctx context.Context, s Store, key string) (*T, error) {
	raw, err := s.Read(ctx, key)
	if err != nil {
		return nil, err
	}
	return k.Decode(raw)
}

// Update changes a document, an empty one when there is none. As with
// [Store.Update], change may be called twice. A document of another version
// stays as it is, and that is the error. A corrupt one is set aside, and a new
// one takes its place; that is told in warning.
func (k Kind[T]) Update(ctx context.Context, s Store, key string, change func(*T)) (warning, err error) {
	var corrupt []byte
	var why error
	err = s.Update(ctx, key, func(old []byte) ([]byte, error) {
		doc, err := new(T), error(nil)
		corrupt, why = nil, nil
		if old != nil {
			doc, err = k.Decode(old)
		}
		switch {
		case errors.Is(err, ErrCorrupt):
			corrupt, why, doc = old, err, new(T)
		case err != nil:
			return nil, err
		}
		change(doc)
		raw, err := json.Marshal(doc)
		if err == nil && old != nil && bytes.Equal(raw, old) {
			return nil, nil // it is as it should be
		}
		return raw, err
	})
	if err == nil && why != nil {
		warning = SetAside(ctx, s, key, corrupt, why)
	}
	return warning, err
}

// keepAside is how many corrupt documents are kept to be looked at.
const keepAside = 20

// SetAside keeps a copy of a corrupt document below "corrupt/", where nothing
// reads it, and returns a warning that says so, and why. The document itself is
// the caller's to replace or to discard.
func SetAside(ctx context.Context, s Store, key string, raw []byte, why error) (warning error) {
	copied := strings.ReplaceAll(key, "/", "_")
	copied = "corrupt/" + copied[:min(len(copied), 120)] + "-" + Name(string(raw))[:8]
	err := s.Write(ctx, copied, raw)
	if err == nil {
		err = prune(ctx, s, "corrupt", keepAside)
	}
	if err != nil {
		return fmt.Errorf("%q in the state is not used: %w; keeping a copy: %w", key, why, err)
	}
	return fmt.Errorf("%q in the state is not used: %w; it is kept as %q", key, why, copied)
}

// prune forgets all documents below a folder but the newest.
func prune(ctx context.Context, s Store, folder string, keep int) error {
	list, err := s.List(ctx, folder)
	for _, e := range list[min(len(list), keep):] {
		err = errors.Join(err, s.Discard(ctx, e))
	}
	return err
}
