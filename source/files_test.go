package source_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/source"
)

// fill writes files below a new folder.
func fill(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		put(t, dir, name, text)
	}
	return dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

// No file outside of the folder can be read, and a name that no file can have is the name of
// no file.
func TestFiles(t *testing.T) {
	dir := fill(t, map[string]string{"in/a/b.txt": "b", "out.txt": "secret"})
	for name, target := range map[string]string{"in/inside": "a/b.txt", "in/outside": "../out.txt", "in/folder": ".."} {
		link(t, target, filepath.Join(dir, name))
	}
	tree := source.Files(filepath.Join(dir, "in"))
	for name, want := range map[string]string{"a/b.txt": "b", "inside": "b", "outside": "", "folder/out.txt": "",
		"../out.txt": "", "none": ""} {
		raw, err := fs.ReadFile(tree, name)
		if string(raw) != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v, want %q", name, raw, err, want)
		}
		if info, err := fs.Stat(tree, name); (err == nil) != (want != "") || err == nil && !info.Mode().IsRegular() {
			t.Errorf("%s: got %v, %v", name, info, err)
		}
	}
	for name, want := range map[string]bool{
		"a/b.txt": true, "a": true, "outside": true, "none": false, "a/b.txt/c": false, "a\x00b": false,
		strings.Repeat("x", 5000): false,
	} {
		if _, err := tree.Lstat(name); (err == nil) != want || err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%.20q: got %v, want %v", name, err, want)
		}
	}
	if target, err := tree.ReadLink("outside"); target != "../out.txt" || err != nil {
		t.Errorf("got %q, %v", target, err)
	}
	if _, err := source.Files(filepath.Join(dir, "gone")).Lstat("a"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: got %v, want an error that does not say that the file is missing", err)
	}
}
