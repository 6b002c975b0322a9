package manifests

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// maxPlaces is how many places a condition names.
const maxPlaces = 5

// StatusOf returns how the object of a step stands, as conditions: Ready (its processes work), Synced (it is as the
// data say) and Blocked (it cannot be made so). The object is as it was read for the step, nil if it is not there.
func StatusOf(s reconcile.Step, is *Live) integration.Status {
	out := integration.Status{}
	if s.Code == reconcile.CodeIncomplete && s.Action == reconcile.Blocked {
		for _, name := range []string{"Ready", "Synced", "Blocked"} {
			out.Conditions = append(out.Conditions, integration.Aspect{Type: name, Status: integration.Unknown,
				Reason: "NotRead", Message: s.Reason})
		}
		return out
	}
	if is != nil {
		out.Kind = is.Kind.Name
	}
	out.Conditions = []integration.Aspect{readiness(is), agreement(s), obstacle(s)}
	return out
}

// readiness says whether the processes of an object work.
func readiness(is *Live) integration.Aspect {
	c := integration.Aspect{Type: "Ready", Status: integration.True, Reason: "Works"}
	if is == nil {
		c.Status, c.Reason, c.Message = integration.False, "NotThere", "it is not there"
		return c
	}
	if !Awaits(is.Kind) {
		c.Reason = "Exists"
		return c
	}
	switch h := HealthOf(is, nil); {
	case h.Failed:
		c.Status, c.Reason, c.Message = integration.False, "Failed", h.Reason
	case !h.Ready:
		c.Status, c.Reason, c.Message = integration.False, "Waiting", h.Reason
	}
	return c
}

// agreement says whether an object is as the data say.
func agreement(s reconcile.Step) integration.Aspect {
	c := integration.Aspect{Type: "Synced", Status: integration.True, Reason: "Same"}
	switch {
	case s.Action == reconcile.Blocked:
		c.Status, c.Reason = integration.False, "Blocked"
	case s.Action.Writes():
		var places []string
		for _, change := range s.Changes[:min(len(s.Changes), maxPlaces)] {
			places = append(places, change.At())
		}
		if more := len(s.Changes) - maxPlaces; more > 0 {
			places = append(places, fmt.Sprintf("and %d more", more))
		}
		c.Status, c.Reason, c.Message = integration.False, "Differs", fmt.Sprintf("%s: %s", s.Action,
			strings.Join(places, ", "))
		if len(places) == 0 {
			c.Message = fmt.Sprintf("%s: %s", s.Action, s.Reason)
		}
	}
	return c
}

// obstacle says whether an object cannot be made as the data say.
func obstacle(s reconcile.Step) integration.Aspect {
	if s.Action != reconcile.Blocked {
		return integration.Aspect{Type: "Blocked", Status: integration.False, Reason: "Allowed"}
	}
	return integration.Aspect{Type: "Blocked", Status: integration.True, Reason: string(s.Code), Message: s.Reason}
}
