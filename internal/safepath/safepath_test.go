package safepath_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/app-sre/prcheck/internal/safepath"
)

// checkout makes a checkout with links, and a folder outside that they lead to. It returns
// both.
func checkout(t *testing.T) (root, outside string) {
	t.Helper()
	dir := t.TempDir()
	root, outside = filepath.Join(dir, "checkout"), filepath.Join(dir, "outside")
	for _, folder := range []string{filepath.Join(root, ".git"), filepath.Join(root, "real", "deep"), outside} {
		if err := os.MkdirAll(folder, 0o750); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{filepath.Join(root, "real", "file"), filepath.Join(outside, "file")} {
		if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"out": outside, "within": "real", "dangling": filepath.Join(outside, "new"), "file": filepath.Join(outside, "file"),
		"real/up": "..", "real/deep/file": "../file", "environ": "/proc/self/environ",
	} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	return root, outside
}

// No link of a checkout is followed, wherever it leads and whatever part of a path it is.
func TestLinksOfCheckout(t *testing.T) {
	root, outside := checkout(t)
	for _, name := range []string{"out/file", "within/file", "file", "real/up/real/file", "real/deep/file", "environ",
		"out/none", "dangling", "within/deep/none"} {
		at := filepath.Join(root, filepath.FromSlash(name))
		if f, err := safepath.Open(at); !errors.Is(err, safepath.ErrLink) {
			t.Errorf("reading %s: got %v, %v", name, f, err)
		}
		if _, err := safepath.Stat(at); !errors.Is(err, safepath.ErrLink) {
			t.Errorf("looking at %s: got %v", name, err)
		}
		folder, base, err := safepath.OpenParent(at)
		if err == nil {
			_, err = safepath.OpenFileIn(folder, base, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		}
		if !errors.Is(err, safepath.ErrLink) {
			t.Errorf("writing %s: got %v", name, err)
		}
	}
	for _, name := range []string{"out", "within", "out/sub", "within/deep", "real/up", "dangling", "dangling/sub"} {
		at := filepath.Join(root, filepath.FromSlash(name))
		if _, err := safepath.OpenFolder(at); !errors.Is(err, safepath.ErrLink) {
			t.Errorf("opening folder %s: got %v", name, err)
		}
		if _, err := safepath.MakeFolder(at); !errors.Is(err, safepath.ErrLink) {
			t.Errorf("making folder %s: got %v", name, err)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 1 {
		t.Errorf("outside: %v, %v", left, err)
	}
	if raw, err := os.ReadFile(filepath.Join(outside, "file")); err != nil || string(raw) != "precious" {
		t.Errorf("outside: %q, %v", raw, err)
	}
}

// Files and folders that are no links are read and made as ever, and so is everything
// outside of a checkout, with the links there.
func TestWithoutLinks(t *testing.T) {
	root, outside := checkout(t)
	if err := os.Symlink(outside, outside+"-link"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{filepath.Join(root, "real", "file"), filepath.Join(root, "real", "deep", "..", "file"),
		filepath.Join(outside+"-link", "file")} {
		f, err := safepath.Open(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_ = f.Close()
	}
	for _, name := range []string{filepath.Join(root, "new", "folder"), filepath.Join(outside+"-link", "new", "folder")} {
		folder, err := safepath.MakeFolder(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_ = folder.Close()
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			t.Errorf("%s: got %v, %v", name, info, err)
		}
	}
	if _, err := safepath.OpenFolder(filepath.Join(root, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing folder: got %v", err)
	}
}

// Below the current folder no links are followed, also where there is no checkout.
func TestCurrentFolder(t *testing.T) {
	root, outside := checkout(t)
	if err := os.Remove(filepath.Join(root, ".git")); err != nil {
		t.Fatal(err)
	}
	if f, err := safepath.Open(filepath.Join(root, "file")); err != nil {
		t.Errorf("elsewhere: got %v", err)
	} else {
		_ = f.Close()
	}
	t.Chdir(root)
	for _, name := range []string{"file", "out/file", "real/../file", filepath.Join(root, "file")} {
		if _, err := safepath.Open(name); !errors.Is(err, safepath.ErrLink) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := safepath.Open(filepath.Join("..", filepath.Base(outside), "file")); err != nil {
		t.Error(err)
	}
}

func TestCheckout(t *testing.T) {
	root, outside := checkout(t)
	if err := os.MkdirAll(filepath.Join(root, "inner", ".git"), 0o750); err != nil {
		t.Fatal(err)
	}
	at, rel, ok := safepath.Checkout(filepath.Join(root, "inner", "a", "b"))
	if at != root || rel != filepath.Join("inner", "a", "b") || !ok {
		t.Errorf("got %q, %q, %t", at, rel, ok)
	}
	if at, _, ok := safepath.Checkout(outside); ok {
		t.Errorf("got %q", at)
	}
}
