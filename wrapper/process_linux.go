package wrapper

import (
	"runtime"
	"syscall"
)

// killWithParent makes the kernel kill the command when this process dies for any
// reason. The kernel watches the thread that started the command, not the process.
// So this thread must be kept until the command has ended: then call release.
func killWithParent(attr *syscall.SysProcAttr) (release func()) {
	runtime.LockOSThread()
	attr.Pdeathsig = syscall.SIGKILL
	return runtime.UnlockOSThread
}
