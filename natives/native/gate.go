package native

import (
	"fmt"
	"math"
	"slices"

	"github.com/app-sre/prcheck/natives/reconcile"
)

// gate returns the gate that the settings of base describe.
func (w *work) gate() reconcile.Gate {
	if w.env.Approve.TakeOver { // its deletions are left out, so none needs to be refused
		return reconcile.Gate{Limits: reconcile.Limits{Floor: math.MaxInt}, MayEmpty: true, Today: w.env.Now()}
	}
	limits, s := reconcile.DefaultLimits(), w.env.Settings.Deletes
	if w.Limits != nil {
		limits = *w.Limits
	}
	for _, l := range []struct {
		of   *int
		said *int
	}{{&limits.Max, s.Max}, {&limits.Percent, s.Percent}, {&limits.Floor, s.Floor}} {
		if l.said != nil {
			*l.of = *l.said
		}
	}
	limits.Off = s.Off || w.env.Approve.Adopt
	g := reconcile.Gate{Limits: limits, Today: w.env.Now()}
	inData := w.head.Approvals
	if w.env.Base != nil {
		inData = w.base.Approvals // none if base cannot be read
	}
	g.Approvals = append(g.Approvals, inData...)
	for _, a := range s.Approved {
		g.Approvals = append(g.Approvals, reconcile.Approval{Key: reconcile.Key(a.Key), Until: a.Until})
	}
	return g
}

// gateOf returns the gate of a part.
func (w *work) gateOf(p Part) reconcile.Gate {
	g := w.gate()
	if p.Clear {
		g.MayEmpty, g.Limits.Floor = true, math.MaxInt
	}
	return g
}

// make makes the plan of a unit. Deletions that a person confirmed pass the gate.
func (w *work) make(u *unit) {
	u.plan = reconcile.Make(u.input)
	if digest := u.plan.Deletions.Digest(); len(u.plan.Deletions.Keys) > 0 && w.isConfirmed(digest) {
		u.input.Gate.Confirmed = digest
		u.plan = reconcile.Make(u.input)
	}
	switch {
	case w.env.Approve.TakeOver:
		w.onlyTaken(u)
	case w.env.Approve.Adopt:
		u.plan.Steps = onlyMarks(u.plan.Steps)
	case u.isLeft && !w.head.DeleteLeft:
		leaveAll(u.plan)
	}
}

// onlyMarks returns the steps that take things without a mark, and lets them write nothing but
// the mark.
func onlyMarks(steps []reconcile.Step) []reconcile.Step {
	var out []reconcile.Step
	for _, s := range steps {
		if s.Owner != reconcile.Nobody || !s.Action.Writes() {
			continue
		}
		s.Action, s.Changes, s.Reason, s.Needs, s.Wave = reconcile.AdoptIt, nil, "somebody allowed to adopt it", nil, 1
		out = append(out, s)
	}
	return out
}

// sayRefused names all deletions that the gate refused in the log; the finding names the first
// ones. A dry run names them among its steps.
func (w *work) sayRefused() {
	for _, u := range w.units {
		if u.plan == nil || u.plan.Refused.Code == "" {
			continue
		}
		for _, k := range u.plan.Refused.Keys {
			w.say(fmt.Sprintf("blocked %s: %s", k, u.plan.Refused.Reason))
		}
	}
}

func (w *work) isConfirmed(digest string) bool {
	return slices.Contains(w.env.Approve.Deletions, digest)
}

// passGate asks the gate about the deletions of all units together, so that many shards are no
// way around it. If it refuses, no unit deletes anything.
func (w *work) passGate(units []*unit) {
	var all reconcile.Deletions
	var deleting []*unit
	for _, u := range units {
		if u.plan == nil {
			continue
		}
		d := u.plan.Deletions
		if u.plan.Refused.Code != "" || u.part.Clear {
			d.Keys = nil // they were refused, or the data want them
		}
		all = all.Plus(d)
		if len(d.Keys) > 0 {
			deleting = append(deleting, u)
		}
	}
	if len(deleting) < 2 {
		return // the gate of the unit has decided
	}
	gate := w.gate()
	if digest := all.Digest(); w.isConfirmed(digest) {
		gate.Confirmed = digest
	}
	refused := gate.Decide(all)
	if refused.Code == "" {
		return
	}
	for _, u := range deleting {
		u.input.Gate.Refused = refused
		w.make(u)
	}
}
