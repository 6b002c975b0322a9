package world

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestBehindSubmodule names a file of a submodule through a link to the submodule.
func TestBehindSubmodule(t *testing.T) {
	inner := newRepository(t)
	inner.write("tools/run.py", "1")
	inner.commit()
	r := newRepository(t)
	r.git("submodule", "--quiet", "add", inner.dir, "sub")
	r.link("lib", "sub")
	r.commit()
	for _, tree := range []*Tree{r.workTree(WorkTreeOptions{}), r.commitTree("HEAD")} {
		got, ok := tree.Behind()
		if want := []string{"lib/tools/run.py"}; !ok || !slices.Equal(got["sub/tools/run.py"], want) {
			t.Errorf("got %q, %v, want %q", got, ok, want)
		}
	}
}

// TestSubmoduleWithoutRepository has files in the place of a submodule, of which git knows nothing.
func TestSubmoduleWithoutRepository(t *testing.T) {
	inner := newRepository(t)
	inner.commit()
	r := newRepository(t)
	r.git("submodule", "--quiet", "add", inner.dir, "sub")
	r.commit()
	r.remove("sub")
	r.write("sub/x", "1")
	if tree, err := OfWorkTree(t.Context(), r.dir, WorkTreeOptions{}); err == nil {
		t.Errorf("got %v, want an error", tree.Files())
	}
}

// TestUntrackedRepository edits a file in a repository that git does not track. Its files count as those of any folder.
func TestUntrackedRepository(t *testing.T) {
	r := newRepository(t)
	r.write("a.txt", "a")
	r.commit()
	inner := repository{t, filepath.Join(r.dir, "inner")}
	if err := os.Mkdir(inner.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	inner.git("init", "-q")
	inner.write("x", "1")
	inner.commit()
	clean := r.workTree(WorkTreeOptions{}).ID()
	inner.write("x", "2")
	if id := r.workTree(WorkTreeOptions{}).ID(); len(id) != 40 || id == clean {
		t.Errorf("got the id %q, and %q before the edit", id, clean)
	}
}

func TestSubmodules(t *testing.T) {
	inner := newRepository(t)
	inner.write("lib.py", "1")
	inner.link("l", "lib.py")
	inner.commit()
	first := inner.git("rev-parse", "HEAD")
	r := newRepository(t)
	r.write("a.txt", "a")
	r.git("submodule", "--quiet", "add", inner.dir, "sub")
	r.commit()
	base := r.git("rev-parse", "HEAD")
	names := func(tree *Tree) string {
		var out []string
		for _, f := range tree.Files() {
			out = append(out, f.Path)
		}
		return strings.Join(out, " ")
	}
	const all = ".gitmodules a.txt sub sub/l sub/lib.py"
	check := func(what string, tree *Tree, wantNames, wantEdited string) {
		t.Helper()
		if got, edited := names(tree), strings.Join(tree.Edited(), " "); got != wantNames || edited != wantEdited {
			t.Errorf("%s: got %s; %s, want %s; %s", what, got, edited, wantNames, wantEdited)
		}
	}
	clean := r.workTree(WorkTreeOptions{})
	check("clean", clean, all, "")
	check("commit", r.commitTree(base), all, "")
	if want := r.git("rev-parse", base+"^{tree}"); clean.ID() != want || r.commitTree(base).ID() != want ||
		clean.key() != r.commitTree(base).key() {
		t.Errorf("got %s, %s, want %s", clean.ID(), r.commitTree(base).ID(), want)
	}
	k := keeper(t)
	if got, want := onDisk(t, keep(t, k, clean).Folder()), onDisk(t, r.dir); !strings.Contains(want, got[:10]) ||
		!strings.Contains(got, `"sub/lib.py" false "1"`) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	r.write("sub/lib.py", "2")
	r.write("sub/new.py", "new")
	dirty := r.workTree(WorkTreeOptions{Keeper: k})
	check("edited", dirty, all+" sub/new.py", "sub sub/lib.py sub/new.py")
	if dirty.ID() == clean.ID() {
		t.Error("an edit in a submodule does not change the id")
	}
	keep(t, k, dirty)
	repository{t, r.dir + "/sub"}.commit()
	check("other commit", r.workTree(WorkTreeOptions{}), all+" sub/new.py", "sub sub/lib.py sub/new.py")
	if tree := r.workTree(WorkTreeOptions{}); tree.ID() != r.treeOf() {
		t.Errorf("other commit: got %s, want %s", tree.ID(), r.treeOf())
	}
	r.commit()
	check("base beside another commit", r.commitTree(base), all, "")
	r.git("rm", "-q", "-f", "sub")
	r.commit()
	check("base after a removal", r.commitTree(base), all, "")
	if f, _, _ := r.commitTree(base).Lookup("sub"); f.ID != first {
		t.Errorf("got %s, want %s", f.ID, first)
	}
	must(t, os.RemoveAll(r.dir+"/.git/modules/sub"))
	must(t, os.MkdirAll(r.dir+"/.git/modules/other", 0o755))
	if lost := r.commitTree(base); lost.trouble == "" {
		t.Error("a submodule that is not here is no trouble")
	} else if _, err := k.Keep(t.Context(), lost); err == nil || !strings.Contains(err.Error(), "submodule") {
		t.Errorf("got %v", err)
	}
	clone := repository{t, filepath.Join(filepath.Dir(r.dir), "clone")}
	r.git("clone", "-q", r.dir, clone.dir)
	clone.git("checkout", "-q", base)
	check("not checked out", clone.workTree(WorkTreeOptions{}), ".gitmodules a.txt sub", "")
	check("not checked out", clone.commitTree(base), ".gitmodules a.txt sub", "")
	if got := onDisk(t, keep(t, k, clone.commitTree(base)).Folder()); !strings.Contains(got, `"sub" folder`) {
		t.Errorf("got %s", got)
	}
}

func TestNestedRepository(t *testing.T) {
	r := variedRepository(t)
	r.git("init", "-q", "nested")
	inner := repository{t, r.dir + "/nested"}
	inner.write("x", "x")
	inner.commit()
	inner.write("y", "y")
	tree := r.workTree(WorkTreeOptions{Leave: func(path string) bool { return path == "nested/y" || path == "gone" }})
	if got := strings.Join(tree.Edited(), " "); got != "nested/x" {
		t.Errorf("got %s", got)
	}
	keep(t, keeper(t), tree)
}
