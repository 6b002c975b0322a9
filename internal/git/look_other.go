//go:build !linux

package git

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
)

// A look knows which files of a folder git takes for changed. Git is believed on this system.
type look struct {
	dir     string
	changed map[string]bool
}

// newLook asks git. It must be called before the index is read: then a file that is added to the index meanwhile has
// its new id, and is not taken for the file that was there before.
func newLook(ctx context.Context, dir string) (look, error) {
	differing, err := run(ctx, dir, "-c", "core.checkStat=default", "-c", "core.trustctime=true",
		"diff-files", "--relative", "--name-only", "--no-ext-diff", "--ignore-submodules", "-z")
	l := look{dir, map[string]bool{}}
	for _, name := range splitZero(differing) {
		l.changed[name] = true
	}
	return l, err
}

// isUnchanged reports whether a file is as git remembers it.
func (l look) isUnchanged(e indexEntry) bool { return !l.changed[e.path] }

// at returns what a file of the index is in the folder, and whether it is unchanged.
func (l look) at(e indexEntry) (Found, bool) {
	info, err := os.Lstat(filepath.Join(l.dir, filepath.FromSlash(e.path)))
	switch {
	case err != nil:
		return Absent, false
	case info.IsDir():
		return Folder, false
	case info.Mode()&fs.ModeSymlink != 0:
		return SymbolicLink, false
	case !info.Mode().IsRegular():
		return Special, false
	case info.Mode()&0o100 != 0:
		return Program, !l.changed[e.path]
	}
	return PlainFile, !l.changed[e.path]
}
