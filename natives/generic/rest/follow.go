package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/app-sre/prcheck/natives/generic/operation"
)

// follow waits for the operation that an answer begins, and reads the resource afterwards.
func (w *write) follow(ctx context.Context, verb string, a operation.Answer) error {
	resource := w.path(w.t.Address.URI())
	if !w.Family.HasOperations {
		var err error
		w.live, err = w.Read(ctx, w.t)
		return err
	}
	o, r := operation.Begin(verb, resource, w.Endpoint, a, w.Clock.Fill().Now())
	f := w.follower(w.t, w.m)
	if o == nil {
		o = &operation.Operation{Verb: verb, Resource: resource, Kind: operation.Resource, Address: resource,
			Began: w.Clock.Fill().Now()}
	} else {
		o.FinalState = w.t.Abilities.FinalState[lower(verb)]
		r = f.Follow(ctx, o)
	}
	var err error
	w.live, err = w.settle(ctx, f, o, r, w.t.Type)
	if errors.Is(err, ErrPending) {
		w.result.Operation = o
	}
	return err
}

// settle reads the resource after an operation, and returns what it is then.
func (c *Client) settle(ctx context.Context, f operation.Follower, o *operation.Operation, r operation.Ending,
	typeName string) (Live, error) {
	var a operation.Answer
	isDone := r.Outcome == operation.Succeeded && o.Verb != http.MethodDelete
	if r.Outcome == operation.Succeeded || r.Outcome == operation.Unknown {
		a, r = f.Finish(ctx, o)
	}
	isGone := a.Status == http.StatusNotFound || a.Status == http.StatusGone
	switch {
	case isDone && isGone && ctx.Err() == nil:
		return Live{}, nil // it is not seen everywhere yet
	case ctx.Err() != nil, r.Outcome == operation.Pending:
		return Live{}, pending(ctx, r.Err)
	case r.Outcome == operation.Failed:
		e := c.failed(r, typeName)
		c.reclassify(e, typeName)
		return Live{}, e
	case isGone:
		return Live{}, nil
	}
	return c.live(a)
}

// pending returns why an operation is not followed any longer.
func pending(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		return ErrPending
	}
	return fmt.Errorf("%w (%w)", ErrPending, err)
}

// follower returns what asks about operations on a resource.
func (c *Client) follower(t Target, m Memory) operation.Follower {
	return operation.Follower{Endpoint: c.Endpoint, Clock: c.Clock, Timeout: c.Timeout, Save: m.Began,
		Ask: func(ctx context.Context, u *url.URL) (operation.Answer, error) {
			a, err := c.once(ctx, c.question(t, u.RequestURI()))
			var e *Error
			if errors.As(err, &e) && e.Status >= 400 && !e.isForeign {
				return a, nil // the status tells
			}
			return a, err
		}}
}

// Resume goes on with an operation that an earlier process began, and verifies what it did. The
// planner is nil for a delete.
func (c *Client) Resume(ctx context.Context, t Target, o operation.Operation, p Planner, m Memory) (Result, error) {
	unlock, err := c.chains.lock(ctx, t.Address.Chain)
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	w := &write{Client: c, t: t, p: p, m: m, result: Result{Did: Updated}}
	if o.Verb == http.MethodDelete {
		w.result.Did = Deleted
	}
	f := c.follower(t, m)
	w.live, err = c.settle(ctx, f, &o, f.Follow(ctx, &o), t.Type)
	switch {
	case errors.Is(err, ErrPending):
		w.result.Operation = &o
		return w.result, err
	case err != nil || p == nil || o.Verb == http.MethodDelete:
		return w.result, err
	}
	change, err := p.Plan(ctx, w.live)
	if w.trim(change); err != nil || change == nil {
		w.result.Live = w.live
		return w.result, err
	}
	return w.result, w.verify(ctx)
}
