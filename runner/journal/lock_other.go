//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package journal

import "os"

// noFollow is no flag: this system cannot refuse symbolic links when it opens a file.
const noFollow = 0

// tryLock returns true without a lock, since this system has none.
func tryLock(*os.File) bool { return true }
