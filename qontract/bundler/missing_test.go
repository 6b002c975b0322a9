package bundler_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundler"
)

// A repository without the folder of the resources has no resources, on disk and in a
// commit. Anything else with the name of the folder is still an error.
func TestMissingResources(t *testing.T) {
	files := shopFiles()
	for name := range files {
		if strings.HasPrefix(name, "resources/") {
			delete(files, name)
		}
	}
	dir := writeFiles(t, files)
	if _, err := os.Lstat(filepath.Join(dir, "resources")); err == nil {
		t.Fatal("the folder is there")
	}
	commitAll(t, dir)
	trees := map[string]bundler.Tree{"folder": bundler.Folder(dir), "work tree": bundler.OpenWorkTree(t.Context(), dir,
		nil), "commit": openCommit(t, dir, "HEAD")}
	for name, tree := range trees {
		in := newInput(tree)
		if _, _, err := bundler.Make(t.Context(), in, bundler.Options{}); err == nil {
			t.Errorf("%s: a folder that must be there may be missing", name)
		}
		in.Resources.Optional = true
		if out := string(makeBundle(t, in, bundler.Options{})); !strings.Contains(out, `"resources":{}`) {
			t.Errorf("%s: the bundle has resources: %s", name, out)
		}
		if _, err := bundler.Key(t.Context(), in); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, create := range map[string]func(path string) error{
		"a file":          func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"a dangling link": func(path string) error { return os.Symlink("nowhere", path) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := writeFiles(t, files)
			if err := create(filepath.Join(dir, "resources")); err != nil {
				t.Fatal(err)
			}
			commitAll(t, dir)
			for _, tree := range []bundler.Tree{bundler.Folder(dir), openCommit(t, dir, "HEAD")} {
				in := newInput(tree)
				in.Resources.Optional = true
				if _, _, err := bundler.Make(t.Context(), in, bundler.Options{}); err == nil {
					t.Errorf("%T: %s stands for a missing folder", tree, name)
				}
			}
		})
	}
}
