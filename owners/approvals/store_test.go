package approvals_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/app-sre/prcheck/owners/approvals"
	"github.com/app-sre/prcheck/owners/decision"
	"github.com/app-sre/prcheck/state"
)

func entry(person, place string, at int64) approvals.Entry {
	return approvals.Entry{Subject: approvals.Subject{Kind: "datafile", File: "/f.yml", Place: place, Base: "1",
		Head: "2"},
		Person: person, Command: decision.Approve, At: time.Unix(at, 0).UTC(), Version: "1a2b3c4", Could: true}
}

// What two runs keep at once is all kept, and read again as it was.
func TestStore(t *testing.T) {
	dir, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := approvals.NewStore(dir, "group/project!1", func(err error) { t.Error(err) })
	if b, err := s.Load(t.Context()); err != nil || len(b.Entries) > 0 {
		t.Fatalf("an empty state has %v, %v", b, err)
	}
	a, b := entry("ann", "a", 1), entry("bob", "b", 2)
	for _, e := range []approvals.Entry{b, a, a} {
		if err := s.Save(t.Context(), approvals.Book{Entries: []approvals.Entry{e}}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Load(t.Context())
	if want := []approvals.Entry{a, b}; err != nil || !reflect.DeepEqual(got.Entries, want) {
		t.Errorf("got %+v, %v, want %+v", got.Entries, err, want)
	}
	other := approvals.NewStore(dir, "group/project!2", func(err error) { t.Error(err) })
	if b, err := other.Load(t.Context()); err != nil || len(b.Entries) > 0 {
		t.Errorf("another merge request has %v, %v", b, err)
	}
}

// A damaged document is told and is as good as none; a state that does not answer is an error.
func TestDamagedStore(t *testing.T) {
	folder := t.TempDir()
	dir, err := state.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	var told error
	s := approvals.NewStore(dir, "group/project!1", func(err error) { told = err })
	if err := s.Save(t.Context(), approvals.Book{Entries: []approvals.Entry{entry("ann", "a", 1)}}); err != nil {
		t.Fatal(err)
	}
	entries, err := dir.List(t.Context(), "approvals")
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	if err := dir.Write(t.Context(), entries[0].Key, []byte(`{"version": "1", "entries": [{"at": 7}]}`)); err != nil {
		t.Fatal(err)
	}
	if b, err := s.Load(t.Context()); err != nil || len(b.Entries) > 0 || told == nil {
		t.Errorf("a damaged document has %v, %v, and is told as %v", b, err, told)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Load(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("a state that does not answer: %v", err)
	}
}
