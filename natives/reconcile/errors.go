package reconcile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-multierror"

	"github.com/app-sre/prcheck/internal/crash"
)

// ErrConflict says that a thing was changed by others since it was read. The step is tried
// again over a new reading.
var ErrConflict = errors.New("somebody else changed it in the meantime")

// A FailureClass is the kind of a failure.
type FailureClass string

// The classes, the worst first.
const (
	ClassConfig    FailureClass = "config"    // the data or the settings are wrong
	ClassTask      FailureClass = "task"      // it failed
	ClassTransient FailureClass = "transient" // it may pass by itself
)

// A classed error has a class.
type classed struct {
	error
	class FailureClass
}

func (c classed) Unwrap() error { return c.error }

// FailureClass returns the class for those who do not know this package.
func (c classed) FailureClass() string { return string(c.class) }

// Config returns an error of class config.
func Config(err error) error { return classed{err, ClassConfig} }

// Transient returns an error of class transient.
func Transient(err error) error { return classed{err, ClassTransient} }

// ClassOf returns the class of an error. Of several errors the worst class counts: config, then
// task, then transient. Every error with a method FailureClass has a class; one without is of
// class task.
func ClassOf(err error) FailureClass {
	var many *multierror.Error
	if !errors.As(err, &many) {
		var c interface{ FailureClass() string }
		if errors.As(err, &c) {
			return FailureClass(c.FailureClass())
		}
		if errors.Is(err, ErrConflict) {
			return ClassTransient
		}
		return ClassTask
	}
	out := ClassTransient
	for _, e := range many.Errors {
		switch ClassOf(e) {
		case ClassConfig:
			return ClassConfig
		case ClassTask:
			out = ClassTask
		}
	}
	return out
}

// A StepError is the error of one step.
type StepError struct {
	Key    Key
	Action Action
	Err    error
}

// Error returns the message with key and action.
func (e *StepError) Error() string { return fmt.Sprintf("%s: %s: %v", e.Key, e.Action, e.Err) }

// Unwrap returns the error without key and action.
func (e *StepError) Unwrap() error { return e.Err }

// gather returns all errors of results as one, in key order; nil if there is none.
func gather(results []Result) error {
	var errs []error
	for _, r := range results {
		err := r.Err
		if err == nil {
			continue
		}
		if r.Status == StatusNotRun {
			err = fmt.Errorf("not run: %w", err)
		}
		errs = append(errs, &StepError{Key: r.Step.Key, Action: r.Step.Action, Err: err})
	}
	return Join(errs...)
}

// Join returns errors as one of their worst class; nil if all of them are.
func Join(errs ...error) error {
	var all *multierror.Error
	for _, err := range errs {
		if err != nil {
			all = multierror.Append(all, err)
		}
	}
	if all == nil {
		return nil
	}
	all.ErrorFormat = listErrors
	return classed{all, ClassOf(all)} // of several classes the first would count otherwise
}

// listErrors returns one line for each error.
func listErrors(errs []error) string {
	text := ""
	for i, err := range errs {
		if i > 0 {
			text += "\n"
		}
		text += err.Error()
	}
	return text
}

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
