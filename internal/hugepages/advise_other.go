//go:build !linux

package hugepages

// Advise does nothing where there are no huge pages to ask for.
func Advise([]byte) {}
