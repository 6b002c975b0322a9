package wrapper

import "syscall"

// killWithParent makes the kernel kill the command when this process dies for any
// reason. The kernel watches the thread that started the command, not the process.
// So this thread must be kept until the command has ended, see onThread.
func killWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// isMainThread reports whether this goroutine runs on the main thread, which cannot end, and to
// whose mounts /proc/self leads.
func isMainThread() bool { return syscall.Gettid() == syscall.Getpid() }
