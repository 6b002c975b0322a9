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
	want := []string{"build", "build/a/b", "a.local", ":(top)b.local", "-x.local", "n\nl.local", "[a].local", "sub/only-here", "everywhere"}
	not := []string{"kept.local", "only-here", ":(top)b", "*", "a", "builds", "sub/build", ":/", "local"}
	got, err := ListIgnoredPaths(context.Background(), repo, files, append(not, want...))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q, %v", got, want, err)
	}
	if got, err := ListIgnoredPaths(context.Background(), repo, files, not); err != nil || len(got) > 0 {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := ListIgnoredPaths(context.Background(), t.TempDir(), files, want); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("without a repository: got %v", err)
	}
}
