package wrapper

import (
	"context"
	"errors"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/app-sre/prcheck/plan"
)

// A ShortageError reports that a task has no verdict because of this machine, for instance since
// it is short of open files, memory or processes. Neither the task nor the data is at fault.
type ShortageError struct {
	Err error
	Ran bool // the task ran, but what it did counts for nothing
}

// Error returns the message of the wrapped error.
func (e *ShortageError) Error() string { return e.Err.Error() }

// reason says why a task has no verdict because of an error that wraps e.
func (e *ShortageError) reason(err error) string {
	if e.Ran {
		return "its run counts for nothing: " + err.Error()
	}
	return "could not be started: " + err.Error()
}

// Unwrap returns the wrapped error.
func (e *ShortageError) Unwrap() error { return e.Err }

// shortages are the errors of the system for too many open files (of the process and of
// the machine), for no memory, and for no further process.
var shortages = []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN}

// StartError returns the error of preparing or starting a task: a [ShortageError] if the
// system was short of something, else err itself.
func StartError(err error) error {
	if !isShortage(err) {
		return err
	}
	return &ShortageError{Err: err}
}

// isShortage reports whether the system was short of something.
func isShortage(err error) bool {
	return slices.ContainsFunc(shortages, func(s error) bool { return errors.Is(err, s) })
}

// maxLoneShortages is how often a task meets a shortage while no other task runs before
// the shortage is its result.
const maxLoneShortages = 6

// firstShortagePause is the pause after the first shortage. Each further pause is twice
// as long.
const firstShortagePause = 250 * time.Millisecond

// A throttle bounds how many tasks run at once after a shortage. Without a shortage there
// is no bound beside Options.Jobs.
type throttle struct {
	mu      sync.Mutex
	running int
	limit   int           // 0 until the first shortage
	changed chan struct{} // closed when a task ends; nil if no task waits
	gaveUp  bool          // a task met maxLoneShortages
}

// enter waits until the task may run. It returns false if ctx ends before that.
func (t *throttle) enter(ctx context.Context) bool {
	for {
		t.mu.Lock()
		if t.limit == 0 || t.running < t.limit {
			t.running++
			t.mu.Unlock()
			return true
		}
		if t.changed == nil {
			t.changed = make(chan struct{})
		}
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// leave reports that a task has ended. After a shortage fewer tasks than now may run at
// once, and at least one. Leave returns whether the task ran alone.
func (t *throttle) leave(shortage bool) (alone bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	alone = t.running == 1
	t.running--
	if shortage {
		t.limit = max(t.running, 1)
	}
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
	return alone
}

// mayTryAgain reports whether a task that met n shortages while it ran alone gets another
// try. After one task has given up, all others get a single try each.
func (t *throttle) mayTryAgain(n int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gaveUp = t.gaveUp || n >= maxLoneShortages
	return n == 0 || !t.gaveUp
}

// runThroughShortages runs a task, and again after a pause as long as a shortage keeps it
// from running. The pauses belong to its waiting time.
func (e *executor) runThroughShortages(ctx context.Context, task plan.Task,
	timeout time.Duration) (plan.Result, error) {
	waited, pause, lone := 0.0, firstShortagePause, 0
	for {
		began := time.Now()
		if !e.throttle.enter(ctx) {
			result := plan.Result{Task: task.ID, ExitCode: -1, Waited: waited}
			e.markCanceled(ctx, &result)
			return result, nil
		}
		waited = addSeconds(waited, secondsSince(began))
		result, err := e.runWithRetry(ctx, task, timeout)
		short := result.Class == plan.ClassEnvironment
		if e.throttle.leave(short) && short {
			lone++
		}
		if !short || ctx.Err() != nil || !e.throttle.mayTryAgain(lone) {
			if result.Status == plan.NotRun && len(result.Before) == 0 {
				result.Attempts, result.Seconds, result.Spans = 0, 0, nil
			}
			result.Waited = addSeconds(result.Waited, waited)
			return result, err
		}
		began = time.Now()
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		waited, pause = addSeconds(waited, secondsSince(began)), 2*pause
	}
}
