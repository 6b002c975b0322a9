package wrapper

import (
	"context"
	"math/rand/v2"
	"slices"
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
// more of it. A task that ran before gets one attempt.
func (s *single) attempts(ctx context.Context, task plan.Task, timeout time.Duration) (plan.Result, error) {
	if before, ran := s.opts.Before[task.ID]; ran {
		last, _, err := s.start(ctx, task, timeout, before.Attempts+1)
		return after(before, last), err
	}
	first, again, err := s.start(ctx, task, timeout, 1)
	switch {
	case !again:
		return first, err
	case !s.pause(ctx, timeout):
		s.cancel(ctx, &first) // the failure is not its last word, and must not be final
		return first, err
	}
	second, _, err := s.start(ctx, task, timeout, 2)
	return after(first, second), err
}

// after is the result of an attempt that tells of those before, too.
func after(before, last plan.Result) plan.Result {
	last.Attempts = before.Attempts + 1
	last.Seconds = sum(before.Seconds, last.Seconds)
	last.Waited, last.TargetWait = before.Waited, before.TargetWait
	if len(before.Spans) == before.Attempts { // otherwise it is not known when they were
		last.Spans = slices.Concat(before.Spans, last.Spans)
	} else {
		last.Spans = nil
	}
	last.Before = append(slices.Clone(before.Before), plan.Attempt{
		Status: before.Status, Class: before.Class, Reason: before.Reason, Log: before.Log,
	})
	return last
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
