//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package state

import "os"

// nowait is for pipes, which no folder has here.
const nowait = 0

// tryLock has no locks to take here.
func tryLock(*os.File) (bool, error) { return false, errNoLocks }
