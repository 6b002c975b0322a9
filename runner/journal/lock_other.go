//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package journal

import "os"

const noFollow = 0

// lock cannot lock here.
func lock(*os.File) bool { return true }
