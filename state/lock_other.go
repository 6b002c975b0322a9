//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package state

import "os"

// tryLock has no locks to take here.
func tryLock(*os.File) (bool, error) { return false, errNoLocks }
