package world

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// onDisk describes all that is in a folder: kinds, bytes, and whether files can be executed. A .git at its root is left
// out.
func onDisk(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, _ := filepath.Rel(dir, name)
		if below == ".git" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			fmt.Fprintf(&out, "%q folder\n", below)
		case info.Mode()&fs.ModeSymlink != 0:
			text, _ := os.Readlink(name)
			fmt.Fprintf(&out, "%q link %q\n", below, text)
		default:
			raw, err := os.ReadFile(name)
			fmt.Fprintf(&out, "%q %t %q %v\n", below, info.Mode()&0o100 != 0, raw, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// checkout is what git writes of a commit: a foreign judge.
func (r repository) checkout(revision string) string {
	r.t.Helper()
	dir := r.t.TempDir()
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	r.gitWith(env, "read-tree", revision)
	r.gitWith(env, "checkout-index", "-a", "-f", "--prefix="+filepath.Join(dir, "files")+"/")
	_ = os.MkdirAll(filepath.Join(dir, "files"), 0o755)
	return onDisk(r.t, filepath.Join(dir, "files"))
}

func TestKeepAndView(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			r := variedRepository(t, "--object-format="+format)
			k := keeper(t)
			tree := r.commitTree("HEAD")
			if want := r.git("rev-parse", "HEAD^{tree}"); tree.ID() != want {
				t.Errorf("id: got %s, want %s", tree.ID(), want)
			}
			if got := r.workTree(WorkTreeOptions{}); got.ID() != tree.ID() || len(got.Edited()) > 0 {
				t.Errorf("working tree: got %s, %q, want %s", got.ID(), got.Edited(), tree.ID())
			}
			kept := keep(t, k, tree)
			want := r.checkout("HEAD")
			if got := onDisk(t, kept.Folder()); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			for _, kind := range []ViewKind{Links, Copies} {
				view, err := kept.View(t.Context(), ViewOptions{Kind: kind})
				if err != nil {
					t.Fatal(err)
				}
				if got := onDisk(t, view.Root); got != want {
					t.Errorf("%v: got\n%s\nwant\n%s", kind, got, want)
				}
				if err := view.Close(); err != nil {
					t.Error(err)
				}
			}
			again := keep(t, k, tree)
			if again.dir != kept.dir {
				t.Errorf("kept twice: %s and %s", kept.dir, again.dir)
			}
		})
	}
}

func TestKeepOfEdits(t *testing.T) {
	r := variedRepository(t)
	k := keeper(t)
	keep(t, k, r.commitTree("HEAD"))
	r.write("a.txt", "edited")
	r.write("new/file", "new")
	r.remove("a0", "deep")
	want := r.treeOf()
	before := onDisk(t, r.dir)
	tree := r.workTree(WorkTreeOptions{Keeper: k})
	if tree.ID() != want {
		t.Errorf("got %s, want %s", tree.ID(), want)
	}
	r.write("a.txt", "edited again")
	r.remove("new")
	kept := keep(t, k, tree)
	if got := onDisk(t, kept.Folder()); got != before {
		t.Errorf("got\n%s\nwant\n%s", got, before)
	}
}
