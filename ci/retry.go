package ci

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/app-sre/prcheck/internal/retry"
)

// How long one request may take, and all its attempts together.
const (
	requestTimeout = time.Minute
	maxTotal       = 3 * time.Minute
)

// requests is how requests to GitLab are repeated.
var requests = retry.Policy{Attempts: 6, FirstPause: 500 * time.Millisecond, MaxPause: 10 * time.Second,
	Spread: time.Second}

// repeat sends a request until it succeeds, with a time limit for each attempt. The
// request must do no harm when GitLab carries it out twice.
func repeat(ctx context.Context, limit time.Duration, send func(context.Context) error) error {
	policy := requests
	policy.Within = max(maxTotal, limit)
	return policy.Do(ctx, func(ctx context.Context) error { return sendWithin(ctx, limit, send) }, mayPass)
}

// sendWithin sends a request once, with a time limit. When the time is over, the error
// says so.
func sendWithin(ctx context.Context, limit time.Duration, send func(context.Context) error) error {
	late := fmt.Errorf("no answer within %s", limit)
	limited, cancel := context.WithTimeoutCause(ctx, limit, late)
	defer cancel()
	err := send(limited)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil:
		return late
	}
	return err
}

// mayPass reports whether the next attempt may succeed after an error, and how long
// GitLab asked to wait.
func mayPass(err error) (after time.Duration, ok bool) {
	var certificate *tls.CertificateVerificationError
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var refused *RefusedError
	switch {
	case retry.IsPermanent(err), errors.As(err, &certificate), errors.As(err, &syntax), errors.As(err, &kind):
		return 0, false
	case errors.As(err, &refused):
		return refused.after, refused.mayPass()
	}
	return 0, true
}

// mayPass reports whether the same request may succeed later.
func (e *RefusedError) mayPass() bool {
	return e.didNothing() || e.Status == http.StatusRequestTimeout || e.Status >= http.StatusInternalServerError &&
		e.Status != http.StatusNotImplemented
}

// didNothing reports whether GitLab certainly did nothing, although the next attempt
// may succeed. After other answers GitLab may have carried the request out, or may
// still do so.
func (e *RefusedError) didNothing() bool {
	switch e.Status {
	case http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return false
}

// mayHaveHappened reports whether GitLab may have carried a request out, or may still
// do so, although there was an error.
func mayHaveHappened(err error) bool {
	var refused *RefusedError
	if errors.As(err, &refused) {
		return refused.mayPass() && !refused.didNothing()
	}
	return true
}

// retryAfter returns how long GitLab asks to wait: with Retry-After, or else with
// RateLimit-Reset, the second since 1970 at which a used-up limit begins anew. It
// returns 0 when GitLab asks for nothing.
func retryAfter(header http.Header) time.Duration {
	now := time.Now()
	if after, ok := retry.After(header, now); ok {
		return after
	}
	if second, err := strconv.ParseInt(header.Get("RateLimit-Reset"), 10, 64); err == nil &&
		header.Get("RateLimit-Remaining") == "0" {
		return max(time.Unix(second, 0).Sub(now), 0)
	}
	return 0
}
