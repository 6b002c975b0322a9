//go:build unix

package bundler

import "syscall"

// noWait opens a pipe without waiting for somebody who writes.
const noWait = syscall.O_NONBLOCK
