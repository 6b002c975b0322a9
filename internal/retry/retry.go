package retry

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// A Policy says how often a request is sent, and how long the pauses are.
type Policy struct {
	Attempts   int           // at most, with the first one
	FirstPause time.Duration // the longest pause after the first attempt
	MaxPause   time.Duration // the longest pause after any attempt, unless a server asks for more
	Spread     time.Duration // by how much more than a server asked for is waited at most
	Within     time.Duration // no attempt begins later than this after the first one; 0 is no bound
	// Random returns a duration from 0 to below its argument; nil is rand.N.
	Random func(time.Duration) time.Duration
}

// Do calls do until it succeeds or there is no sense in another attempt. The function
// mayPass looks at an error: it returns whether the next attempt may succeed, and how
// long the server asked to wait, or 0. An error of [Permanent] never passes.
//
// The error is that of the last attempt, and says how many there were; or the cause
// of the context, when that ended.
func (p Policy) Do(ctx context.Context, do func(context.Context) error,
	mayPass func(error) (after time.Duration, ok bool)) error {
	end := time.Now().Add(p.Within)
	for attempt := 1; ; attempt++ {
		err := do(ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case attempt >= p.Attempts, IsPermanent(err):
			return Tried(err, attempt)
		}
		after, ok := mayPass(err)
		pause := p.Pause(attempt, after)
		if !ok || p.Within > 0 && time.Now().Add(pause).After(end) {
			return Tried(err, attempt)
		}
		if err := Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// Pause returns how long to wait after a number of attempts that failed, which is at
// least 1. After is how long the server asked to wait, or 0.
func (p Policy) Pause(failures int, after time.Duration) time.Duration {
	longest := p.FirstPause
	for range failures - 1 {
		longest = min(2*longest, p.MaxPause)
	}
	longest = min(longest, p.MaxPause)
	pause := longest - p.random(longest/2)
	if after > 0 {
		pause = max(pause, after+p.random(p.Spread))
	}
	return pause
}

func (p Policy) random(below time.Duration) time.Duration {
	switch {
	case below <= 0:
		return 0
	case p.Random != nil:
		return p.Random(below)
	}
	return rand.N(below)
}

// Sleep waits. When the context ends before that, it returns its cause.
func Sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// Tried adds the number of attempts to an error, unless there was only one.
func Tried(err error, attempts int) error {
	if err == nil || attempts <= 1 {
		return err
	}
	return fmt.Errorf("%w (tried %d times)", err, attempts)
}

// A permanentError is an error that does not pass by itself.
type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// Permanent marks an error as one that does not pass by itself. The text stays as it
// is, and nil stays nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

// IsPermanent reports whether an error was marked with [Permanent].
func IsPermanent(err error) bool {
	var permanent *permanentError
	return errors.As(err, &permanent)
}
