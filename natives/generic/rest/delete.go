package rest

import (
	"context"
	"errors"
	"net/http"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/operation"
)

// Delete deletes a resource and waits until it is gone. The check looks at what is there before
// each attempt; its error refuses the deletion. A resource that is not there is no error.
func (c *Client) Delete(ctx context.Context, t Target, check func(context.Context, Live) error,
	m Memory) (Result, error) {
	unlock, err := c.chains.lock(ctx, t.Address.Chain)
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	w := &write{Client: c, t: t, m: m, result: Result{Did: Nothing}}
	err = w.untilDone(ctx, func(ctx context.Context) error {
		if _, err := c.locate(ctx, &w.t); err != nil || w.t.Find != nil {
			return err // it is not there, if nobody found it
		}
		var err error
		if w.live, err = c.present(ctx, w.t); err != nil || !w.live.Found {
			return err
		}
		if err := check(ctx, w.live); err != nil {
			return err
		}
		err = w.remove(ctx)
		var e *Error
		if errors.As(err, &e) && e.isDoubtful {
			w.result.Did = Deleted // if it is gone when it is read again
		}
		return err
	})
	return w.result, err
}

// present reads a resource. One that is not there is asked for twice.
func (c *Client) present(ctx context.Context, t Target) (Live, error) {
	live, err := c.Read(ctx, t)
	if err != nil || live.Found {
		return live, err
	}
	return c.Read(ctx, t)
}

// remove sends DELETE, and waits until the resource is gone.
func (w *write) remove(ctx context.Context) error {
	r := w.request(http.MethodDelete, w.t.Address.URI(), mediaJSON)
	var content any
	switch {
	case w.live.ETag == "":
		w.note(Note{Code: "NO_LOCK", Text: "the service has no versions: a change of somebody else at the same moment " +
			"would be lost"})
	case w.Family.LocksInBody:
		content = preconditions(w.live)
	default:
		r.header["If-Match"] = w.live.ETag
	}
	a, err := w.dismiss(ctx, r, content)
	var e *Error
	switch {
	case errors.As(err, &e) && e.Class == Gone:
		w.result.Did = Deleted
		return nil
	case err != nil:
		return err
	}
	w.answered, w.result.Did = true, Deleted
	return w.vanish(ctx, a)
}

// preconditions is the body of a DELETE of Kubernetes that holds only for what was read.
func preconditions(live Live) any {
	conditions := map[string]any{"resourceVersion": live.ETag}
	if uid, ok := body.Get(live.Body, "/metadata/uid"); ok {
		conditions["uid"] = uid
	}
	return map[string]any{"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background",
		"preconditions": conditions}
}

// dismiss sends a DELETE with a body, if there is one.
func (w *write) dismiss(ctx context.Context, r request, content any) (operation.Answer, error) {
	if content != nil {
		raw, err := encode(content)
		if err != nil {
			return operation.Answer{}, err
		}
		r.body = raw
	}
	return w.Client.send(ctx, r)
}

// vanish waits until a resource is gone: it is not there twice, or once after an operation.
func (w *write) vanish(ctx context.Context, a operation.Answer) error {
	clock := w.Clock.Fill()
	resource := w.path(w.t.Address.URI())
	f := w.follower(w.t, w.m)
	var o *operation.Operation
	r := operation.Ending{Outcome: operation.Succeeded}
	if w.Family.HasOperations {
		o, r = operation.Begin(http.MethodDelete, resource, w.Endpoint, a, clock.Now())
	}
	if o != nil {
		o.FinalState = w.t.Abilities.FinalState["delete"]
		r = f.Follow(ctx, o)
	} else {
		o = &operation.Operation{Verb: http.MethodDelete, Resource: resource, Kind: operation.Resource, Address: resource,
			Began: clock.Now().UTC(), Wait: 1}
		if r.Outcome == operation.Succeeded {
			_, err := w.settle(ctx, f, o, r, w.t.Type)
			if err != nil {
				return w.keep(o, err)
			}
		}
	}
	_, err := w.settle(ctx, f, o, r, w.t.Type)
	return w.keep(o, err)
}

// keep puts an operation that goes on into the result.
func (w *write) keep(o *operation.Operation, err error) error {
	if errors.Is(err, ErrPending) {
		w.result.Operation = o
	}
	return err
}
