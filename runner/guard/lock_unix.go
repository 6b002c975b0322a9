//go:build unix

package guard

import (
	"os"
	"syscall"
)

// lockFolder locks a folder without waiting. The lock is that of the open file. A file system without locks
// locks nothing, so nothing there is ever taken for left.
func lockFolder(name string) (lock *os.File, isLocked bool) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0) //nolint:gosec // a folder that was made or listed
	if err != nil {
		return nil, false
	}
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err {
	case nil:
		return f, true
	case syscall.ENOTSUP, syscall.ENOSYS, syscall.ENOLCK:
		closeLock(f)
		return nil, true
	}
	closeLock(f)
	return nil, false
}

// isOurs reports whether this user owns a file.
func isOurs(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}
