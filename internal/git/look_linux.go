package git

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
)

// A look compares files of a folder with the index.
type look struct {
	dir     string
	written stamp // when the index was written
}

// newLook prepares a look. It must be called before the index is read: then an index that is written meanwhile counts
// as older than it is, and more files as changed.
func newLook(ctx context.Context, dir string) (look, error) {
	name, err := indexName(ctx, dir)
	if err != nil {
		return look{}, err
	}
	s, _ := statOf(name) // without an index every file counts as changed
	return look{dir, s.modified}, nil
}

// indexName returns the name of the index. It asks git, unless the repository is an ordinary one.
func indexName(ctx context.Context, dir string) (string, error) {
	ordinary := filepath.Join(RootOf(dir), ".git")
	if _, ok := statOf(filepath.Join(ordinary, "HEAD")); ok {
		return filepath.Join(ordinary, "index"), nil
	}
	out, err := run(ctx, dir, "rev-parse", "--git-path", "index")
	if err != nil {
		return "", err
	}
	name := strings.TrimSuffix(string(out), "\n")
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	return name, nil
}

// isUnchanged reports whether a file is as git remembers it, to the nanosecond: the same file with the same size, not
// changed since. Git itself compares seconds, and does not see a change within a second that keeps the size and sets
// the time of modification back. As in git, a file that was modified when the index was written, or later, can have
// changed after git looked at it. An empty file never counts as unchanged: git notes the size 0 of a file that it wants
// to look at again.
func (l look) isUnchanged(e indexEntry) bool {
	_, unchanged := l.at(e)
	return unchanged
}

// at returns what a file of the index is in the folder, and whether it is unchanged.
func (l look) at(e indexEntry) (Found, bool) {
	var s syscall.Stat_t // os.Lstat takes twice as long, for some ten thousand files
	if syscall.Lstat(l.dir+"/"+e.path, &s) != nil {
		return Absent, false
	}
	switch s.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		is, found := fileStatOf(&s), PlainFile
		if s.Mode&0o100 != 0 {
			found = Program
		}
		return found, is == e.stat && is.size > 0 && is.modified.isBefore(l.written)
	case syscall.S_IFLNK:
		return SymbolicLink, false
	case syscall.S_IFDIR:
		return Folder, false
	}
	return Special, false
}

// statOf returns what git would remember of a regular file.
func statOf(name string) (fileStat, bool) {
	var s syscall.Stat_t
	if err := syscall.Lstat(name, &s); err != nil || s.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return fileStat{}, false
	}
	return fileStatOf(&s), true
}

func fileStatOf(s *syscall.Stat_t) fileStat {
	return fileStat{true, false, stampOf(s.Ctim), stampOf(s.Mtim), uint32(s.Dev), uint32(s.Ino), s.Uid, s.Gid,
		uint32(s.Size)}
}

func stampOf(t syscall.Timespec) stamp { return stamp{uint32(t.Sec), uint32(t.Nsec)} }
