//go:build unix

package guard

import (
	"os"
	"path/filepath"
	"testing"
)

// The private folder of a process that was killed is removed by the next run, and no other folder is.
func TestLeftFolders(t *testing.T) {
	parent := t.TempDir()
	left, own := filepath.Join(parent, folderPattern+"1"), filepath.Join(parent, "prcheck-2")
	for _, dir := range []string{left, own} {
		if err := os.MkdirAll(filepath.Join(dir, "config"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(own, filepath.Join(parent, folderPattern+"link")); err != nil {
		t.Fatal(err)
	}
	first, lock := newFolder(parent)
	if _, err := os.Stat(left); !os.IsNotExist(err) || first == "" || lock == nil {
		t.Fatalf("the left folder: %v; a new one is %q", err, first)
	}
	second, other := newFolder(parent)
	for _, name := range []string{first, second, own, filepath.Join(own, "config"),
		filepath.Join(parent, folderPattern+"link")} {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("it is gone: %v", err)
		}
	}
	closeLock(lock) // as at the end of its process
	third, last := newFolder(parent)
	if _, err := os.Stat(first); !os.IsNotExist(err) || third == "" {
		t.Errorf("the folder of the first process: %v", err)
	}
	closeLock(other)
	closeLock(last)
}
