package wrapper

import (
	"runtime"
	"syscall"
)

// notOutliving makes the kernel kill a command when we die, however we die. The
// kernel means the thread that started it, which is therefore kept until the
// command has ended.
func notOutliving(attr *syscall.SysProcAttr) (release func()) {
	runtime.LockOSThread()
	attr.Pdeathsig = syscall.SIGKILL
	return runtime.UnlockOSThread
}
