package hugepages

import "runtime"

// Heap asks for huge pages for the heap of a new process, up to size bytes. It allocates a
// buffer of that size, asks for huge pages for it, and frees it, so that later
// allocations lie in its place.
func Heap(size int) {
	Advise(make([]byte, size))
	runtime.GC()
}
