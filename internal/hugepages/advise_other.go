//go:build !linux

package hugepages

// Advise does nothing on systems on which we cannot ask for huge pages.
func Advise([]byte) {}
