package native

import (
	"cmp"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// The states of parts after a run.
const (
	standsSame    = "in step" // everything is as the data say
	standsFailed  = "failing" // something could not be done
	standsHeld    = "held"    // something may not be done
	standsUnknown = "unknown" // the target could not be read
	standsOut     = "left out"
)

// stand tells how each part stands after a run, with its things by their state.
func (w *work) stand() {
	for _, u := range w.units {
		s := integration.Standing{Key: sanitize.Line(cmp.Or(u.part.Shard, w.env.Integration) + atSuffix(u.part)),
			Things: map[string]int{}}
		switch {
		case u.err != nil:
			s.State, s.Waits, s.Hold = standsUnknown, true, u.err.Error()
		case u.plan == nil:
			s.State, s.Hold = standsOut, u.part.Skip
		default:
			s.Things = u.things()
			s.State = worst(s.Things)
			s.Waits = s.State != standsSame
			s.Hold = u.whyHeld()
		}
		w.env.Stand(s)
	}
}

// whyHeld says why the first thing that may not be changed stays as it is, "" if there is none.
func (u *unit) whyHeld() string {
	for _, s := range u.plan.Steps {
		if u.standingOf(s) == standsHeld {
			return sanitize.Line(string(s.Key) + ": " + s.Reason)
		}
	}
	return ""
}

// things counts the things of a part that entries name, or that were to be changed, by how they stand.
func (u *unit) things() map[string]int {
	out := map[string]int{}
	for _, s := range u.plan.Steps {
		if state := u.standingOf(s); state != "" {
			out[state]++
		}
	}
	return out
}

// standingOf returns how the thing of a step stands, "" for a thing of others.
func (u *unit) standingOf(s reconcile.Step) string {
	status, ran := u.ended[s.Key]
	switch {
	case s.Action == reconcile.Skip && s.Item == nil:
		return ""
	case s.Action == reconcile.Blocked && s.Code == reconcile.CodeIncomplete:
		return standsUnknown // it could not be read
	case s.Action == reconcile.Blocked || status == reconcile.StatusHeld:
		return standsHeld
	case ran && status != reconcile.StatusDone && status != reconcile.StatusUnchanged, !ran && s.Action.Writes():
		return standsFailed
	}
	return standsSame
}

// worst returns the state of a part by those of its things.
func worst(things map[string]int) string {
	for _, state := range []string{standsFailed, standsUnknown, standsHeld} {
		if things[state] > 0 {
			return state
		}
	}
	return standsSame
}
