//go:build unix && !linux

package wrapper

import "syscall"

// killWithParent does nothing: on these systems commands survive this process.
func killWithParent(*syscall.SysProcAttr) {}

// isMainThread reports false: on these systems no thread is kept for a command.
func isMainThread() bool { return false }
