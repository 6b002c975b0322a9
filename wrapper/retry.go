package wrapper

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/app-sre/prcheck/plan"
)

// meanBackoff is the mean pause before a second attempt. A task with a shorter
// timeout waits for the length of its timeout instead.
const meanBackoff = 5 * time.Second

// defaultBackoff returns a random pause between half and one and a half times the
// mean. So tasks that failed together do not start again together.
func defaultBackoff(timeout time.Duration) time.Duration {
	mean := min(meanBackoff, timeout)
	return mean/2 + rand.N(mean)
}

// runWithRetry runs a task, and a second time if one of its errors is transient. A
// task in opts.Before gets one attempt only. The task keeps its slot during the
// pause: if the cause of the failure was too much load, no other task may start
// instead.
func (e *executor) runWithRetry(ctx context.Context, task plan.Task, timeout time.Duration) (plan.Result, error) {
	if before, ok := e.opts.Before[task.ID]; ok {
		last, _, err := e.runAttempt(ctx, task, timeout, before.Attempts+1)
		return combineAttempts(before, last), err
	}
	first, retry, err := e.runAttempt(ctx, task, timeout, 1)
	switch {
	case !retry:
		return first, err
	case !e.waitBeforeRetry(ctx, timeout):
		e.markCanceled(ctx, &first) // a second attempt might have passed
		return first, err
	}
	second, _, err := e.runAttempt(ctx, task, timeout, 2)
	return combineAttempts(first, second), err
}

// combineAttempts returns the result of the last attempt, with the earlier attempts
// listed and their times added.
func combineAttempts(before, last plan.Result) plan.Result {
	last.Attempts = before.Attempts + 1
	last.Seconds = addSeconds(before.Seconds, last.Seconds)
	last.Waited, last.TargetWait = before.Waited, before.TargetWait
	if len(before.Spans) == before.Attempts {
		last.Spans = slices.Concat(before.Spans, last.Spans)
	} else { // the times of the earlier attempts are unknown
		last.Spans = nil
	}
	last.Before = append(slices.Clone(before.Before), plan.Attempt{
		Status: before.Status, Class: before.Class, Reason: before.Reason, Log: before.Log,
	})
	return last
}

// waitBeforeRetry waits before the second attempt. It returns false if ctx ends in
// the meantime.
func (e *executor) waitBeforeRetry(ctx context.Context, timeout time.Duration) bool {
	backoff := defaultBackoff
	if e.opts.Backoff != nil {
		backoff = e.opts.Backoff
	}
	timer := time.NewTimer(backoff(timeout))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
