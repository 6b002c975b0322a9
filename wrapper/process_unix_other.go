//go:build unix && !linux

package wrapper

import "syscall"

// notOutliving can do nothing here: commands survive when we are killed.
func notOutliving(*syscall.SysProcAttr) (release func()) { return func() {} }
