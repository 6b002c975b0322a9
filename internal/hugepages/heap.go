package hugepages

import "runtime"

// Heap asks for huge pages behind what the heap of a new process grows into, up
// to size bytes: a buffer of that size is advised and given back at once, so
// that later allocations come to lie in its place.
func Heap(size int) {
	Advise(make([]byte, size))
	runtime.GC()
}
