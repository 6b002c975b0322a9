package hugepages

import (
	"syscall"
	"unsafe"
)

// Advise asks for huge pages for a large buffer. It helps only before the buffer is
// written to.
func Advise(buf []byte) {
	const page = 2 << 20
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(buf)))) & (page - 1)
	if n := (len(buf) - skip) &^ (page - 1); n > 0 {
		_ = syscall.Madvise(buf[skip:skip+n], syscall.MADV_HUGEPAGE)
	}
}
