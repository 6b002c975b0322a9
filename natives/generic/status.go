package generic

import (
	"context"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/threeway"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
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
func (g *generic) describe(ctx context.Context, env integration.Environment, p native.Part, s reconcile.Step,
	r *reconcile.Result, last integration.Status) integration.Status {
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
	var works integration.Aspect
	works, out.Seen = g.isReady(ctx, env, p, s, r, last)
	out.Conditions = []integration.Aspect{works, isSynced(s, r, isDone), isDrifted(s, isDone), isBlocked(s)}
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
		c.Status, c.Reason, c.Message = integration.True, "Changed", strings.Join(paths[:min(len(paths), maxViolations)],
			", ")
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
