package rlimit

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"
)

// set bounds a process. A process that ended already needs none.
func (l Limits) set(pid int) error {
	for resource, most := range map[uintptr]uint64{syscall.RLIMIT_DATA: l.Data, syscall.RLIMIT_FSIZE: l.File} {
		if most == 0 {
			continue
		}
		limit := syscall.Rlimit{Cur: most, Max: most}
		_, _, failed := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), resource, uintptr(unsafe.Pointer(&limit)), 0,
			0, 0)
		if failed != 0 && !errors.Is(failed, syscall.ESRCH) {
			return fmt.Errorf("bounding a process: %w", failed)
		}
	}
	return nil
}
