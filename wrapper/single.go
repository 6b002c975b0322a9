package wrapper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
)

// errTimeout is the cause of a context that ended at the task's own timeout.
var errTimeout = errors.New("timed out")

// A single runs one task at a time; several goroutines share it.
type single struct {
	runner Runner
	opts   Options
	masker *masker
	failed atomic.Bool // a result fails the check

	stopped func() bool // is all of the run to end?
	observer
}

// run runs one task, or says why not. The error is trouble with its log.
func (s *single) run(ctx context.Context, task plan.Task, w wait) (plan.Result, error) {
	timeout, err := time.ParseDuration(task.Timeout)
	result := plan.Result{Task: task.ID, Status: plan.NotRun, Class: plan.ClassConfig, ExitCode: -1}
	switch {
	case task.Blocked != "":
		result.Reason = s.line(task.Blocked)
	case err != nil || timeout <= 0:
		result.Reason = oneLine(fmt.Sprintf("the timeout %q is not a positive duration", task.Timeout))
	case ctx.Err() != nil:
		result.Status, result.Class, result.Reason = plan.Canceled, "", "canceled before it started"
	case s.opts.FailFast && s.failed.Load():
		result.Status, result.Class, result.Reason = plan.Canceled, "", "canceled before it started, since another task failed"
	default:
		s.tell(s.opts.Observe, Event{Task: task})
		waited, target := since(w.ready), since(w.target)
		result, err = s.attempts(ctx, task, timeout)
		result.Waited, result.TargetWait = sum(result.Waited, waited), sum(result.TargetWait, target)
		s.end(task, &result, err != nil)
		return result, err
	}
	s.end(task, &result, false)
	return result, nil
}

// unavailable is the result of a task whose target is taken for unavailable.
func (s *single) unavailable(task plan.Task, target string) plan.Result {
	result := plan.Result{
		Task: task.ID, Status: plan.NotRun, Class: plan.ClassTransient, ExitCode: -1, Unavailable: s.line(target),
		Reason: s.line(fmt.Sprintf("target unavailable: %s: %d tasks in a row failed there for reasons that may pass", target, trips)),
	}
	s.failed.Store(true)
	s.end(task, &result, false)
	return result
}

// end tells how a task ended, and whether its log was lost.
func (s *single) end(task plan.Task, result *plan.Result, lost bool) {
	s.tell(s.opts.Observe, Event{Task: task, Result: result, Lost: lost})
}

// settle tells whether a task ended so that nothing more is to start, and what is
// known of its failure then.
func (s *single) settle(ctx context.Context, task plan.Task, result plan.Result) plan.Result {
	if s.opts.FailFast && s.opts.Settle != nil && result.Status == plan.Failed {
		result = s.opts.Settle(ctx, task, result)
	}
	if result.Blocks() {
		s.failed.Store(true)
	}
	return result
}

// start makes one attempt to run the task, with a log of its own, and tells
// whether another one may end better.
func (s *single) start(ctx context.Context, task plan.Task, timeout time.Duration, attempt int) (result plan.Result, again bool, err error) {
	log := &sink{mask: maskStream{masker: s.masker}, logs: s.opts.Logs, task: task.ID, attempt: attempt}
	begin := time.Now()
	result = s.judge(ctx, task, timeout, log)
	result.Task, result.Attempts = task.ID, 1
	result.Seconds = seconds(time.Since(begin))
	result.Spans = []plan.Span{{Started: seconds(begin.Sub(s.opts.Began)), Seconds: result.Seconds}}

	tail, err := log.close()
	result.Tail, result.Log = tail, log.shown
	result.Class, again = s.classify(task, result)
	if err != nil {
		trouble := s.line("its log could not be kept: " + err.Error())
		if result.OK() {
			result.Status, result.Class, result.Reason = plan.Failed, plan.ClassTransient, trouble
		} else {
			result.Reason += "; " + trouble
		}
	}
	return result, again && err == nil, err
}

// judge calls the Runner and turns what it says into a result.
func (s *single) judge(ctx context.Context, task plan.Task, timeout time.Duration, log io.Writer) plan.Result {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errTimeout)
	defer cancel()
	returned, err := s.call(ctx, task, log)
	result := plan.Result{Status: plan.Failed, Class: plan.ClassTask, ExitCode: -1}
	var exit *ExitError
	if errors.As(err, &exit) {
		result.ExitCode = exit.Code
	}
	var config *ConfigError
	switch {
	case errors.Is(context.Cause(ctx), errTimeout):
		result.Status, result.Class, result.Reason = plan.TimedOut, plan.ClassTransient, fmt.Sprintf("timed out after %s", timeout)
	case ctx.Err() != nil:
		s.cancel(ctx, &result)
	case err == nil:
		return plan.Result{Status: plan.Passed}
	case errors.As(err, &config):
		result.Class, result.Reason = plan.ClassConfig, s.line(err.Error())
	default:
		result.Reason = s.line(err.Error())
	}
	if !returned {
		if result.Class == plan.ClassTransient {
			result.Class = plan.ClassTask // it still runs, and must not run twice at once
		}
		result.Reason += fmt.Sprintf("; it did not stop within %s and was left behind", s.opts.Abandon)
	}
	return result
}

// cancel makes a result that of a task that did not get to its end before ctx ended.
func (s *single) cancel(ctx context.Context, r *plan.Result) {
	r.Status, r.Class, r.Reason = plan.Canceled, "", "canceled"
	if !s.stopped() { // only this task, which may run beside others at its targets
		r.Class, r.Reason = plan.ClassTransient, s.line("canceled: "+context.Cause(ctx).Error())
	}
}

// call runs the Runner in a goroutine of its own, so that one that ignores its
// context can be left behind.
func (s *single) call(ctx context.Context, task plan.Task, log io.Writer) (returned bool, err error) {
	done := make(chan error, 1)
	go func() {
		err := errors.New("the runner ended its goroutine")
		defer func() {
			if cause := recover(); cause != nil {
				_, _ = fmt.Fprintf(log, "panic: %v\n%s", cause, debug.Stack())
				err = fmt.Errorf("panic: %v", cause)
			}
			done <- err
		}()
		err = s.runner.Run(ctx, task, log)
	}()
	select {
	case err := <-done:
		return true, err
	case <-ctx.Done():
	}
	timer := time.NewTimer(s.opts.Abandon)
	defer timer.Stop()
	select {
	case err := <-done:
		return true, err
	case <-timer.C:
		return false, ctx.Err()
	}
}

// line makes a reason of a message: masked, harmless, one line.
func (s *single) line(message string) string {
	return oneLine(s.masker.text(sanitize.Text(message)))
}

// seconds returns a duration as results have it, to the millisecond.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }

// since is how long ago a time was; 0 when there was none.
func since(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return seconds(time.Since(t))
}

// sum adds two of them.
func sum(a, b float64) float64 { return math.Round((a+b)*1000) / 1000 }
