package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A branch is rebased in a scratch as git rebase does it, and the repository has nothing of it.
func TestRebase(t *testing.T) {
	const text = "a\nb\nc\nd\ne\nf\ng\n"
	dir := commitAll(t, map[string]string{"f": text, "g": text, "data/x.yml": text})
	runGit(t, dir, "branch", "-q", "-M", "main")
	on := func(branch, from string, edits ...map[string]string) {
		runGit(t, dir, "checkout", "-q", "-B", branch, from)
		for _, files := range edits {
			for name, content := range files {
				at := filepath.Join(dir, filepath.FromSlash(name))
				if content == "" {
					runGit(t, dir, "rm", "-q", name)
					continue
				}
				if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			runGit(t, dir, "add", "-A")
			runGit(t, dir, "commit", "-q", "--allow-empty", "-m", branch)
		}
	}
	edited := func(line string) string { return strings.Replace(text, line+"\n", line+line+"\n", 1) }
	on("begin", "main")
	on("far", "begin", map[string]string{"f": edited("a")}, map[string]string{"g": edited("b")})
	on("near", "begin", map[string]string{"f": strings.Replace(text, "g\n", "h\n", 1)})
	on("moved", "begin", map[string]string{"data/x.yml": "", "data/y.yml": text})
	on("back", "begin", map[string]string{"f": "x"}, map[string]string{"f": text})
	on("same", "begin", map[string]string{"f": edited("g")})
	on("folder", "begin", map[string]string{"f": ""}, map[string]string{"f/a": text})
	on("merged", "far")
	runGit(t, dir, "merge", "-q", "--no-ff", "-m", "m", "moved")
	on("main", "begin", map[string]string{"f": edited("g")}, map[string]string{"data/x.yml": edited("d")})

	for _, c := range []struct{ branch, want string }{
		{"far", ""}, {"moved", ""}, {"back", "f"}, {"same", ""}, {"merged", ""}, {"main", ""}, {"near", "f"}, {"folder", "f"},
	} {
		before := runOut(t, dir, "count-objects", "-v") + runOut(t, dir, "for-each-ref")
		s, err := NewScratch(t.Context(), filepath.Join(t.TempDir(), "s"), dir)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Rebase(t.Context(), runOut(t, dir, "rev-parse", "main"), runOut(t, dir, "rev-parse", c.branch))
		if err != nil {
			t.Errorf("%s: %v", c.branch, err)
			continue
		}
		if after := runOut(t, dir, "count-objects", "-v") + runOut(t, dir, "for-each-ref"); after != before {
			t.Errorf("%s: the repository has %s, and had %s", c.branch, after, before)
		}
		if c.want != "" {
			if got.Commit != "" || len(got.Conflicts) == 0 || !slices.ContainsFunc(got.Conflicts,
				func(name string) bool { return strings.HasPrefix(name, c.want) }) {
				t.Errorf("%s: got %+v, want a conflict in %s", c.branch, got, c.want)
			}
			continue
		}
		made, err := OpenCommit(t.Context(), s.Dir(), got.Commit)
		if err != nil {
			t.Fatalf("%s: %+v, %v", c.branch, got, err)
		}
		runGit(t, dir, "checkout", "-q", "-B", "judge", c.branch)
		runGit(t, dir, "rebase", "-q", "main")
		if want := runOut(t, dir, "rev-parse", "HEAD^{tree}"); made.TreeID() != want {
			t.Errorf("%s: tree %s, and git rebase makes %s", c.branch, made.TreeID(), want)
		}
	}
}

// runOut returns what git prints.
func runOut(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := run(t.Context(), dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// What cannot be rebased is an error that says why.
func TestRebaseFails(t *testing.T) {
	dir := commitAll(t, map[string]string{"f": "1"})
	if _, err := NewScratch(t.Context(), t.TempDir(), t.TempDir()); err == nil {
		t.Error("a scratch beside no repository")
	}
	s, err := NewScratch(t.Context(), t.TempDir(), dir)
	if err != nil {
		t.Fatal(err)
	}
	head := runOut(t, dir, "rev-parse", "HEAD")
	for _, c := range [][2]string{{head, strings.Repeat("1", 40)}, {strings.Repeat("1", 40), head}, {head, "--help"}} {
		if got, err := s.Rebase(t.Context(), c[0], c[1]); err == nil {
			t.Errorf("%q: got %+v", c, got)
		}
	}
	runGit(t, dir, "checkout", "-q", "--orphan", "other")
	runGit(t, dir, "rm", "-q", "-r", "-f", ".")
	runGit(t, dir, "commit", "-q", "--allow-empty", "-m", "apart")
	if got, err := s.Rebase(t.Context(), head, runOut(t, dir, "rev-parse", "HEAD")); err == nil ||
		!strings.Contains(err.Error(), "fetch more") {
		t.Errorf("a branch without a common past: got %+v, %v", got, err)
	}
}
