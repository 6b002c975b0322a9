package bundle

import (
	"syscall"
	"unsafe"
)

// advise asks for huge pages behind a large new buffer: filling it then costs a
// fraction of the page faults. It is a hint, so nothing depends on its success.
func advise(buf []byte) {
	const huge = 2 << 20
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(buf)))) & (huge - 1)
	if n := (len(buf) - skip) &^ (huge - 1); n > 0 {
		_ = syscall.Madvise(buf[skip:skip+n], syscall.MADV_HUGEPAGE)
	}
}
