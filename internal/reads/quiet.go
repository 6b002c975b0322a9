//go:build linux && amd64

package reads

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// A sigaction is a struct sigaction of the kernel: what a signal does.
type sigaction struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

// noStops is SA_NOCLDSTOP: a child that stops sends no SIGCHLD.
const noStops = 1

// quietStops keeps the kernel from sending SIGCHLD to this process at each stop of a child. A
// signal costs as much as the stop itself, and nobody needs it: Serve waits in another way.
// Everything else about SIGCHLD stays as it is.
func quietStops() {
	var action sigaction
	size := unsafe.Sizeof(action.mask)
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), 0,
		uintptr(unsafe.Pointer(&action)), size, 0, 0)
	if errno == 0 && action.flags&noStops == 0 {
		action.flags |= noStops
		_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD),
			uintptr(unsafe.Pointer(&action)), 0, size, 0, 0)
	}
}
