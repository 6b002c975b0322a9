package world

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A repository is a git repository for a test.
type repository struct {
	t   *testing.T
	dir string
}

// newRepository makes an empty repository.
func newRepository(t *testing.T, options ...string) repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := repository{t, filepath.Join(dir, "checkout")}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.git(append([]string{"init", "-q"}, options...)...)
	return r
}

// git runs git and returns what it prints, without the last line break.
func (r repository) git(args ...string) string { return r.gitWith(nil, args...) }

// gitWith is git with variables.
func (r repository) gitWith(env []string, args ...string) string {
	r.t.Helper()
	fixed := []string{"-C", r.dir, "-c", "user.name=x", "-c", "user.email=x@example.com",
		"-c", "protocol.file.allow=always", "-c", "advice.addEmbeddedRepo=false"}
	cmd := exec.CommandContext(r.t.Context(), "git", append(fixed, args...)...)
	cmd.Env = append(append(cmd.Environ(), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// write writes a file with all of its folders.
func (r repository) write(name, text string) {
	r.t.Helper()
	at := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// link makes a symbolic link.
func (r repository) link(name, text string) {
	r.t.Helper()
	at := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Symlink(text, at); err != nil {
		r.t.Fatal(err)
	}
}

// remove removes files and folders.
func (r repository) remove(names ...string) {
	r.t.Helper()
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(r.dir, filepath.FromSlash(name))); err != nil {
			r.t.Fatal(err)
		}
	}
}

// chmod changes the mode of a file.
func (r repository) chmod(name string, mode os.FileMode) {
	r.t.Helper()
	if err := os.Chmod(filepath.Join(r.dir, filepath.FromSlash(name)), mode); err != nil {
		r.t.Fatal(err)
	}
}

// commit commits everything.
func (r repository) commit() {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", "a commit")
}

// treeOf is what git makes of the working tree when all of it is added: a foreign judge.
func (r repository) treeOf() string {
	r.t.Helper()
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(r.t.TempDir(), "index")}
	r.gitWith(env, "read-tree", "HEAD")
	r.gitWith(env, "add", "-A")
	return r.gitWith(env, "write-tree")
}

// workTree reads the working tree.
func (r repository) workTree(o WorkTreeOptions) *Tree {
	r.t.Helper()
	tree, err := OfWorkTree(r.t.Context(), r.dir, o)
	if err != nil {
		r.t.Fatal(err)
	}
	return tree
}

// commitTree reads the tree of a commit.
func (r repository) commitTree(revision string) *Tree {
	r.t.Helper()
	tree, err := OfCommit(r.t.Context(), r.dir, revision)
	if err != nil {
		r.t.Fatal(err)
	}
	return tree
}

// variedRepository has a commit with all kinds of files.
func variedRepository(t *testing.T, options ...string) repository {
	t.Helper()
	r := newRepository(t, options...)
	for name, text := range map[string]string{
		"a.txt": "a\n", "a/b": "b", "a0": "", "a.d/x": "x", "with blank/a b": "1", "line\nbreak": "2", "\xff\xfe": "3",
		"ünï/cödé":   "4",
		"program.sh": "#!/bin/sh\n", "deep/er/and/deeper": "5", "-dash": "6", "quote\"": "7", "back\\slash": "8",
		":colon,comma": "9",
	} {
		r.write(name, text)
	}
	r.chmod("program.sh", 0o755)
	r.link("link", "a.txt")
	r.link("broken", "nowhere")
	r.link("absolute", "/etc/hostname")
	r.link("tofolder", "a.d")
	r.link("a.d/up", "../deep/er")
	r.commit()
	return r
}

// keeper returns a keeper with a folder of its own.
func keeper(t *testing.T) Keeper {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return Keeper{Dir: filepath.Join(dir, "worlds-1")}
}

// keep keeps a tree until the test ends.
func keep(t *testing.T, k Keeper, tree *Tree) *Kept {
	t.Helper()
	kept, err := k.Keep(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = kept.Close() })
	return kept
}
