//go:build !unix

package guard

import "os"

// lockFolder locks nothing: this system has no such locks, and nothing is ever taken for left.
func lockFolder(string) (lock *os.File, isLocked bool) { return nil, true }

// isOurs is not asked, since nothing is left.
func isOurs(os.FileInfo) bool { return false }
