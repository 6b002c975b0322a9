package state_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/app-sre/prcheck/state"
)

// When the system refuses a write, that is said once, nothing more is written, and what is there can
// be read.
func TestExpendable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	in, err := state.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var said []error
	s := state.Expendable(in, func(err error) { said = append(said, err) })
	if err := s.Write(t.Context(), "a/b", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "c", "d"), 0o700); err != nil { // a folder in place of a document
		t.Fatal(err)
	}
	errs := []error{
		s.Write(t.Context(), "c/d", []byte("x")),
		s.Write(t.Context(), "a/b", []byte("x")),
		s.Update(t.Context(), "a/b", func([]byte) ([]byte, error) { return []byte("x"), nil }),
		s.Remove(t.Context(), "a/b"),
		s.Discard(t.Context(), state.Entry{Key: "a/b"}),
	}
	for i, err := range errs {
		if !errors.Is(err, state.ErrReadOnly) {
			t.Errorf("write %d: got %v, want %v", i, err, state.ErrReadOnly)
		}
	}
	if len(said) != 1 || errs[0].Error() != "it can only be read: "+said[0].Error() {
		t.Errorf("it was said %d times: %v; the first write: %v", len(said), said, errs[0])
	}
	if raw, err := s.Read(t.Context(), "a/b"); string(raw) != "kept" || err != nil {
		t.Errorf("got %q, %v, want what was kept", raw, err)
	}
}

// A document that cannot be written for another reason does not end the writing.
func TestExpendableGoesOn(t *testing.T) {
	in, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := state.Expendable(in, func(err error) { t.Errorf("it gave up: %v", err) })
	refused := errors.New("not this one")
	if err := s.Update(t.Context(), "a", func([]byte) ([]byte, error) {
		return []byte("x"), refused
	}); !errors.Is(err, refused) || err.Error() != `changing "a" in the state: not this one` {
		t.Errorf("got %v, want %v", err, refused)
	}
	if raw, err := s.Read(t.Context(), "a"); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("a change that failed was written: %q, %v", raw, err)
	}
	if err := s.Write(t.Context(), "b", make([]byte, state.MaxDocument+1)); err == nil ||
		errors.Is(err, state.ErrReadOnly) {
		t.Errorf("got %v for a document that is too large", err)
	}
	for _, remove := range []func() error{
		func() error { return s.Remove(t.Context(), "a") },
		func() error {
			list, err := s.List(t.Context(), "")
			for _, e := range list {
				err = errors.Join(err, s.Discard(t.Context(), e))
			}
			return err
		},
	} {
		if err := s.Write(t.Context(), "a", []byte("x")); err != nil {
			t.Error(err)
		}
		if err := remove(); err != nil {
			t.Error(err)
		}
		if list, err := s.List(t.Context(), ""); err != nil || len(list) != 0 {
			t.Errorf("left is %v, %v", list, err)
		}
	}
}
