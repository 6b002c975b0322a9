package source_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/source"
)

// Folders count that git ignores, at any depth, if they have one of the names and can be written
// into the settings as they are.
func TestFindBuilt(t *testing.T) {
	root := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", root).CombinedOutput(); err != nil {
		t.Skipf("git: %v: %s", err, out)
	}
	for name, text := range map[string]string{
		".gitignore":                        ".venv/\nnode_modules/\n/out/\ntarget\n",
		".venv/a":                           "", // ignored
		"web/node_modules/b/node_modules/c": "", // the inner one lies in it
		"web/package.json":                  "",
		"a, b/.venv/c":                      "", // cannot stand in a list as it is
		"build/d":                           "", // not ignored
		"out/vendor/e":                      "", // in a folder that is ignored as a whole
		"target":                            "", // a file
	} {
		at := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := source.FindBuilt(t.Context(), root)
	if want := []string{".venv", "web/node_modules"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}
