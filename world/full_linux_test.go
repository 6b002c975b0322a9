package world

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFullDisk keeps a tree for which the disk has no room: an error says so, and nothing is left.
func TestFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	r, k := variedRepository(t), keeper(t)
	r.write("large", strings.Repeat("x", 3<<20))
	r.commit()
	must(t, os.Mkdir(k.Dir, 0o700))
	if err := syscall.Mount("tmpfs", k.Dir, "tmpfs", 0, "size=2m,mode=0700"); err != nil {
		t.Skipf("mounting a small file system: %v", err)
	}
	defer func() { must(t, syscall.Unmount(k.Dir, syscall.MNT_DETACH)) }()
	if _, err := k.Keep(t.Context(), r.commitTree("HEAD")); !errors.Is(err, syscall.ENOSPC) ||
		!strings.Contains(err.Error(), "large") {
		t.Errorf("got %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(k.Dir, "new-*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	keep(t, k, r.commitTree("HEAD~1"))
}
