package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Steps follow the branch: a merge is one step, from what the branch was.
func TestSteps(t *testing.T) {
	dir := commitAll(t, map[string]string{"a.txt": "1"})
	commit := func(name, message string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(message), 0o600); err != nil {
			t.Fatal(err)
		}
		runGit(t, dir, "add", "-A")
		runGit(t, dir, "commit", "-q", "-m", message)
	}
	open := func(revision string) *Commit {
		c, err := OpenCommit(t.Context(), dir, revision)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	runGit(t, dir, "branch", "-q", "-M", "main")
	first := open("main")
	runGit(t, dir, "checkout", "-q", "-b", "side")
	commit("b.txt", "side one")
	commit("b.txt", "side two")
	runGit(t, dir, "checkout", "-q", "main")
	t.Setenv("GIT_COMMITTER_DATE", "2024-02-03T04:05:06+0530")
	runGit(t, dir, "merge", "-q", "--no-ff", "-m", "Merge branch 'side'\n\ntwo lines\n", "side")
	merged := open("main")
	commit("c.txt", "direct")
	last := open("main")

	steps, err := last.Steps(t.Context(), first.Hash(), 10)
	if err != nil || len(steps) != 2 {
		t.Fatalf("got %d steps, %v; want 2", len(steps), err)
	}
	if s := steps[0]; s.Hash != last.Hash() || s.Parent != merged.Hash() || strings.TrimSpace(s.Message) != "direct" {
		t.Errorf("got %+v", s)
	}
	s := steps[1]
	if s.Hash != merged.Hash() || s.Parent != first.Hash() || !strings.Contains(s.Message, "\ntwo lines") {
		t.Errorf("got %+v", s)
	}
	if got, want := s.Made.Format(time.RFC3339), "2024-02-03T04:05:06+05:30"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if none, err := last.Steps(t.Context(), last.Hash(), 10); err != nil || len(none) != 0 {
		t.Errorf("got %v, %v; want nothing", none, err)
	}
	if _, err := last.Steps(t.Context(), first.Hash(), 1); err == nil || !strings.Contains(err.Error(), "more than 1 ") {
		t.Errorf("got %v for more commits than asked for", err)
	}
	if _, err := last.Steps(t.Context(), strings.Repeat("1", 40), 1); err == nil {
		t.Error("a commit that is not there is no error")
	}
	runGit(t, dir, "checkout", "-q", "--orphan", "other")
	commit("d.txt", "apart")
	if _, err := last.Steps(t.Context(), open("other").Hash(), 10); err == nil ||
		!strings.Contains(err.Error(), "fetch more") {
		t.Errorf("got %v for a commit that is none before it", err)
	}
}
