package world

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOfWorkTree edits a working tree in many ways. The id is what git makes of it when everything is added, and the
// edited files are those that git tells of.
func TestOfWorkTree(t *testing.T) {
	for name, edit := range map[string]func(r repository){
		"nothing":        func(repository) {},
		"edit":           func(r repository) { r.write("a.txt", "b\n") },
		"same size":      func(r repository) { r.write("a.txt", "c\n") },
		"new":            func(r repository) { r.write("new/deep/file", "x"); r.write("\xffnew\n", "") },
		"deleted":        func(r repository) { r.remove("a.txt", "deep") },
		"mode":           func(r repository) { r.chmod("a.txt", 0o755); r.chmod("program.sh", 0o644) },
		"file to link":   func(r repository) { r.remove("a.txt"); r.link("a.txt", "a0") },
		"link to file":   func(r repository) { r.remove("link"); r.write("link", "a.txt") },
		"file to folder": func(r repository) { r.remove("a.txt"); r.write("a.txt/x", "1") },
		"folder to file": func(r repository) { r.remove("a.d"); r.write("a.d", "1") },
		"folder to link": func(r repository) {
			r.remove("moved")
			r.git("mv", "deep", "moved")
			r.link("deep", "moved")
		},
		"moved aside": func(r repository) {
			must(r.t, os.Rename(r.dir+"/deep", r.dir+"/moved"))
			r.link("deep", "moved")
		},
		"retargeted link": func(r repository) { r.remove("link"); r.link("link", "a0") },
		"announced": func(r repository) {
			r.write("new", "x")
			r.write("empty", "")
			r.git("add", "-N", "new", "empty")
		},
		"announced again": func(r repository) {
			r.git("rm", "-q", "--cached", "a.txt")
			r.git("add", "-N", "a.txt")
		},
		"staged": func(r repository) {
			r.write("a.txt", "s")
			r.git("add", "a.txt")
			r.write("a.txt", "t")
		},
		"staged and back": func(r repository) {
			r.write("a.txt", "s")
			r.git("add", "a.txt")
			r.write("a.txt", "a\n")
		},
		"staged deletion":         func(r repository) { r.git("rm", "-q", "--cached", "a.txt") },
		"staged deletion, edited": func(r repository) { r.git("rm", "-q", "--cached", "a.txt"); r.write("a.txt", "x") },
		"staged new, gone":        func(r repository) { r.write("new", "x"); r.git("add", "new"); r.remove("new") },
		"renamed":                 func(r repository) { r.git("mv", "a.txt", "A.txt") },
		"staged mode":             func(r repository) { r.git("update-index", "--chmod=+x", "a.txt") },
		"conflict": func(r repository) {
			r.git("checkout", "-q", "-b", "other")
			r.write("a.txt", "other\n")
			r.remove("a0")
			r.commit()
			r.git("checkout", "-q", "-")
			r.write("a.txt", "mine\n")
			r.write("a0", "mine")
			r.commit()
			r.gitWith([]string{"LC_ALL=C"}, "-c", "alias.m=!git merge other >/dev/null 2>&1 || true", "m")
		},
		"same mtime": func(r repository) { sameTime(r, "a.txt", "c\n") },
		"no checkstat": func(r repository) {
			r.git("config", "core.checkStat", "minimal")
			r.git("config", "core.trustctime", "false")
		},
		"no filemode": func(r repository) {
			r.git("config", "core.fileMode", "false")
			r.chmod("a.txt", 0o755)
			r.write("n", "")
			r.chmod("n", 0o755)
		},
		"empty": func(r repository) { r.git("rm", "-q", "-r", "."); r.remove("untracked") },
		"fifo": func(r repository) {
			r.write(".gitignore", "ignored\n")
			r.write("ignored", "x")
			r.write("d/ignored/y", "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := variedRepository(t)
			edit(r)
			k := keeper(t)
			tree := r.workTree(WorkTreeOptions{Keeper: k})
			if want := r.treeOf(); tree.ID() != want {
				t.Errorf("got %s, want %s: %v", tree.ID(), want, tree.Files())
			}
			if named := r.workTree(WorkTreeOptions{Names: r.names}); named.ID() != tree.ID() ||
				!slices.Equal(named.Edited(), tree.Edited()) {
				t.Errorf("with names: got %s, %q", named.ID(), named.Edited())
			}
			want := strings.Split(r.git("-c", "core.quotePath=false", "diff", "--name-only", "--no-renames", "-z",
				"HEAD"), "\x00")
			want = append(want, strings.Split(r.git("ls-files", "--others", "--exclude-standard", "-z"), "\x00")...)
			want = slices.DeleteFunc(want, func(s string) bool { return s == "" })
			slices.Sort(want)
			if want = slices.Compact(want); name == "announced again" || name == "staged deletion" {
				want = []string{} // its bytes are those of HEAD
			}
			if name == "same mtime" {
				want = []string{"a.txt"} // git does not see it
			}
			if !slices.Equal(tree.Edited(), want) {
				t.Errorf("edited: got %q, want %q", tree.Edited(), want)
			}
			if got := Diff(r.commitTree("HEAD"), tree); !slices.Equal(got, tree.Edited()) {
				t.Errorf("diff: got %q, want %q", got, tree.Edited())
			}
			if strings.Contains(name, "folder") || name == "moved aside" || name == "no filemode" || name == "fifo" {
				return // empty folders, ignored files and other modes are on disk, but not in the tree
			}
			if got, want := onDisk(t, keep(t, k, tree).Folder()), onDisk(t, r.dir); got != want {
				t.Errorf("kept: got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// names lists all that is in the working tree and no folder.
func (r repository) names() (out []string, err error) {
	err = filepath.WalkDir(r.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if below, _ := filepath.Rel(r.dir, name); !strings.HasPrefix(below, ".git"+string(filepath.Separator)) {
			out = append(out, filepath.ToSlash(below))
		}
		return nil
	})
	return out, err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sameTime writes a file, and sets the time of its last change back.
func sameTime(r repository, name, text string) {
	r.t.Helper()
	at := filepath.Join(r.dir, name)
	info, err := os.Lstat(at)
	must(r.t, err)
	r.write(name, text)
	must(r.t, os.Chtimes(at, info.ModTime(), info.ModTime()))
	must(r.t, os.Chtimes(filepath.Join(r.dir, ".git", "index"), info.ModTime().Add(1e9), info.ModTime().Add(1e9)))
}

// TestHiddenEdits edits files that git was told not to look at.
func TestHiddenEdits(t *testing.T) {
	r := variedRepository(t)
	r.git("update-index", "--assume-unchanged", "a.txt", "a0", "deep/er/and/deeper")
	r.git("update-index", "--skip-worktree", "a.d/x", "with blank/a b", "broken")
	r.write("a.txt", "hidden")
	r.write("a.d/x", "hidden")
	r.remove("deep", "with blank", "broken")
	tree := r.workTree(WorkTreeOptions{})
	want := []string{"a.d/x", "a.txt", "deep/er/and/deeper"}
	if !slices.Equal(tree.Edited(), want) || !slices.Equal(tree.Hidden(), want) {
		t.Errorf("got %q and %q, want %q", tree.Edited(), tree.Hidden(), want)
	}
	if _, kind, _ := tree.Lookup("with blank/a b"); kind != Regular {
		t.Error("a file that is left out of the working tree is not in the tree")
	}
	if steps := tree.Resolve("broken"); len(steps) != 2 || steps[1].Path != "nowhere" {
		t.Errorf("a link that is left out: got %v", steps)
	}
}

func TestSparseCheckout(t *testing.T) {
	r := variedRepository(t)
	r.git("sparse-checkout", "set", "--cone", "a")
	if _, err := os.Lstat(filepath.Join(r.dir, "deep")); err == nil {
		t.Fatal("the checkout is not sparse")
	}
	tree, k := r.workTree(WorkTreeOptions{}), keeper(t)
	if want := r.git("rev-parse", "HEAD^{tree}"); tree.ID() != want || len(tree.Edited()) > 0 {
		t.Errorf("got %s, %q, want %s", tree.ID(), tree.Edited(), want)
	}
	kept := keep(t, k, tree)
	if got, want := onDisk(t, kept.Folder()), r.checkout("HEAD"); !strings.Contains(got, "deeper") {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	view, err := kept.View(t.Context(), ViewOptions{Kind: Copies})
	must(t, err)
	if got := runIn(t, view, "git status --porcelain"); got != "" {
		t.Errorf("got %q", got)
	}
	must(t, view.Close())
}

func TestLinkedWorkTreeAndShallowClone(t *testing.T) {
	r := variedRepository(t)
	r.write("a.txt", "second")
	r.commit()
	linked := repository{t, filepath.Join(filepath.Dir(r.dir), "linked")}
	r.git("worktree", "add", "-q", "--detach", linked.dir, "HEAD")
	shallow := repository{t, filepath.Join(filepath.Dir(r.dir), "shallow")}
	r.git("clone", "-q", "--depth=1", "file://"+r.dir, shallow.dir)
	for _, one := range []repository{linked, shallow} {
		tree := one.commitTree("HEAD")
		if want := one.git("rev-parse", "HEAD^{tree}"); tree.ID() != want ||
			one.workTree(WorkTreeOptions{}).ID() != want || tree.Root() != one.dir {
			t.Errorf("got %s in %s, want %s in %s", tree.ID(), tree.Root(), want, one.dir)
		}
		kept := keep(t, keeper(t), tree)
		for _, kind := range viewKinds(t, kept) {
			view, err := kept.View(t.Context(), ViewOptions{Kind: kind})
			must(t, err)
			if got, want := runIn(t, view, "git log --format=%H; git status --porcelain; git fsck 2>&1"),
				one.git("log", "--format=%H"); got != want {
				t.Errorf("%s, %v: got %q, want %q", one.dir, kind, got, want)
			}
			must(t, view.Close())
		}
	}
	if _, err := OfCommit(t.Context(), shallow.dir, "HEAD~1"); err == nil {
		t.Error("a commit that is not here has a tree")
	}
}

func TestEmptyRepositories(t *testing.T) {
	r := newRepository(t)
	if _, err := OfWorkTree(t.Context(), r.dir, WorkTreeOptions{}); err == nil ||
		!strings.Contains(err.Error(), "no commit yet") {
		t.Errorf("got %v", err)
	}
	r.commit()
	tree := r.workTree(WorkTreeOptions{})
	if want := r.git("rev-parse", "HEAD^{tree}"); tree.ID() != want || r.commitTree("HEAD").ID() != want {
		t.Errorf("got %s, want %s", tree.ID(), want)
	}
	kept := keep(t, keeper(t), tree)
	view, err := kept.View(t.Context(), ViewOptions{Kind: Copies})
	must(t, err)
	if got := runIn(t, view, "ls; git status --porcelain"); got != "" {
		t.Errorf("got %q", got)
	}
	must(t, view.Close())
}

// TestLargeEdit stores an edited file that is not read as a whole. The kept bytes are those of the time when the tree
// was read.
func TestLargeEdit(t *testing.T) {
	r := newRepository(t)
	large := strings.Repeat("0123456\n", maxInMemory/8+1)
	r.write("large", large)
	r.commit()
	r.write("large", large+"1")
	k := keeper(t)
	for range 2 { // the second time its bytes are stored
		r.workTree(WorkTreeOptions{Keeper: k})
	}
	tree := r.workTree(WorkTreeOptions{Keeper: k})
	if want := r.treeOf(); tree.ID() != want {
		t.Errorf("got %s, want %s", tree.ID(), want)
	}
	r.write("large", large+"2")
	raw, err := os.ReadFile(filepath.Join(keep(t, k, tree).Folder(), "large"))
	if err != nil || string(raw) != large+"1" {
		t.Errorf("got %d bytes, %v, with the end %q", len(raw), err, raw[max(len(raw)-1, 0):])
	}
	if left, _ := filepath.Glob(filepath.Join(k.Dir, "new-*")); len(left) != 0 || len(k.blobs()) != 1 {
		t.Errorf("got %q and %d stored contents", left, len(k.blobs()))
	}
}
