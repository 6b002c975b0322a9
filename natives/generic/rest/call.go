package rest

import (
	"context"
	"net/http"
	"strings"

	"github.com/app-sre/prcheck/natives/generic/operation"
)

// An Action is a request that neither reads nor writes a resource by the rules of its type, such
// as one that purges a deleted resource.
type Action struct {
	Method string // not GET
	Path   string // below the endpoint, with the query
	Body   any    // JSON; nil for none
}

// Do carries out an action on behalf of a resource, below the limit of the resource's root, and
// waits until the operation ends that it begins. The memory is told of the action right before it
// is sent (Intend), and of its operation. An action that may have been carried out is not sent
// again: the error is of the class [Retry], and the caller looks at what is there. The error is
// [ErrPending] if the operation goes on when the time is over. A trial sends nothing.
func (c *Client) Do(ctx context.Context, t Target, act Action, m Memory) error {
	if !strings.HasPrefix(act.Path, "/") || act.Method == "" || act.Method == http.MethodGet {
		return refusal(0, "%.10q %.200q is no action", act.Method, act.Path)
	}
	if c.Trial {
		return nil
	}
	unlock, err := c.chains.lock(ctx, t.Address.Chain)
	if err != nil {
		return err
	}
	defer unlock()
	r := request{method: act.Method, uri: c.path(act.Path), media: mediaJSON, root: t.Address.Root, about: t.Type,
		isOnce: true}
	if act.Body != nil {
		if r.body, err = encode(act.Body); err != nil {
			return err
		}
	}
	if err := m.Intend(ctx); err != nil {
		return err
	}
	a, err := c.send(ctx, r)
	if err != nil || !c.Family.HasOperations {
		return err
	}
	o, result := operation.Begin(r.method, r.uri, c.Endpoint, a, c.Clock.Fill().Now())
	switch {
	case o == nil:
		return c.ended(ctx, t, result)
	case o.Kind == operation.Resource:
		return nil // it has no address of its own: what it changes tells
	}
	return c.ended(ctx, t, c.follower(t, m).Follow(ctx, o))
}

// ResumeAction waits until the operation ends that an action of an earlier process began. The
// errors are those of [Client.Do].
func (c *Client) ResumeAction(ctx context.Context, t Target, o operation.Operation, m Memory) error {
	unlock, err := c.chains.lock(ctx, t.Address.Chain)
	if err != nil {
		return err
	}
	defer unlock()
	return c.ended(ctx, t, c.follower(t, m).Follow(ctx, &o))
}

// ended returns the error of an operation that an action began.
func (c *Client) ended(ctx context.Context, t Target, result operation.Ending) error {
	switch result.Outcome {
	case operation.Succeeded:
		return nil
	case operation.Failed:
		e := c.failed(result, t.Type)
		c.reclassify(e, t.Type)
		return e
	case operation.Pending:
		return pending(ctx, result.Err)
	}
	return &Error{Class: Retry, Message: "the service does not tell how the operation ended; the next run looks"}
}
