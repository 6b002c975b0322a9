package git

import (
	"crypto/sha1"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

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

// A file whose content is not the one of its entry in the index does not count as unchanged, whatever keeps git from
// looking at it.
func TestContentsThatTheIndexDoesNotHave(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, dir string){
		"announced": func(t *testing.T, dir string) {
			t.Helper()
			write(t, dir, "new.txt", "three")
			runGit(t, dir, "add", "-N", "new.txt")
		},
		"assumed unchanged": func(t *testing.T, dir string) {
			t.Helper()
			runGit(t, dir, "update-index", "--assume-unchanged", "a.txt")
			write(t, dir, "a.txt", "two")
		},
		"skipped": func(t *testing.T, dir string) {
			t.Helper()
			runGit(t, dir, "update-index", "--skip-worktree", "a.txt")
			write(t, dir, "a.txt", "two")
		},
		"replaced by a link": func(t *testing.T, dir string) {
			t.Helper()
			if err := errors.Join(os.Remove(filepath.Join(dir, "a.txt")),
				os.Symlink("b.txt", filepath.Join(dir, "a.txt"))); err != nil {
				t.Fatal(err)
			}
		},
		"written right after the index": func(t *testing.T, dir string) {
			t.Helper()
			for i := range 50 { // without a pause the times are often the same
				write(t, dir, "a.txt", fmt.Sprint(i%10))
				runGit(t, dir, "add", "a.txt")
				write(t, dir, "a.txt", fmt.Sprint((i+1)%10))
				checkIDs(t, dir)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := commitAll(t, map[string]string{"a.txt": "one", "b.txt": "one"})
			change(t, dir)
			checkIDs(t, dir)
		})
	}
}

// checkIDs compares the ids of files that count as unchanged with those of their contents.
func checkIDs(t *testing.T, dir string) {
	t.Helper()
	ids, err := UnchangedFiles(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, id := range ids {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(raw), raw))); id != want {
			t.Errorf("%s: got %s, want %s", name, id, want)
		}
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
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
