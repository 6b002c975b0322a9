package trace_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/trace"
)

func TestBreak(t *testing.T) {
	s, folder := store(t)
	for _, query := range []string{"{a}", "{b}"} {
		if err := s.Save(t.Context(), recorded(subject, query, noon)); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Broken(t.Context(), "users"); got != "" {
		t.Errorf("before: %q", got)
	}
	if err := s.Break(t.Context(), "users", "it asked something new", noon); err != nil {
		t.Fatal(err)
	}
	if got := s.Broken(t.Context(), "users"); got != "it asked something new" {
		t.Errorf("got %q", got)
	}
	if got := s.Broken(t.Context(), "others"); got != "" {
		t.Errorf("another integration: %q", got)
	}
	if a, b := len(documents(t, folder, "traces")), len(documents(t, folder, "aside")); a != 0 || b != 2 {
		t.Errorf("got %d traces and %d aside", a, b)
	}
	if err := s.Confirm(t.Context(), "users", noon); err != nil {
		t.Fatal(err)
	}
	if got := s.Broken(t.Context(), "users"); got != "" {
		t.Errorf("after: %q", got)
	}
}

// If the note about a promise cannot be read, the promise does not count.
func TestBrokenNote(t *testing.T) {
	s, folder := store(t)
	if err := s.Break(t.Context(), "users", "x", noon); err != nil {
		t.Fatal(err)
	}
	list, err := filepath.Glob(filepath.Join(folder, "promises", "*.json"))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if err := os.WriteFile(list[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(t.Context(), recorded(subject, "{a}", noon)); err != nil { // a run goes on
		t.Fatal(err)
	}
	if got := s.Broken(t.Context(), "users"); got == "" {
		t.Error("it counts")
	}
}

// Removing the note about a broken promise, or bringing back the traces that were set
// aside, does not make the promise count.
func TestRemovedNote(t *testing.T) {
	s, folder := store(t)
	if err := s.Save(t.Context(), recorded(subject, "{a}", noon)); err != nil {
		t.Fatal(err)
	}
	old := documents(t, folder, "traces")[0]
	raw, err := os.ReadFile(old)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Break(t.Context(), "users", "it asked something new", noon); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(folder, "promises")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(old, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.Broken(t.Context(), "users"); !strings.Contains(got, "the note about the promise is gone") {
		t.Errorf("got %q", got)
	}
}

// promiseFile returns the file of the only promise.
func promiseFile(t *testing.T, folder string) string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(folder, "promises", "*.json"))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	return list[0]
}

// noted returns the only promise.
func noted(t *testing.T, folder string) (p trace.Promise) {
	t.Helper()
	raw, err := os.ReadFile(promiseFile(t, folder))
	if err = errors.Join(err, json.Unmarshal(raw, &p)); err != nil {
		t.Fatal(err)
	}
	return p
}

// The note of a kept promise is written again after a day, that of a broken one never.
func TestKept(t *testing.T) {
	s, folder := store(t)
	save := func(after time.Duration) trace.Promise {
		t.Helper()
		if err := s.Save(t.Context(), recorded(subject, "{a}", noon.Add(after))); err != nil {
			t.Fatal(err)
		}
		return noted(t, folder)
	}
	for _, tt := range []struct{ after, kept time.Duration }{
		{0, 0}, {24*time.Hour - time.Second, 0}, {24 * time.Hour, 24 * time.Hour}, {47 * time.Hour, 24 * time.Hour},
	} {
		want := trace.Promise{Version: trace.Version, Integration: "users", Kept: noon.Add(tt.kept)}
		if got := save(tt.after); got != want {
			t.Errorf("after %s: got %+v, want %+v", tt.after, got, want)
		}
	}
	if got := s.Breach(t.Context(), "users"); got != "" {
		t.Errorf("it is kept: got %q", got)
	}
	if err := s.Break(t.Context(), "users", "x", noon); err != nil {
		t.Fatal(err)
	}
	want := trace.Promise{Version: trace.Version, Integration: "users", Kept: noon.Add(24 * time.Hour), Why: "x", Found: noon}
	if got := save(1000 * time.Hour); got != want {
		t.Errorf("broken: got %+v, want %+v", got, want)
	}
	if got := s.Breach(t.Context(), "users"); got != "x" {
		t.Errorf("it is broken: got %q", got)
	}
}

// A note that was written for another integration does not make a promise count.
func TestForeignNote(t *testing.T) {
	s, folder := store(t)
	if err := s.Confirm(t.Context(), "users", noon); err != nil {
		t.Fatal(err)
	}
	own := promiseFile(t, folder)
	if err := s.Confirm(t.Context(), "other", noon); err != nil {
		t.Fatal(err)
	}
	list, err := filepath.Glob(filepath.Join(folder, "promises", "*.json"))
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	for _, name := range list {
		if name != own {
			if err := os.Rename(name, own); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := s.Broken(t.Context(), "users"); !strings.Contains(got, "cannot be read") {
		t.Errorf("got %q", got)
	}
}

// A refusing is a state in which nothing can be written, and perhaps nothing be updated.
type refusing struct {
	state.Store
	updates bool
}

func (r refusing) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	if r.updates {
		return errRefused
	}
	return r.Store.Update(ctx, key, change)
}

func (refusing) Write(context.Context, string, []byte) error { return errRefused }

var errRefused = errors.New("refused")

// What cannot be written is an error that names the integration.
func TestRefused(t *testing.T) {
	dir, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.NewStore(dir).Save(t.Context(), recorded(subject, "{a}", noon)); err != nil {
		t.Fatal(err)
	}
	if err := trace.NewStore(refusing{dir, false}).Break(t.Context(), "users", "x", noon); !errors.Is(err, errRefused) {
		t.Errorf("its traces are not moved: got %v", err)
	}
	s := trace.NewStore(refusing{dir, true})
	for want, err := range map[string]error{
		`remembering a promise of "users": refused`: s.Break(t.Context(), "users", "x", noon),
		`remembering the trace of "users": refused`: s.Save(t.Context(), recorded(subject, "{a}", noon)),
	} {
		if !errors.Is(err, errRefused) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
