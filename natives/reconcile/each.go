package reconcile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/app-sre/prcheck/internal/crash"
)

// ErrNoShards says that there is no shard to run.
var ErrNoShards = errors.New("there are no shards")

// Workers returns how many workers each of several targets gets of a pool: at least one.
func Workers(pool, targets int) int { return max(1, pool/max(1, targets)) }

// A Run reconciles one shard with as many workers.
type Run func(ctx context.Context, shard string, workers int) error

// Each runs all shards, as many at once as the pool has workers, and divides the pool among
// them. An error, a panic or the time limit of a shard is its own, and the others go on. The
// errors are returned in the order of the shards. No time limit is 0.
//
// No shards are not a success: the error is [ErrNoShards].
func Each(ctx context.Context, shards []string, pool int, limit time.Duration, run Run) ([]error, error) {
	if len(shards) == 0 {
		return nil, ErrNoShards
	}
	out := make([]error, len(shards))
	var running sync.WaitGroup
	slots := make(chan struct{}, max(1, pool))
	for i, shard := range shards {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			out[i] = runShard(ctx, shard, Workers(pool, len(shards)), limit, run)
		})
	}
	running.Wait()
	return out, nil
}

// runShard runs one shard.
func runShard(ctx context.Context, shard string, workers int, limit time.Duration, run Run) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New(crash.Text(r))
		}
	}()
	if err := ctx.Err(); err != nil {
		return Transient(fmt.Errorf("not run: %w", err))
	}
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	return run(ctx, shard, workers)
}
