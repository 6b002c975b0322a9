package trace_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
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
	if got := s.Broken(t.Context(), "users"); got != "there are traces, but the note about the promise is gone" {
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
	want := trace.Promise{Version: trace.Version, Integration: "users", Kept: noon.Add(24 * time.Hour), Why: "x",
		Found: noon}
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
	if got := s.Broken(t.Context(), "users"); got != "a promise is noted, but the note cannot be read" {
		t.Errorf("got %q", got)
	}
}

// A refusing is a state that refuses one call.
type refusing struct {
	state.Store
	call string
}

func (r refusing) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	if r.call == "Update" {
		return errRefused
	}
	return r.Store.Update(ctx, key, change)
}

func (r refusing) Write(ctx context.Context, key string, raw []byte) error {
	if r.call == "Write" {
		return errRefused
	}
	return r.Store.Write(ctx, key, raw)
}

func (r refusing) List(ctx context.Context, folder string) ([]state.Entry, error) {
	if r.call == "List" {
		return nil, errRefused
	}
	return r.Store.List(ctx, folder)
}

func (r refusing) Discard(ctx context.Context, e state.Entry) error {
	if r.call == "Discard" {
		return errRefused
	}
	return r.Store.Discard(ctx, e)
}

var errRefused = errors.New("refused")

// What cannot be written or listed is an error. A list that cannot be had is no empty one.
func TestRefused(t *testing.T) {
	dir, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	save := func(s trace.Store, query string) error { return s.Save(t.Context(), recorded(subject, query, noon)) }
	for _, query := range []string{"{a}", "{b}", "{c}", "{d}"} {
		if err := save(trace.NewStore(dir), query); err != nil {
			t.Fatal(err)
		}
	}
	later := func(s trace.Store) error { // when the note of the promise is written again
		return s.Save(t.Context(), recorded(subject, "{a}", noon.Add(24*time.Hour)))
	}
	breaks := func(s trace.Store) error { return s.Break(t.Context(), "users", "x", noon) }
	for _, tt := range []struct {
		name, call, want string
		do               func(trace.Store) error
	}{
		{"save", "Write", `remembering the trace of "users": refused`, later},
		{"save", "Update", `remembering a promise of "users": refused`, later},
		{"save", "List", `refused`, later},
		{"save", "Discard", `refused`, func(s trace.Store) error { return save(s, "{e}") }},
		{"break", "Update", `remembering a promise of "users": refused`, breaks},
		{"break", "List", `refused`, breaks},
		{"break", "Write", `refused`, breaks},
	} {
		err := tt.do(trace.NewStore(refusing{dir, tt.call}))
		if !errors.Is(err, errRefused) || err.Error() != tt.want {
			t.Errorf("%s without %s: got %v, want %s", tt.name, tt.call, err, tt.want)
		}
	}
	lost := trace.NewStore(refusing{dir, "List"})
	if traces, ignored := lost.Load(t.Context(),
		subject); len(traces) != 0 || len(ignored) != 1 || ignored[0] != `the traces of "users" are not used: refused` {
		t.Errorf("got %v, %q", traces, ignored)
	}
	if got := lost.Broken(t.Context(), "never seen"); got == "" {
		t.Error("a promise counts although its traces are not known")
	}
}
