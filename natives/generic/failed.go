package generic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/natives/generic/operation"
	"github.com/app-sre/prcheck/natives/generic/rest"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// codeFailed says that the service failed to make a resource as it was sent.
const codeFailed plan.FindingCode = "FAILED"

// pathState is how a change is named that mends nothing in the body.
const pathState = "/properties/provisioningState"

// A failure is an operation that failed after the service took the request.
type failure struct {
	At      time.Time `json:"at"`      // when it was sent last
	Times   int       `json:"times"`   // how often it was sent without success
	Message string    `json:"message"` // of the service, without secrets
}

// pauses are how long a resource that failed is left alone before it is sent again, unchanged.
var pauses = []time.Duration{5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 40 * time.Minute, time.Hour}

// next returns when the resource is sent again.
func (f failure) next() time.Time {
	return f.At.Add(pauses[min(max(f.Times, 1), len(pauses))-1])
}

// A standing is how the last operation on a resource left it.
type standing struct {
	isFailed bool
	message  string    // why
	next     time.Time // when it is sent again; zero: at once
}

// standingOf returns how a resource stands, by its own words if it has any, and else by what became of the operation
// that we began last.
func standingOf(live any, p pending) standing {
	var out standing
	state, isFailed := operation.IsFailed(live)
	switch {
	case isFailed:
		out = standing{isFailed: true, message: fmt.Sprintf("the service says %s", state)}
	case !operation.SaysState(live) && p.Failed != nil:
		out = standing{isFailed: true, message: "its last operation failed"}
	default:
		return out
	}
	if p.Failed != nil {
		out.next = p.Failed.next()
		out.message += ": " + p.Failed.Message
	}
	return out
}

// mistake returns why a resource is left as it is for now.
func (s standing) mistake() reconcile.Mistake {
	return reconcile.Mistake{Code: codeFailed,
		Message: fmt.Sprintf("%s. It is sent again after %s, or at once when the data change",
			s.message, s.next.UTC().Format(time.RFC3339))}
}

// error returns the mistake as an error.
func (s standing) error() error {
	m := s.mistake()
	return reconcile.Transient(fmt.Errorf("%s: %s", m.Code, m.Message))
}

// fail remembers that the operation of a request failed.
func (m *memory) fail(ctx context.Context, now time.Time, message string) error {
	times := 1
	if m.is.Failed != nil {
		times += m.is.Failed.Times
	}
	m.is.Failed = &failure{At: now.UTC(), Times: times, Message: message}
	return m.save(ctx)
}

// ended notes how a request ended, if an operation of it failed or succeeded.
func (w *writing) ended(ctx context.Context, err error) error {
	var e *rest.Error
	switch {
	case err == nil:
		w.memory.is.Failed = nil
	case errors.As(err, &e) && e.IsOfOperation:
		return w.memory.fail(ctx, w.Clock.Fill().Now(), e.Error())
	}
	return nil
}
