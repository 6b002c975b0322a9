package state

import (
	"context"
	"errors"
	"time"
)

// Grace is for how long a run that was interrupted may go on to write what it
// learned.
const Grace = 20 * time.Second

// ErrGraceOver says that a run was interrupted, and that the time to write what it
// had learned is over.
var ErrGraceOver = errors.New("the run was interrupted, and it took too long to write what it had learned")

// WithGrace returns a context for writing what was learned until ctx ended. It
// does not end together with ctx, but [Grace] later; [Grace] from now when ctx has
// ended already. As long as ctx does not end, it has no end either. The caller
// calls cancel after the writing.
func WithGrace(ctx context.Context) (graced context.Context, cancel context.CancelFunc) {
	graced, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(Grace):
			end(ErrGraceOver)
		case <-graced.Done():
		}
	})
	return graced, func() {
		stop()
		end(nil)
	}
}

// ended returns the error of a context that has ended, and nil before that.
func ended(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, ErrGraceOver) {
		return cause
	}
	return ctx.Err()
}
