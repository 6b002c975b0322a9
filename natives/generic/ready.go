package generic

import (
	"context"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rest"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// isReady says whether a resource works: by what it says of itself, and what the parts of its status
// say that are read for themselves. It also returns the hash of the resource that they belong to.
func (g *generic) isReady(ctx context.Context, env integration.Environment, p native.Part, s reconcile.Step,
	r *reconcile.Result,
	last integration.Status,
) (c integration.Aspect, seen string) {
	c = integration.Aspect{Type: ready, Status: integration.Unknown, Reason: notRead}
	e, live, isKnown := g.sayOfItself(s, r, &c)
	// there the status is a part of the object
	if !isKnown || len(e.of.Of.Joins) == 0 || env.Endpoint == nil || e.family.FieldManager != "" {
		return c, ""
	}
	if seen = e.hash(live); r != nil && isSettled(last, seen) {
		return c, seen
	}
	if err := g.join(ctx, env, p, e, &c); err != nil {
		c.Message = strings.TrimSpace(c.Message + " a part of the status cannot be read: " + err.Error())
	}
	return c, seen
}

// sayOfItself fills in what a resource says of itself, and returns its body, nil if nobody read it
// after it was written. It returns false if there is nothing more to know.
func (g *generic) sayOfItself(s reconcile.Step, r *reconcile.Result,
	c *integration.Aspect) (e *entry, live any, isKnown bool) {
	isDone := r != nil && r.Status == reconcile.StatusDone
	e, isEntry := s.Item.Body.(*entry)
	switch {
	case isDone && s.Action == reconcile.Remove:
		c.Status, c.Reason = integration.False, "Deleted"
		return e, nil, false
	case isDone:
		c.Status, c.Reason = integration.True, "Applied" // it was read back
		return e, e.written, isEntry
	case isUnread(s):
		return e, nil, false
	case s.Thing == nil:
		c.Status, c.Reason = integration.False, "NotThere"
		return e, nil, false
	}
	is, isFound := s.Thing.Body.(found)
	if isFound {
		c.Status, c.Reason, c.Message = stateOf(is.live.Body)
	}
	return e, is.live.Body, isEntry && isFound
}

// hash returns the keyed hash of a resource, "" if there is no key or nothing to hash. A service may
// answer secrets, so a plain hash is not stored.
func (e *entry) hash(live any) string {
	if e.key == nil || live == nil {
		return ""
	}
	return body.HMAC(e.key, live)
}

// isSettled reports whether the last status said that a resource works, with all of its parts, and
// the resource is the same since then. Then a run reads no part again.
func isSettled(last integration.Status, seen string) bool {
	for _, c := range last.Conditions {
		if c.Type == ready {
			return seen != "" && seen == last.Seen && c.Status == integration.True && c.Message == ""
		}
	}
	return false
}

// join reads the parts of the status that are read for themselves.
func (g *generic) join(ctx context.Context, env integration.Environment, p native.Part, e *entry,
	c *integration.Aspect) error {
	t, err := targetOf(p)
	if err != nil {
		return err
	}
	transport, err := env.Endpoint(ctx, t.EndpointRef)
	if err != nil {
		return err
	}
	s, err := g.open(env, p, transport, g.reads)
	if err != nil {
		return err
	}
	if e.of.Plain != nil {
		return nil // what stands below a resource of a plain API need not be about its status
	}
	for _, part := range e.of.Of.Joins {
		live, err := s.client.Join(ctx, rest.Target{Address: e.of.Address, Type: e.of.TypeID()}, part)
		if err != nil {
			return err
		}
		if status, reason, message := statusesOf(live.Body); status == integration.False && c.Status != integration.False {
			c.Status, c.Reason, c.Message = status, reason, part+": "+message
		}
	}
	return nil
}

// stateOf returns what a resource says of itself.
func stateOf(live any) (status integration.Truth, reason, message string) {
	if now, ok := body.Get(live, "/properties/provisioningState"); ok {
		switch text, _ := now.(string); strings.ToLower(text) {
		case "succeeded":
			return integration.True, "Succeeded", ""
		case "failed", "canceled", "cancelled":
			return integration.False, text, "the last operation of the service ended so"
		default:
			return integration.Unknown, "InProgress", text
		}
	}
	all, _ := body.Get(live, "/status/conditions")
	conditions, _ := all.([]any)
	for _, one := range conditions {
		kind, _ := body.Get(one, "/type")
		if kind != "Ready" && kind != "Available" {
			continue
		}
		value, _ := body.Get(one, "/status")
		why, _ := body.Get(one, "/reason")
		text, _ := body.Get(one, "/message")
		switch value {
		case "True":
			return integration.True, show(why), ""
		case "False":
			return integration.False, show(why), show(text)
		}
		return integration.Unknown, show(why), show(text)
	}
	return integration.True, "Found", ""
}

// statusesOf returns the first status of an instance view that says that something is wrong.
func statusesOf(view any) (status integration.Truth, reason, message string) {
	all, _ := body.Get(view, "/statuses")
	list, _ := all.([]any)
	for _, one := range list {
		if level, _ := body.Get(one, "/level"); level == "Error" {
			code, _ := body.Get(one, "/code")
			text, _ := body.Get(one, "/message")
			return integration.False, show(code), show(text)
		}
	}
	return integration.True, "", ""
}
