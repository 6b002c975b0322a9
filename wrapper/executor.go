package wrapper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/app-sre/prcheck/internal/crash"
	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
)

// errTimeout is the cause of a context that ended at the task's own timeout.
var errTimeout = errors.New("timed out")

// An executor runs single tasks. All goroutines of a run share one executor.
type executor struct {
	runner Runner
	opts   RunOptions
	masker *mask.Masker
	failed atomic.Bool // whether a result fails the check

	throttle throttle

	isRunCanceled func() bool // whether the whole run was canceled
	observing     sync.Mutex  // held while opts.Observe is called
}

// execute runs a task with its attempts, or says in the result why it does not run.
// The error is about the task's log.
func (e *executor) execute(ctx context.Context, task plan.Task, since waitStart) (plan.Result, error) {
	timeout, err := time.ParseDuration(task.Timeout)
	result := plan.Result{Task: task.ID, Status: plan.NotRun, Class: plan.ClassConfig, ExitCode: -1}
	switch {
	case task.Blocked != "":
		result.Reason = e.cleanReason(task.Blocked)
	case err != nil || timeout <= 0:
		result.Reason = toOneLine(fmt.Sprintf("the timeout %q is not a positive duration", task.Timeout))
	case ctx.Err() != nil:
		result.Status, result.Class, result.Reason = plan.Canceled, "", "canceled before it started"
	case e.opts.FailFast && e.failed.Load():
		result.Status, result.Class, result.Reason = plan.Canceled, "",
			"canceled before it started, since another task failed"
	default:
		e.notify(Event{Task: task})
		waited, blocked := secondsSince(since.ready), secondsSince(since.blocked)
		result, err = e.runThroughShortages(ctx, task, timeout)
		result.Waited, result.TargetWait = addSeconds(result.Waited, waited), addSeconds(result.TargetWait, blocked)
		e.notify(Event{Task: task, Result: &result, LogLost: err != nil})
		return result, err
	}
	e.notify(Event{Task: task, Result: &result})
	return result, nil
}

// skipUnavailable returns the result of a task that does not run because its target is
// unavailable.
func (e *executor) skipUnavailable(task plan.Task, target string) plan.Result {
	result := plan.Result{
		Task: task.ID, Status: plan.NotRun, Class: plan.ClassTransient, ExitCode: -1, Unavailable: e.cleanReason(target),
		Reason: e.cleanReason(fmt.Sprintf("target unavailable: %s: %d tasks in a row failed there for reasons that may pass",
			target, maxTransientFailures)),
	}
	e.failed.Store(true)
	e.notify(Event{Task: task, Result: &result})
	return result
}

// notify lets opts.Finish complete the result of a task that has ended. Then it passes the
// event to opts.Observe, one event at a time.
func (e *executor) notify(event Event) {
	if e.opts.Finish != nil && event.Result != nil {
		e.opts.Finish(event.Task, event.Result)
	}
	if e.opts.Observe == nil {
		return
	}
	e.observing.Lock()
	defer e.observing.Unlock()
	e.opts.Observe(event)
}

// settle returns the final result of a task. With FailFast a failed result goes
// through opts.Settle first. settle also notes whether the result fails the check.
func (e *executor) settle(ctx context.Context, task plan.Task, result plan.Result) plan.Result {
	if e.opts.FailFast && e.opts.Settle != nil && result.Status == plan.Failed {
		result = e.opts.Settle(ctx, task, result)
	}
	if result.Blocks() && result.Class != plan.ClassEnvironment {
		e.failed.Store(true)
	}
	return result
}

// runAttempt makes one attempt to run the task, with a log of its own. It returns
// whether another attempt may end better. The error is about the log.
func (e *executor) runAttempt(ctx context.Context, task plan.Task, timeout time.Duration,
	attempt int) (result plan.Result, retry bool, err error) {
	output := &outputWriter{masker: e.masker, stream: e.masker.Stream(), logs: e.opts.Logs, task: task.ID,
		attempt: attempt}
	begin := time.Now()
	result = e.runWithTimeout(ctx, task, timeout, output)
	result.Task, result.Attempts = task.ID, 1
	result.Seconds = toSeconds(time.Since(begin))
	result.Spans = []plan.Span{{Started: toSeconds(begin.Sub(e.opts.Began)), Seconds: result.Seconds}}

	tail, err := output.close()
	result.Tail, result.Log = tail, output.shownPath
	result.Class, retry = e.classify(task, result)
	if err != nil {
		lost := e.cleanReason("its log could not be kept: " + err.Error())
		if result.OK() {
			result.Status, result.Class, result.Reason = plan.Failed, plan.ClassTransient, lost
		} else {
			result.Reason += "; " + lost
		}
		if isShortage(err) {
			result.Class = plan.ClassEnvironment
		}
	}
	return result, retry && err == nil, err
}

// runWithTimeout calls the Runner and turns its error into a result.
func (e *executor) runWithTimeout(ctx context.Context, task plan.Task, timeout time.Duration,
	log io.Writer) plan.Result {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errTimeout)
	defer cancel()
	returned, err := e.callRunner(ctx, task, log)
	result := plan.Result{Status: plan.Failed, Class: plan.ClassTask, ExitCode: -1}
	var exit *ExitError
	if errors.As(err, &exit) {
		result.ExitCode = exit.Code
	}
	var config *ConfigError
	var shortage *ShortageError
	var transient *TransientError
	switch {
	case errors.Is(context.Cause(ctx), errTimeout):
		result.Status, result.Class, result.Reason = plan.TimedOut, plan.ClassTransient,
			fmt.Sprintf("timed out after %s", timeout)
	case ctx.Err() != nil:
		e.markCanceled(ctx, &result)
	case err == nil:
		return plan.Result{Status: plan.Passed}
	case errors.As(err, &shortage):
		result.Status, result.Class, result.Reason = plan.NotRun, plan.ClassEnvironment, e.cleanReason(shortage.reason(err))
	case errors.As(err, &config):
		result.Class, result.Reason = plan.ClassConfig, e.cleanReason(err.Error())
	case errors.As(err, &transient):
		result.Class, result.Reason = plan.ClassTransient, e.cleanReason(err.Error())
	default:
		result.Reason = e.cleanReason(err.Error())
	}
	if !returned {
		if result.Class == plan.ClassTransient {
			result.Class = plan.ClassTask // no second attempt: the first one is still running
		}
		result.Reason += fmt.Sprintf("; it did not stop within %s and was left behind", e.opts.Abandon)
	}
	return result
}

// markCanceled changes r into the result of a task whose ctx ended before the task
// did. If only this task was canceled, for example because it lost its lease, the
// result is transient and tells the cause.
func (e *executor) markCanceled(ctx context.Context, r *plan.Result) {
	r.Status, r.Class, r.Reason = plan.Canceled, "", "canceled"
	if !e.isRunCanceled() {
		r.Class, r.Reason = plan.ClassTransient, e.cleanReason("canceled: "+context.Cause(ctx).Error())
	}
}

// callRunner calls the Runner in a goroutine of its own. If the Runner ignores the
// end of ctx for longer than opts.Abandon, callRunner leaves it behind and returns
// false.
func (e *executor) callRunner(ctx context.Context, task plan.Task, log io.Writer) (returned bool, err error) {
	done := make(chan error, 1)
	go func() {
		err := errors.New("the runner ended its goroutine")
		defer func() {
			if cause := recover(); cause != nil {
				err = errors.New(crash.Text(cause))
				_, _ = fmt.Fprintf(log, "%v\n%s", err, debug.Stack())
			}
			done <- err
		}()
		err = e.runner.Run(ctx, task, log)
	}()
	select {
	case err := <-done:
		return true, err
	case <-ctx.Done():
	}
	timer := time.NewTimer(e.opts.Abandon)
	defer timer.Stop()
	select {
	case err := <-done:
		return true, err
	case <-timer.C:
		return false, ctx.Err()
	}
}

// cleanReason makes a reason of a message: one line, secrets masked, without control
// characters.
func (e *executor) cleanReason(message string) string {
	return toOneLine(e.masker.Text(sanitize.Text(message)))
}

// toSeconds returns a duration in seconds, rounded to milliseconds.
func toSeconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }

// secondsSince returns the seconds since t, or 0 if t is zero.
func secondsSince(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return toSeconds(time.Since(t))
}

// addSeconds adds two numbers of seconds and rounds the sum to milliseconds.
func addSeconds(a, b float64) float64 { return math.Round((a+b)*1000) / 1000 }

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
