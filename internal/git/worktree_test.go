package git

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Files of a submodule count, and so do those of a repository that git does not track.
func TestListWorkTreeWithRepositoriesInside(t *testing.T) {
	inner, dir := commitAll(t, map[string]string{"lib.py": "1"}), commitAll(t, map[string]string{"a.txt": "a"})
	runGit(t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "sub")
	runGit(t, dir, "clone", "-q", inner, filepath.Join(dir, "clone"))
	if err := os.WriteFile(filepath.Join(dir, "sub", "new.py"), []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	list := func() string {
		t.Helper()
		files, err := ListWorkTree(t.Context(), dir, nil, func(path string) bool { return !strings.HasSuffix(path, "link") })
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, f := range files {
			kind := map[bool]string{true: "", false: "?"}[f.Tracked]
			if f.ID != "" {
				kind += "!"
			}
			out = append(out, f.Path+kind)
		}
		return strings.Join(out, " ")
	}
	if got, want := list(), ".gitmodules a.txt sub! sub/lib.py sub/new.py? clone/lib.py"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := os.RemoveAll(filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	if got := list(); strings.Contains(got, "sub/") || !strings.Contains(got, "sub!") {
		t.Errorf("a submodule that is not checked out: got %s", got)
	}
	if err := os.MkdirAll(filepath.Join(dir, "sub", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if files, err := ListWorkTree(t.Context(), dir, nil, func(string) bool { return true }); err == nil {
		t.Errorf("a submodule of which git knows nothing: got %v, want an error", files)
	}
}

func TestIgnores(t *testing.T) {
	dir := commitAll(t, map[string]string{".gitignore": "bin\n", "ci/x": ""})
	if err := os.MkdirAll(filepath.Join(dir, "bin", "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bin/x", "bin/deep/x"} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for folder, want := range map[string]bool{"bin": true, "bin/deep": true, "ci": false, "none": false} {
		if got := Ignores(t.Context(), dir, filepath.Join(dir, filepath.FromSlash(folder))); got != want {
			t.Errorf("%s: got %v, want %v", folder, got, want)
		}
	}
}

// A file that got another content of the same size, and its old time back, within the second in which git looked at it
// does not count as unchanged. Git itself does not see that.
func TestChangeWithinASecond(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the nanoseconds are compared on Linux alone")
	}
	dir := commitAll(t, map[string]string{"a.txt": "one", "b.txt": "one"})
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"a.txt", "b.txt"} {
		if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	runGit(t, dir, "add", ".")
	if ids, err := UnchangedFiles(t.Context(), dir); err != nil || len(ids) != 2 {
		t.Fatalf("before: got %v, %v", ids, err)
	}
	name := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(name, []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, old, old); err != nil {
		t.Fatal(err)
	}
	if ids, err := UnchangedFiles(t.Context(), dir); err != nil || ids["a.txt"] != "" || ids["b.txt"] == "" {
		t.Errorf("after: got %v, %v, want b.txt alone", ids, err)
	}
}
