package generic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/natives/generic/hooks"
	"github.com/app-sre/prcheck/natives/generic/operation"
	"github.com/app-sre/prcheck/natives/generic/rest"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// A call is a request that a hook asked for, such as one that purges a deleted resource. It is
// remembered before it is sent and until its end is known, so that no run begins it twice.
type call struct {
	Method    string               `json:"method"`
	Path      string               `json:"path"`
	At        time.Time            `json:"at"`                  // when it was about to be sent
	Operation *operation.Operation `json:"operation,omitempty"` // that it began
}

// callPause is how long a call of which nobody knows whether it arrived is not sent again.
const callPause = 5 * time.Minute

// A callMemory stores the call of a hook about one resource.
type callMemory struct {
	*memory
	call call
}

// Intend implements [rest.Memory].
func (m callMemory) Intend(ctx context.Context) error {
	m.is.Call = &m.call
	return m.save(ctx)
}

// Began implements [rest.Memory].
func (m callMemory) Began(ctx context.Context, o operation.Operation) error {
	m.call.Operation = &o
	return m.Intend(ctx)
}

// forget drops the call, whose end is known.
func (m callMemory) forget(ctx context.Context) error {
	if m.is.Call = nil; m.is.Intended || m.is.Operation != nil {
		return m.save(ctx)
	}
	return m.remove(ctx)
}

// call makes a call that a hook asks for, or waits for the end of that of an earlier run.
func (w *writing) call(ctx context.Context, q hooks.Request) error {
	now := w.Clock.Fill().Now().UTC()
	m := callMemory{w.memory, call{Method: q.Method, Path: q.Path, At: now}}
	was := w.memory.is.Call
	var err error
	switch {
	case was == nil || was.Method != q.Method || was.Path != q.Path, was.Operation == nil && now.Sub(was.At) >= callPause:
		err = w.client.Do(ctx, w.target, rest.Action{Method: q.Method, Path: q.Path, Body: q.Body}, m)
		if isUnknown(err) {
			return err
		}
	case was.Operation == nil:
		return reconcile.Transient(fmt.Errorf("it was sent at %s, and nothing tells how it went; it is sent again after %s",
			was.At.Format(time.RFC3339), was.At.Add(callPause).Format(time.RFC3339)))
	default:
		m.call = *was
		if err = w.client.ResumeAction(ctx, w.target, *was.Operation, m); errors.Is(err, rest.ErrPending) {
			return err
		}
	}
	return errors.Join(err, m.forget(ctx))
}

// isUnknown reports whether a call with an error may have been carried out, or goes on.
func isUnknown(err error) bool {
	var e *rest.Error
	return err != nil && (!errors.As(err, &e) || e.Class == rest.Retry)
}
