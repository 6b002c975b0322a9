//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package state

import "os"

// nowait is no flag: the folders of these systems have no pipes.
const nowait = 0

// tryLock always fails: these systems have no file locks that we know.
func tryLock(*os.File) (bool, error) { return false, errNoLocks }
