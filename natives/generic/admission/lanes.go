package admission

import (
	"context"
	"runtime"
	"time"
)

// The lanes of a handler. Large reviews have places of their own, so that they never keep small
// ones waiting.
type lanes struct {
	small   chan struct{} // small reviews that are judged
	reading chan struct{} // large reviews that are held in memory
	large   chan struct{} // those of them that are judged
}

// The places of the lanes.
const (
	maxSmall   = 64
	maxReading = 16
)

func newLanes() lanes {
	return lanes{small: make(chan struct{}, maxSmall), reading: make(chan struct{}, maxReading),
		large: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// enter takes a place of a lane, and returns what gives it back. It returns false if none is free
// before a point in time, or before ctx ends.
func enter(ctx context.Context, lane chan struct{}, until time.Time) (leave func(), ok bool) {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	select {
	case lane <- struct{}{}:
		return func() { <-lane }, true
	case <-ctx.Done():
		return nil, false
	}
}
