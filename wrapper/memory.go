package wrapper

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// A memoryBudget is the memory that running tasks share. The zero value has no limit.
type memoryBudget struct {
	size      int64
	available *semaphore.Weighted
}

func newMemoryBudget(size int64) memoryBudget {
	if size <= 0 {
		return memoryBudget{}
	}
	return memoryBudget{size, semaphore.NewWeighted(size)}
}

// reserve waits until the given number of bytes is available and takes it from the
// budget. A task that needs more than the whole budget takes the whole budget. When
// ctx ends, reserve returns without taking anything, since no task starts any more.
func (b memoryBudget) reserve(ctx context.Context, bytes int64) (release func()) {
	bytes = min(max(bytes, 0), b.size)
	if b.available == nil || bytes == 0 || b.available.Acquire(ctx, bytes) != nil {
		return func() {}
	}
	return func() { b.available.Release(bytes) }
}
