//go:build unix

package bundler

import "syscall"

// noWait is the flag that opens a pipe without waiting for a writer.
const noWait = syscall.O_NONBLOCK
