//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package world

import (
	"errors"
	"os"
	"syscall"
)

// hasLocks says that this system has locks of files, so that processes can share a keeper's folder.
const hasLocks = true

// lockFile takes a lock of a file: one that others can share, or one that excludes all others. Without waiting, ok is
// false when another has a lock that forbids it.
func lockFile(f *os.File, mode lockMode) (ok bool, err error) {
	how := map[lockMode]int{
		shared: syscall.LOCK_SH, sharedNow: syscall.LOCK_SH | syscall.LOCK_NB,
		exclusiveNow: syscall.LOCK_EX | syscall.LOCK_NB,
	}[mode]
	for {
		err := syscall.Flock(int(f.Fd()), how)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.ENOLCK):
			return mode == shared || mode == sharedNow, nil // a file system without locks: nothing is ever removed
		default:
			return false, err
		}
	}
}

// isOurs reports whether this user owns a file.
func isOurs(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}
