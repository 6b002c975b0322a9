package world

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// viewKinds lists the kinds of views that work here.
func viewKinds(t *testing.T, kept *Kept) []ViewKind {
	t.Helper()
	kinds := []ViewKind{Copies}
	if os.Geteuid() != 0 {
		return append(kinds, Links)
	}
	if kept.canOverlay() {
		return append(kinds, Overlay)
	}
	t.Log("overlays do not work here")
	return kinds
}

// runIn runs a shell script in a world, and returns what it prints.
func runIn(t *testing.T, view *View, script string) string {
	t.Helper()
	type result struct {
		out []byte
		err error
	}
	done := make(chan result)
	go func() {
		if view.Enter != nil {
			runtime.LockOSThread()
			if err := view.Enter(); err != nil {
				done <- result{nil, err}
				return
			}
		}
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir = view.Root
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@x",
			"GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@x")
		out, err := cmd.CombinedOutput()
		done <- result{out, err}
	}()
	r := <-done
	if r.err != nil {
		t.Fatalf("%s: %v\n%s", script, r.err, r.out)
	}
	return strings.TrimSuffix(string(r.out), "\n")
}

func TestViews(t *testing.T) {
	r := variedRepository(t)
	r.write(".gitignore", "venv\nout.bin\nkept\n")
	r.commit()
	r.git("branch", "other")
	r.git("remote", "add", "origin", "https://user:secret@example.com/x.git")
	base := r.git("rev-parse", "HEAD")
	r.write("venv/bin/tool", "tool")
	r.write("out.bin", "output")
	r.write("a.txt", "head")
	r.commit()
	k := keeper(t)
	kept := keep(t, k, r.commitTree(base))
	extras := []Extra{{"venv", filepath.Join(r.dir, "venv")}, {"new/out.bin", filepath.Join(r.dir, "out.bin")},
		{"a.txt", filepath.Join(r.dir, "out.bin")}, {"gone", "/gone"}}
	before := onDisk(t, r.dir)
	for _, kind := range viewKinds(t, kept) {
		t.Run(kind.String(), func(t *testing.T) {
			view, err := kept.View(t.Context(), ViewOptions{Kind: kind, Extras: extras})
			if err != nil {
				t.Fatal(err)
			}
			if isAtCheckout := view.Root == r.dir; isAtCheckout != (kind == Overlay) {
				t.Errorf("root is %s", view.Root)
			}
			for script, want := range map[string]string{
				"cat a.txt venv/bin/tool new/out.bin":                   "a\ntooloutput",
				"test ! -e gone; pwd":                                   view.Root,
				"git rev-parse HEAD other":                              base + "\n" + base,
				"git config remote.origin.url":                          "https://example.com/x.git",
				"git log --format=%H":                                   r.git("log", "--format=%H", base),
				"git ls-files | wc -l | tr -d ' '":                      "20",
				"git fsck 2>&1 | grep -v '^dangling\\|^notice' || true": "",
			} {
				if kind == Overlay { // a view is entered once
					if view, err = kept.View(t.Context(), ViewOptions{Kind: kind, Extras: extras}); err != nil {
						t.Fatal(err)
					}
				}
				if got := runIn(t, view, script); got != want {
					t.Errorf("%s: got %q, want %q", script, got, want)
				}
				if kind == Overlay {
					if err := view.Close(); err != nil {
						t.Error(err)
					}
				}
			}
			if kind != Overlay {
				if err := view.Close(); err != nil {
					t.Error(err)
				}
			}
			if err := kept.check(); err != nil {
				t.Error(err)
			}
		})
	}
	if after := onDisk(t, r.dir); after != before {
		t.Errorf("the checkout changed: got\n%s\nwant\n%s", after, before)
	}
}

// TestGitInViews does in a world what a task may do with git, and looks whether the repository stays as it was.
func TestGitInViews(t *testing.T) {
	r := variedRepository(t)
	kept := keep(t, keeper(t), r.commitTree("HEAD"))
	repositoryFiles := func() string { return onDisk(t, filepath.Join(r.dir, ".git")) }
	before := repositoryFiles()
	for _, kind := range viewKinds(t, kept) {
		view, err := kept.View(t.Context(), ViewOptions{Kind: kind})
		if err != nil {
			t.Fatal(err)
		}
		out := runIn(t, view, `git status --porcelain
			git checkout -q -b mine; rm a.txt; echo new > a.txt; mkdir -p sub; echo x > sub/x; git add -A
			git commit -qm mine
			git tag v1; git config user.name me; git branch -D master main >/dev/null 2>&1 || true
			git gc -q --prune=now; git update-ref refs/heads/zz HEAD; git stash list; git reset -q --hard HEAD~1; git reflog expire --all --expire=now
			git prune --expire=now; git push -q nowhere HEAD 2>/dev/null || echo refused; cat a.txt
			mv a.d moved; mkdir -m 0 closed; test -d moved`)
		if want := "refused\na"; out != want {
			t.Errorf("%v: got %q, want %q", kind, out, want)
		}
		if err := view.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(view.dir); err == nil {
			t.Errorf("%v: the view is still there", kind)
		}
		if after := repositoryFiles(); after != before {
			t.Errorf("%v: the repository changed: got\n%s\nwant\n%s", kind, after, before)
		}
	}
	if err := kept.check(); err != nil {
		t.Error(err)
	}
}

// TestCopiesOfDamage makes copies while a task with links writes into a kept file.
func TestCopiesOfDamage(t *testing.T) {
	r := variedRepository(t)
	kept := keep(t, keeper(t), r.commitTree("HEAD"))
	links, err := kept.View(t.Context(), ViewOptions{Kind: Links})
	must(t, err)
	runIn(t, links, "chmod u+w a.txt; echo damaged >>a.txt")
	if copies, err := kept.View(t.Context(), ViewOptions{Kind: Copies}); err == nil {
		t.Errorf("got %q", runIn(t, copies, "cat a.txt"))
	}
	if err := links.Close(); err == nil {
		t.Error("the damage was not found")
	}
}

// TestOddPaths makes views of a checkout whose path, and whose keeper, have bytes that mean something to mount.
func TestOddPaths(t *testing.T) {
	r := variedRepository(t)
	r.write(".gitignore", "o:d,d\n")
	r.commit()
	odd := repository{t, filepath.Join(filepath.Dir(r.dir), `che:ck,o\ut = "x" #`)}
	must(t, os.Rename(r.dir, odd.dir))
	odd.write("o:d,d/x", "extra")
	k := keeper(t)
	k.Dir = filepath.Join(filepath.Dir(k.Dir), `wor:l,d\s "`, "worlds-1")
	kept := keep(t, k, odd.commitTree("HEAD"))
	for _, kind := range viewKinds(t, kept) {
		v, err := kept.View(t.Context(), ViewOptions{Kind: kind,
			Extras: []Extra{{"o:d,d", filepath.Join(odd.dir, "o:d,d")}, {"q/o:d,d", filepath.Join(odd.dir, "o:d,d")}}})
		must(t, err)
		got := runIn(t, v, "cat o:d,d/x q/o:d,d/x a.txt; git log --format=%s | head -n 1")
		if got != "extraextraa\na commit" {
			t.Errorf("%v: got %q", kind, got)
		}
		must(t, v.Close())
	}
	for _, e := range []Extra{{"../x", "/tmp"}, {"/x", "/tmp"}, {".git/x", "/tmp"}, {"x", "tmp"}, {"", "/tmp"}} {
		if v, err := kept.View(t.Context(), ViewOptions{Kind: Copies, Extras: []Extra{e}}); err == nil {
			t.Errorf("%v: got a view", e)
			must(t, v.Close())
		}
	}
}

// TestCheckoutIsGone makes a view of a tree whose checkout this machine does not have any more.
func TestCheckoutIsGone(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	r := repository{t, filepath.Join(dir, "folder")}
	r.write("a", "a")
	tree, err := OfFolder(t.Context(), r.dir, WorkTreeOptions{})
	must(t, err)
	kept := keep(t, keeper(t), tree)
	must(t, os.RemoveAll(r.dir))
	for _, kind := range viewKinds(t, kept) {
		v, err := kept.View(t.Context(), ViewOptions{Kind: kind})
		must(t, err)
		if got := runIn(t, v, "cat a; rm a; echo b > a; pwd"); got != "a"+v.Root || v.Root == r.dir {
			t.Errorf("%v: got %q in %s", kind, got, v.Root)
		}
		must(t, v.Close())
	}
	must(t, kept.check())
}
