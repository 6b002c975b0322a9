//go:build unix && !linux

package wrapper

import "syscall"

// killWithParent does nothing: on these systems commands survive this process.
func killWithParent(*syscall.SysProcAttr) (release func()) { return func() {} }
