package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const (
	attempts   = 5
	firstPause = 200 * time.Millisecond
	maxPause   = 5 * time.Second
	maxAfter   = 30 * time.Second // of Retry-After
)

// A permanent error is the same next time.
type permanent struct{ err error }

func (p *permanent) Error() string { return p.err.Error() }
func (p *permanent) Unwrap() error { return p.err }

// backOff tells whether to try again after an error, and when.
func backOff(err error, attempt int) (time.Duration, bool) {
	var never *permanent
	if attempt >= attempts || errors.As(err, &never) {
		return 0, false
	}
	most := min(firstPause<<(attempt-1), maxPause)
	pause := most/2 + rand.N(most/2) //nolint:gosec // spreads requests, hides nothing
	var status *StatusError
	if !errors.As(err, &status) {
		return pause, true
	}
	if status.Status != http.StatusTooManyRequests && status.Status < http.StatusInternalServerError {
		return 0, false
	}
	return max(pause, status.after), true
}

// retryAfter reads how long a server wants to be left alone, in seconds or as a
// date (RFC 9110, section 10.2.3), as far as we are willing to.
func retryAfter(res *http.Response) time.Duration {
	value := res.Header.Get("Retry-After")
	seconds, err := strconv.ParseUint(value, 10, 31)
	after := time.Duration(seconds) * time.Second
	if err != nil {
		at, err := http.ParseTime(value)
		if err != nil {
			return 0
		}
		after = time.Until(at)
	}
	return min(max(after, 0), maxAfter)
}

func sleep(ctx context.Context, pause time.Duration) error {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// tried adds how often a request was tried.
func tried(err error, attempt int) error {
	if attempt == 1 {
		return err
	}
	return fmt.Errorf("%w (tried %d times)", err, attempt)
}
