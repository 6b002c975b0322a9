package journal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/journal"
)

func tasks(ids ...string) *plan.Plan {
	p := &plan.Plan{Digest: "sha256:1"}
	for _, id := range ids {
		p.Tasks = append(p.Tasks, plan.Task{ID: id})
	}
	return p
}

// open opens a journal that is closed at the end of the test.
func open(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := journal.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestFileName(t *testing.T) {
	for out, want := range map[string]string{
		"": "logs/results.jsonl", "results.json": "results.jsonl", "a/b.json": "a/b.jsonl",
		"/dev/stdout": "logs/results.jsonl",
	} {
		if got := journal.FileName(out, "logs"); got != filepath.FromSlash(want) {
			t.Errorf("--out %q: got %q, want %q", out, got, want)
		}
	}
}

// A journal may be cut off at any byte. The results in it are still found, and so are
// results that are added afterwards.
func TestResumeAfterEveryCut(t *testing.T) {
	p := tasks("a", "b", "c")
	whole := filepath.Join(t.TempDir(), "whole.jsonl")
	f := open(t, whole)
	j, _, err := journal.Begin(f, p, false)
	if err != nil {
		t.Fatal(err)
	}
	said := plan.Result{Task: "a", Status: plan.Failed, Class: plan.ClassTask, Tail: "two\nlines, \xff and \"quotes\""}
	j.Add(said)
	j.Add(plan.Result{Task: "c", Status: plan.Canceled})
	j.Add(plan.Result{Task: "b", Status: plan.Passed})
	raw, err := os.ReadFile(whole)
	if err != nil || j.Err() != nil || strings.Count(string(raw), "\n") != 3 {
		t.Fatalf("got %q, %v, %v, want three lines", raw, err, j.Err())
	}
	most := 0
	for n := range len(raw) + 1 {
		name := filepath.Join(t.TempDir(), "cut.jsonl")
		if err := os.WriteFile(name, raw[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		f := open(t, name)
		j, found, err := journal.Begin(f, p, true)
		if err != nil || len(found) < most || len(found) > strings.Count(string(raw[:n]), "\n") {
			t.Fatalf("%d bytes: got %v, %v", n, found, err)
		}
		most = len(found)
		j.Add(plan.Result{Task: "c", Status: plan.TimedOut})
		_ = f.Close()
		_, again, err := journal.Begin(open(t, name), p, true)
		if err != nil || len(again) != len(found)+1 || again["c"].Status != plan.TimedOut {
			t.Fatalf("%d bytes, and one line more: got %v, %v", n, again, err)
		}
	}
	if most != 2 {
		t.Errorf("got %d results of all of it, want 2", most)
	}
}

func TestOneRunAtATime(t *testing.T) {
	name := filepath.Join(t.TempDir(), "logs", "results.jsonl")
	first := open(t, name)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if f, err := journal.Open(ctx, name); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, %v, want that it waits", f, err)
	}
	// A run that waited does not continue with a file that was removed meanwhile.
	second := make(chan *os.File)
	go func() {
		f, err := journal.Open(context.Background(), name)
		if err != nil {
			t.Error(err)
		}
		second <- f
	}()
	time.Sleep(20 * time.Millisecond)
	journal.RemoveEmpty(first)
	_ = first.Close()
	f := <-second
	defer f.Close()
	opened, err := f.Stat()
	named, err2 := os.Stat(name)
	if err != nil || err2 != nil || !os.SameFile(opened, named) {
		t.Errorf("it has another file than %s (%v, %v)", name, err, err2)
	}
}

// Only a regular file is opened: a link could lead to any file.
func TestOnlyRegularFiles(t *testing.T) {
	dir := t.TempDir()
	precious := filepath.Join(dir, "precious")
	if err := os.WriteFile(precious, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink(precious, filepath.Join(dir, "link")),
		os.Mkdir(filepath.Join(dir, "folder"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "folder", "/dev/null"} {
		if name != "/dev/null" {
			name = filepath.Join(dir, name)
		}
		if f, err := journal.Open(t.Context(), name); err == nil {
			t.Errorf("%s was opened", name)
			_ = f.Close()
		}
	}
	if _, _, err := journal.Begin(open(t, precious), tasks("a"), false); err == nil {
		t.Error("a file that is no journal was taken")
	}
	if raw, err := os.ReadFile(precious); err != nil || string(raw) != "keep" {
		t.Errorf("got %q, %v", raw, err)
	}
}

// An error of writing is kept, and nothing is written after it.
func TestWriteError(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "x.jsonl"))
	j, _, err := journal.Begin(f, tasks("a"), false)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	j.Add(plan.Result{Task: "a", Status: plan.Passed})
	if err := j.Err(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v, want that the file is closed", err)
	}
}

// A line that no run can have written is ignored. Otherwise the results would be invalid,
// or a failure would count as the same on base without a run on base.
func TestImpossibleResultsAreIgnored(t *testing.T) {
	for line, want := range map[string]int{
		`{"task":"a","status":"passed","exit_code":0,"attempts":1}`:                       1,
		`{"task":"a","status":"failed","class":"task","exit_code":7,"attempts":1}`:        1,
		`{"task":"a","status":"passed","class":"task","exit_code":0}`:                     0,
		`{"task":"a","status":"passed","exit_code":7}`:                                    0,
		`{"task":"a","status":"failed","class":"mine"}`:                                   0,
		`{"task":"a","status":"failed","class":"baseline","baseline":{"finding":"as I"}}`: 0,
		`{"task":"a","status":"failed","class":"task","waited_seconds":-1,"attempts":1}`:  0,
		`{"task":"a","status":"failed","class":"task","before":[{"status":"failed"}]}`:    0,
	} {
		name := filepath.Join(t.TempDir(), "x.jsonl")
		f := open(t, name)
		if _, _, err := journal.Begin(f, tasks("a"), false); err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(line + "\n"); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		if _, found, err := journal.Begin(open(t, name), tasks("a"), true); err != nil || len(found) != want {
			t.Errorf("%s: got %v, %v, want %d", line, found, err, want)
		}
	}
}

// Attempts before a mark are remembered, attempts after it are not.
func TestRememberedAttempts(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.jsonl")
	p := tasks("a", "b")
	for i, c := range []struct {
		remembered string
		add        []plan.Result
		mark       bool
	}{
		{"map[]", []plan.Result{{Task: "a", Status: plan.Passed, Attempts: 2}}, true},
		{"map[a:2]", []plan.Result{{Task: "a", Status: plan.Passed, Attempts: 3},
			{Task: "b", Status: plan.Passed, Attempts: 1}}, false},
		{"map[a:2]", nil, true},
		{"map[a:3 b:1]", nil, true},
		{"map[a:3 b:1]", nil, false},
	} {
		f := open(t, name)
		j, _, err := journal.Begin(f, p, true)
		if err != nil || fmt.Sprint(j.RememberedAttempts()) != c.remembered {
			t.Fatalf("run %d: got %v, %v, want %s", i, j.RememberedAttempts(), err, c.remembered)
		}
		for _, r := range c.add {
			j.Add(r)
		}
		if c.mark {
			j.MarkRemembered()
		}
		_ = f.Close()
	}
}

func FuzzBegin(f *testing.F) {
	f.Add([]byte(`{"version":"prcheck/v1","plan":"sha256:1","tasks":"x"}` + "\n" + `{"task":"a","status":"passed"}` +
		"\n"))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		name := filepath.Join(t.TempDir(), "x.jsonl")
		if err := os.WriteFile(name, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		_, found, err := journal.Begin(open(t, name), tasks("a"), true)
		if err != nil && len(found) > 0 {
			t.Errorf("got %v with %v", found, err)
		}
		if now, _ := os.ReadFile(name); err != nil && string(now) != string(raw) {
			t.Errorf("a journal that cannot be used was changed from %q to %q", raw, now)
		}
	})
}
