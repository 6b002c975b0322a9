//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package journal

import (
	"errors"
	"os"
	"syscall"
)

// noFollow opens no file that a symbolic link points to.
const noFollow = syscall.O_NOFOLLOW

// lock locks a file, unless another process has. A file system without locks is
// taken as it is.
func lock(file *os.File) bool {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	return !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR)
}
