package git

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Names are taken as they are: none is a pattern, an option or a pathspec. Submodules and links do
// not matter, nor does whether something lies there.
func TestListIgnoredPaths(t *testing.T) {
	repo, files := t.TempDir(), t.TempDir()
	if _, err := run(context.Background(), repo, "init", "-q"); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		filepath.Join(repo, ".git/info/exclude"): "everywhere\n",
		filepath.Join(repo, ".gitignore"):        "*\n", // not that of the files
		filepath.Join(files, ".gitignore"):       "/build/\n*.local\n!kept.local\n",
		filepath.Join(files, "sub/.gitignore"):   "only-here\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"build", "build/a/b", "a.local", ":(top)b.local", "-x.local", "n\nl.local", "[a].local",
		"sub/only-here", "everywhere"}
	not := []string{"kept.local", "only-here", ":(top)b", "*", "a", "builds", "sub/build", ":/", "local"}
	got, err := ListIgnoredPaths(context.Background(), repo, files, append(not, want...))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q, %v", got, want, err)
	}
	if got, err := ListIgnoredPaths(context.Background(), repo, files, not); err != nil || len(got) > 0 {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := ListIgnoredPaths(context.Background(), t.TempDir(), files, want); err == nil ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("without a repository: got %v", err)
	}
}

// Paths lead through links to files; links that lead nowhere, outside or in circles do not.
func TestHasFilesBehindLinks(t *testing.T) {
	dir := commitAll(t, map[string]string{"tools/run.sh": "1", "tools/sub dir/a b": "2"})
	for name, target := range map[string]string{"linked": "tools", "far": "linked/sub dir", "out": "/etc",
		"gone": "nowhere\nblob", "a": "b", "b": "a"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	runGit(t, dir, "add", "-A")
	runGit(t, dir, "commit", "-q", "-m", "links")
	c, err := OpenCommit(context.Background(), dir, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{"gone/x", "linked/run.sh", "out/passwd", "a/x", "linked/run.sh/x", "far/a b", "linked/no", "linked",
		"tools/run.sh", "tools", "no", "linked/sub dir"}
	got, err := c.HasFiles(context.Background(), paths)
	want := []bool{false, true, false, false, false, true, false, true, true, false, false, false}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v, %v", got, want, err)
	}
}
