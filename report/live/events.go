package live

import (
	"encoding/json"
	"sync"
)

// maxEvents is how many events are kept for pages that missed them.
const maxEvents = 1000

// An event is one thing that a page is told.
type event struct {
	id   uint64 // from 1
	name string
	data []byte // JSON on one line
}

// A ring keeps the last events.
type ring struct {
	mu      sync.Mutex
	events  []event
	last    uint64
	isOver  bool          // no more will come
	changed chan struct{} // closed when something is added
}

func newRing() *ring { return &ring{changed: make(chan struct{})} }

// add adds an event. Nothing is added once the ring is over.
func (r *ring) add(name string, data any) {
	raw, err := json.Marshal(data)
	if err != nil {
		return // all types are ours
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isOver {
		return
	}
	r.last++
	if r.events = append(r.events, event{r.last, name, raw}); len(r.events) > maxEvents {
		r.events = append([]event(nil), r.events[len(r.events)-maxEvents:]...)
	}
	r.wake()
}

// finish adds the last event.
func (r *ring) finish(name string, data any) {
	r.add(name, data)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.isOver = true
	r.wake()
}

// wake tells all who wait that something changed. The caller holds the lock.
func (r *ring) wake() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// since returns the events after one, a channel that is closed when more come, and whether no more will come. It
// reports false if some of them are not kept any more, or the event is none of this ring.
func (r *ring) since(after uint64) (next []event, changed <-chan struct{}, isOver, isKnown bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := r.last - uint64(len(r.events)) // the event before the first that is kept
	if after > r.last || after < first {
		return nil, nil, false, false
	}
	return append([]event(nil), r.events[after-first:]...), r.changed, r.isOver, true
}

// lastID returns the id of the last event.
func (r *ring) lastID() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}
