package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// LastCommit names the merge that brought a change of a path, and no commit at which a shallow
// clone ends.
func TestLastCommit(t *testing.T) {
	dir := commitAll(t, map[string]string{"a.txt": "one", "b.txt": "one"})
	hash := func(dir, revision string) string {
		c, err := OpenCommit(t.Context(), dir, revision)
		if err != nil {
			t.Fatal(err)
		}
		return c.Hash()
	}
	change := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		runGit(t, dir, "commit", "-q", "-a", "-m", text)
	}
	runGit(t, dir, "branch", "-q", "-M", "main")
	first := hash(dir, "HEAD")
	change("b.txt", "two")
	second := hash(dir, "HEAD")
	runGit(t, dir, "switch", "-q", "-c", "side", first)
	change("a.txt", "side")
	runGit(t, dir, "switch", "-q", "main")
	runGit(t, dir, "merge", "-q", "--no-ff", "-m", "merge", "side")
	merge := hash(dir, "HEAD")
	shallow := t.TempDir()
	runGit(t, shallow, "clone", "-q", "--depth", "2", "--branch", "main", "file://"+dir, "clone")
	shallow = filepath.Join(shallow, "clone")
	none := strings.Repeat("0", 40)
	for _, c := range []struct{ name, dir, after, path, want string }{
		{"the merge", dir, first, "a.txt", merge},
		{"a commit", dir, first, "b.txt", second},
		{"no change since", dir, second, "b.txt", ""},
		{"the first commit", dir, merge, "a.txt", ""},
		{"another path", dir, first, "c.txt", ""},
		{"the merge in a shallow clone", shallow, second, "a.txt", merge},
		{"a commit that is not there", shallow, none, "b.txt", ""},
	} {
		repo, err := FindRepository(t.Context(), c.dir)
		if err != nil {
			t.Fatal(err)
		}
		got, err := repo.LastCommit(t.Context(), c.after, merge, c.path)
		if got != c.want || (err != nil) != (c.after == none) {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
	}
	repo, err := FindRepository(t.Context(), shallow)
	if err != nil {
		t.Fatal(err)
	}
	runGit(t, shallow, "fetch", "-q", "--depth", "1", "origin", merge) // now the merge is where it ends
	runGit(t, shallow, "switch", "-q", "--orphan", "other")
	runGit(t, shallow, "commit", "-q", "--allow-empty", "-m", "other")
	if got, err := repo.LastCommit(t.Context(), hash(shallow, "HEAD"), merge, "a.txt"); got != "" || err != nil {
		t.Errorf("a commit at which the clone ends: got %q, %v", got, err)
	}
}
