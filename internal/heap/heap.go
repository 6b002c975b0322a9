package heap

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/app-sre/prcheck/internal/hugepages"
)

// How much the heap grows between two collections, in percent of what is in use.
const (
	rarely  = 400
	usually = 100
)

// maxRarely is up to how many bytes in use the collections are rare.
const maxRarely = 32 << 20

// Prepare prepares the heap of a new process. It asks for huge pages for the first size bytes,
// and for rare collections while little memory is in use, unless the user says in gogc, the
// value of GOGC, how rare they are.
func Prepare(size int, gogc string) {
	percent := debug.SetGCPercent(-1) // the buffer shall not begin a collection beside the one below
	hugepages.Advise(make([]byte, size))
	runtime.GC() // later allocations lie in place of the buffer
	if gogc == "" {
		percent = rarely
		afterCollection()
	}
	debug.SetGCPercent(percent)
}

// A mark is memory to which nothing refers, so that the next collection takes it.
type mark struct{ _ *mark }

// afterCollection looks after the next collection how much memory is in use. It looks again
// after the one that follows, until the collections are as frequent as usual.
func afterCollection() {
	runtime.AddCleanup(&mark{}, func(struct{}) {
		inUse, percent := state()
		switch {
		case percent != rarely: // the command has set it
		case inUse > maxRarely:
			debug.SetGCPercent(usually)
		default:
			afterCollection()
		}
	}, struct{}{})
}

// state returns the number of bytes that the last collection found in use, and how much the heap
// grows until the next.
func state() (inUse, percent uint64) {
	now := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/gogc:percent"}}
	metrics.Read(now)
	return now[0].Value.Uint64(), now[1].Value.Uint64()
}
