package generic

import (
	"context"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integrations/generic/body"
	"github.com/app-sre/prcheck/integrations/generic/rest"
	"github.com/app-sre/prcheck/integrations/generic/threeway"
	"github.com/app-sre/prcheck/native"
	"github.com/app-sre/prcheck/reconcile"
)

// The conditions of a resource.
const (
	ready   = "Ready"   // it works
	synced  = "Synced"  // it is as the data say
	drifted = "Drifted" // somebody changed what was applied
	blocked = "Blocked" // it cannot be made as the data say
)

// notRead is the reason of a condition that is not known, since the resource could not be read.
const notRead = "NotRead"

// isUnread says whether a resource could not be read: then nothing is known of it.
func isUnread(s reconcile.Step) bool {
	return s.Action == reconcile.Blocked && s.Code == reconcile.CodeIncomplete
}

// describe returns how a resource stands.
func (g *generic) describe(ctx context.Context, env integration.Environment, p native.Part, s reconcile.Step, r *reconcile.Result) integration.Status {
	e, ok := s.Item.Body.(*entry)
	if !ok {
		return integration.Status{}
	}
	out := integration.Status{Kind: e.of.TypeID(), Desired: body.Digest(e.desired)}
	isDone := r != nil && r.Status == reconcile.StatusDone
	if was, _, ok := recordOf(p.Known[s.Key]); ok {
		out.Observed = was.Digest
	}
	if isDone && s.Action != reconcile.Remove {
		out.Observed = out.Desired
	}
	out.Conditions = []integration.Aspect{g.isReady(ctx, env, p, e, s, isDone), isSynced(s, r, isDone), isDrifted(s, isDone), isBlocked(s)}
	return out
}

// isSynced says whether a resource is as the data say.
func isSynced(s reconcile.Step, r *reconcile.Result, isDone bool) integration.Aspect {
	c := integration.Aspect{Type: synced, Status: integration.True, Reason: "Same"}
	switch {
	case isDone:
		c.Reason = "Applied"
	case r != nil && r.Err != nil:
		c.Status, c.Reason, c.Message = integration.False, "Failed", r.Err.Error()
	case isUnread(s):
		c.Status, c.Reason = integration.Unknown, notRead
	case s.Action == reconcile.Blocked:
		c.Status, c.Reason = integration.False, "Blocked"
	case s.Action.Writes():
		c.Status, c.Reason, c.Message = integration.False, "Differs", fmt.Sprintf("%s: %s", s.Action, describeChanges(s))
	}
	return c
}

// isDrifted says whether somebody changed what was applied.
func isDrifted(s reconcile.Step, isDone bool) integration.Aspect {
	c := integration.Aspect{Type: drifted, Status: integration.False, Reason: "Same"}
	if isUnread(s) {
		c.Status, c.Reason = integration.Unknown, notRead
		return c
	}
	var paths []string
	for _, change := range s.Changes {
		if change.Reason == string(threeway.Drift) {
			paths = append(paths, change.Path)
		}
	}
	if len(paths) > 0 {
		c.Status, c.Reason, c.Message = integration.True, "Changed", strings.Join(paths[:min(len(paths), maxViolations)], ", ")
	}
	if isDone {
		c.Status, c.Reason, c.Message = integration.False, "Applied", ""
	}
	return c
}

// isBlocked says whether a resource cannot be made as the data say.
func isBlocked(s reconcile.Step) integration.Aspect {
	if s.Action != reconcile.Blocked {
		return integration.Aspect{Type: blocked, Status: integration.False, Reason: "Allowed"}
	}
	return integration.Aspect{Type: blocked, Status: integration.True, Reason: string(s.Code), Message: s.Reason}
}

// describeChanges names the places that differ.
func describeChanges(s reconcile.Step) string {
	if len(s.Changes) == 0 {
		return s.Reason
	}
	var paths []string
	for i, change := range s.Changes {
		if i == maxViolations {
			paths = append(paths, fmt.Sprintf("and %d more", len(s.Changes)-i))
			break
		}
		paths = append(paths, change.Path)
	}
	return strings.Join(paths, ", ")
}

// isReady says whether a resource works: by what it says of itself, and what its joins say.
func (g *generic) isReady(ctx context.Context, env integration.Environment, p native.Part, e *entry, s reconcile.Step, isDone bool) integration.Aspect {
	c := integration.Aspect{Type: ready, Status: integration.Unknown, Reason: notRead}
	switch {
	case isDone && s.Action == reconcile.Remove:
		c.Status, c.Reason = integration.False, "Deleted"
		return c
	case isDone:
		c.Status, c.Reason = integration.True, "Applied" // it was read back
		return c
	case isUnread(s):
		return c
	case s.Thing == nil:
		c.Status, c.Reason = integration.False, "NotThere"
		return c
	}
	is, ok := s.Thing.Body.(found)
	if !ok {
		return c
	}
	c.Status, c.Reason, c.Message = stateOf(is.live.Body)
	if len(e.of.Of.Joins) == 0 || env.Endpoint == nil || g.Families(p.Target.(target).Family).FieldManager != "" { // there the status is a part of the object
		return c
	}
	if err := g.join(ctx, env, p, e, &c); err != nil {
		c.Message = strings.TrimSpace(c.Message + " a part of the status cannot be read: " + err.Error())
	}
	return c
}

// join reads the parts of the status that are read for themselves.
func (g *generic) join(ctx context.Context, env integration.Environment, p native.Part, e *entry, c *integration.Aspect) error {
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
