package ci

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// How long things may take, and how often they are tried.
const (
	requestTimeout = time.Minute
	maxAttempts    = 6
	maxTotal       = 3 * time.Minute // of one request with all its attempts
	firstPause     = 500 * time.Millisecond
	maxPause       = 10 * time.Second
	jitter         = time.Second // beyond what a server asks for
)

// A permanentError is the same next time.
type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// retry calls do until it succeeds, with a time limit for each attempt. It is for
// what can be repeated without harm.
func retry(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	end := time.Now().Add(max(maxTotal, limit))
	for attempt := 1; ; attempt++ {
		err := within(ctx, limit, do)
		if err == nil || ctx.Err() != nil || !passing(err) {
			return tried(err, attempt)
		}
		wait := pause(err, attempt)
		if attempt == maxAttempts || time.Now().Add(wait).After(end) {
			return tried(err, attempt)
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// within calls do with a time limit. When it is over, the error says so.
func within(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	late := fmt.Errorf("no answer within %s", limit)
	inner, cancel := context.WithTimeoutCause(ctx, limit, late)
	defer cancel()
	err := do(inner)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case inner.Err() != nil:
		return late
	}
	return err
}

// tried adds how often a request was tried.
func tried(err error, attempts int) error {
	if err == nil || attempts == 1 {
		return err
	}
	return fmt.Errorf("%w (tried %d times)", err, attempts)
}

// passing tells whether it may be otherwise next time.
func passing(err error) bool {
	var never *permanentError
	var certificate *tls.CertificateVerificationError
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var refused *RefusedError
	switch {
	case errors.As(err, &never), errors.As(err, &certificate), errors.As(err, &syntax), errors.As(err, &kind):
		return false
	case errors.As(err, &refused):
		return refused.passing()
	}
	return true
}

func (e *RefusedError) passing() bool {
	return e.undone() || e.Status == http.StatusRequestTimeout || e.Status >= http.StatusInternalServerError && e.Status != http.StatusNotImplemented
}

// undone tells of an answer that may be otherwise next time whether GitLab
// certainly did nothing. After others a request may have been carried out, or
// still be.
func (e *RefusedError) undone() bool {
	switch e.Status {
	case http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return false
}

// unknown tells whether a request may have been carried out, or still be, although
// there was an error.
func unknown(err error) bool {
	var refused *RefusedError
	if errors.As(err, &refused) {
		return refused.passing() && !refused.undone()
	}
	return true
}

// pause returns how long to wait after an attempt.
func pause(err error, attempt int) time.Duration {
	most := min(firstPause<<(min(attempt, maxAttempts)-1), maxPause)
	wait := most/2 + rand.N(most/2) //nolint:gosec // spreads requests, hides nothing
	var refused *RefusedError
	if errors.As(err, &refused) && refused.after > 0 {
		return max(wait, refused.after+rand.N(jitter)) //nolint:gosec // as above
	}
	return wait
}

// askedFor reads how long a server wants to be left alone: Retry-After in seconds
// or as a date (RFC 9110, section 10.2.3), else RateLimit-Reset, the second since
// 1970 when a used-up limit begins anew.
func askedFor(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(time.Until(at), 0)
	}
	if second, err := strconv.ParseInt(h.Get("RateLimit-Reset"), 10, 64); err == nil && h.Get("RateLimit-Remaining") == "0" {
		return max(time.Until(time.Unix(second, 0)), 0)
	}
	return 0
}

func sleep(ctx context.Context, wait time.Duration) error {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
