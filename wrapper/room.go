package wrapper

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// A room is the memory that tasks share. The zero value is without limit.
type room struct {
	size int64
	free *semaphore.Weighted
}

func newRoom(size int64) room {
	if size <= 0 {
		return room{}
	}
	return room{size, semaphore.NewWeighted(size)}
}

// enter waits until there are so many bytes, or all when that is less. A context
// that ends lets everybody in: nothing starts any more.
func (r room) enter(ctx context.Context, bytes int64) (leave func()) {
	bytes = min(max(bytes, 0), r.size)
	if r.free == nil || bytes == 0 || r.free.Acquire(ctx, bytes) != nil {
		return func() {}
	}
	return func() { r.free.Release(bytes) }
}
