package state

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Errors that callers tell apart, of documents that cannot be used.
var (
	// ErrOtherVersion says that this program does not know the version of a document.
	// The document stays as it is.
	ErrOtherVersion = errors.New("this prcheck cannot read it")
	// ErrCorrupt says that a document is damaged: no version of the program wrote it so.
	ErrCorrupt = errors.New("it is cut short or damaged")
)

// A Kind describes documents of one kind. They are JSON objects with the member
// "version", and are read into a T.
type Kind[T any] struct {
	Version string
	Limit   int            // the largest size in bytes; 0 is MaxDocument
	Valid   func(*T) error // returns why a document that was read is not valid; nil accepts all
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

// Read reads a document of the kind. The error is that of [Store.Read] or of
// [Kind.Decode].
func (k Kind[T]) Read(ctx context.Context, s Store, key string) (*T, error) {
	raw, err := s.Read(ctx, key)
	if err != nil {
		return nil, err
	}
	return k.Decode(raw)
}

// Update changes a document. If there is none, change gets an empty one. As with
// [Store.Update], change may be called twice. If the document has another version, it
// stays as it is and the error is [ErrOtherVersion]. If it is corrupt, it is set aside
// and replaced by a new one, and the warning says so.
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
			return nil, nil // nothing changed
		}
		return raw, err
	})
	if err == nil && why != nil {
		warning = SetAside(ctx, s, key, corrupt, why)
	}
	return warning, err
}

// maxCorrupt is how many copies of corrupt documents are kept.
const maxCorrupt = 20

// SetAside writes a copy of a corrupt document below "corrupt/", for people to look at.
// It returns a warning that says why the document is not used and where the copy is.
// The caller replaces or discards the document itself.
func SetAside(ctx context.Context, s Store, key string, raw []byte, why error) (warning error) {
	copied := strings.ReplaceAll(key, "/", "_")
	copied = "corrupt/" + copied[:min(len(copied), 120)] + "-" + Name(string(raw))[:8]
	err := s.Write(ctx, copied, raw)
	if err == nil {
		err = prune(ctx, s, "corrupt", maxCorrupt)
	}
	if err != nil {
		return fmt.Errorf("%q in the state is not used: %w; keeping a copy: %w", key, why, err)
	}
	return fmt.Errorf("%q in the state is not used: %w; it is kept as %q", key, why, copied)
}

// prune removes the documents below a folder except the newest ones.
func prune(ctx context.Context, s Store, folder string, keep int) error {
	list, err := s.List(ctx, folder)
	for _, e := range list[min(len(list), keep):] {
		err = errors.Join(err, s.Discard(ctx, e))
	}
	return err
}
