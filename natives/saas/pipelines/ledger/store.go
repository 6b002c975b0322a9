package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/state"
)

// ErrChanged says that another loop wrote the document since it was read.
var ErrChanged = errors.New("another loop wrote it meanwhile; the next round goes on")

// Read returns the document of a saas file, or a new one if there is none. The errors are those of
// [state.Kind.Decode] and of the store.
func Read(ctx context.Context, s state.Store, file string) (*Document, error) {
	doc, err := kind.Read(ctx, s, Key(file))
	switch {
	case errors.Is(err, state.ErrNotFound):
		return New(file), nil
	case err != nil:
		return nil, err
	case doc.File != file:
		return nil, fmt.Errorf("%w: it is the document of %.60q", state.ErrCorrupt, doc.File)
	}
	return doc, nil
}

// SetAside keeps a copy of a damaged document for people, unless there is one. The document itself
// stays, so its saas file stays held until a person removes or mends it.
func SetAside(ctx context.Context, s state.Store, file string) error {
	raw, err := s.Read(ctx, Key(file))
	if err != nil {
		return err
	}
	key := "saas/damaged/" + state.Name(file, string(raw))
	if _, err := s.Read(ctx, key); !errors.Is(err, state.ErrNotFound) {
		return err
	}
	return s.Write(ctx, key, raw)
}

// Write replaces a document that was read by the next generation, and returns it as it was
// written. The error is [ErrChanged] if the store has another generation by now. The writer names
// this write and no other.
func Write(ctx context.Context, s state.Store, was, next *Document, writer string) (*Document, error) {
	out := *next
	out.Version, out.Generation, out.Writer = version, was.Generation+1, writer
	raw, err := json.Marshal(&out)
	if err != nil {
		return nil, err
	}
	if _, err := kind.Decode(raw); err != nil {
		return nil, fmt.Errorf("the new document is not valid, which is a mistake of the program: %w", err)
	}
	err = s.Update(ctx, Key(next.File), func(old []byte) ([]byte, error) {
		generation, by := 0, ""
		if old != nil {
			doc, err := kind.Decode(old)
			if err != nil {
				return nil, err
			}
			generation, by = doc.Generation, doc.Writer
		}
		switch {
		case generation == out.Generation && by == writer:
			return nil, nil // an earlier try was written, and its answer was lost
		case generation != was.Generation || by != was.Writer:
			return nil, ErrChanged
		}
		return raw, nil
	})
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// All returns the entries of all documents.
func All(ctx context.Context, s state.Store) ([]state.Entry, error) { return s.List(ctx, Folder) }

// Forget notes that the data no longer have the saas file of a document, and removes the document
// when it is gone for long. A document that cannot be read stays.
func Forget(ctx context.Context, s state.Store, e state.Entry, now time.Time, writer string) error {
	doc, err := kind.Read(ctx, s, e.Key)
	if err != nil {
		return err
	}
	next := doc.WithoutGone(nil, nil, now)
	if next.IsEmpty() {
		return s.Discard(ctx, e)
	}
	if next.Same(doc) {
		return nil
	}
	_, err = Write(ctx, s, doc, next, writer)
	return err
}
