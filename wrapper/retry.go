package wrapper

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/app-sre/prcheck/plan"
)

// backoff is the mean pause before a second attempt, of tasks that may take
// longer than that.
const backoff = 5 * time.Second

// jittered spreads the pauses of tasks that failed together, so that they do not
// come back together.
func jittered(timeout time.Duration) time.Duration {
	mean := min(backoff, timeout)
	return mean/2 + rand.N(mean)
}

// attempts runs a task, and once more when an error of it may pass by itself. The
// slot is kept in between: what failed for too much load must not make room for
// more of it. The result is that of the last attempt and tells of the one before.
func (s *single) attempts(ctx context.Context, task plan.Task, timeout time.Duration) (plan.Result, error) {
	first, again, err := s.start(ctx, task, timeout, 1)
	if !again || !s.pause(ctx, timeout) {
		return first, err
	}
	result, _, err := s.start(ctx, task, timeout, 2)
	result.Attempts = 2
	result.Spans = append(first.Spans, result.Spans...)
	result.Seconds = seconds(time.Duration((first.Seconds + result.Seconds) * float64(time.Second)))
	result.Before = []plan.Attempt{{Status: first.Status, Class: first.Class, Reason: first.Reason, Log: first.Log}}
	return result, err
}

// pause waits before the next attempt, and reports whether there is to be one.
func (s *single) pause(ctx context.Context, timeout time.Duration) bool {
	wait := jittered
	if s.opts.Backoff != nil {
		wait = s.opts.Backoff
	}
	timer := time.NewTimer(wait(timeout))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
