package native

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// effects are the kinds of effects by the actions that have them.
var effects = map[reconcile.Action]plan.EffectKind{
	reconcile.Create: plan.EffectCreate, reconcile.Undelete: plan.EffectCreate, reconcile.Update: plan.EffectChange,
	reconcile.Replace: plan.EffectDelete,
	reconcile.AdoptIt: plan.EffectChange, reconcile.MarkIt: plan.EffectChange, reconcile.Remove: plan.EffectDelete,
}

// plainActions are those that their kinds say as well.
var plainActions = []reconcile.Action{reconcile.Create, reconcile.Update, reconcile.Remove}

// An announced effect was said, with what else people are told of it.
type announced struct {
	unit   *unit
	step   reconcile.Step
	effect plan.Effect
}

func (w *work) reportStep(u *unit, s reconcile.Step) {
	if _, ok := effects[s.Action]; !ok {
		isTold := w.told[identity(reconcile.Finding{Finding: plan.Finding{Code: s.Code, Severity: plan.SeverityError,
			Message: s.Reason}, Keys: []reconcile.Key{s.Key}})]
		if s.Action == reconcile.Blocked && !isTold {
			w.say(fmt.Sprintf("blocked %s: %s", s.Key, s.Reason))
		}
		return
	}
	w.announce(u, s, plan.Effect{Known: plan.Known{How: plan.KnownLive}})
}

// announce tells what a run would do in the log, and keeps it as an effect.
func (w *work) announce(u *unit, s reconcile.Step, e plan.Effect) {
	reason := s.Reason
	if e.Known.Why != "" {
		reason += " (from the data alone: " + e.Known.Why + ")"
	}
	w.say(fmt.Sprintf("%s %s: %s", s.Action, s.Key, reason))
	for _, c := range s.Changes {
		line := fmt.Sprintf("  %s: %q -> %q", c.At(), c.Old, c.New)
		if c.Reason != "" {
			line += " (" + c.Reason + ")"
		}
		w.say(line)
	}
	w.announced = append(w.announced, announced{u, s, w.effect(u, s, e)})
}

// effect fills in what a step does.
func (w *work) effect(u *unit, s reconcile.Step, e plan.Effect) plan.Effect {
	e.Kind, e.Subject = effects[s.Action], string(s.Key)
	if !slices.Contains(plainActions, s.Action) {
		e.Action = string(s.Action)
	}
	if w.Label != nil {
		e.Type, e.Name = w.Label(s.Key, s.Wanted())
	}
	if at, ok := u.part.Target.(interface{ Where() string }); ok {
		e.Target = at.Where()
	}
	e.Part, e.Changes = partName(u.part), fieldChanges(s.Changes)
	if e.Kind == plan.EffectCreate && len(e.Changes) == 0 && s.Item != nil && w.Sets != nil {
		e.Changes = fieldChanges(w.Sets(*s.Item))
	}
	if s.Place.File == "" {
		return e
	}
	pointers := []string{s.Place.Pointer}
	if w.Places != nil && s.Item != nil && (s.Item.Delete || len(s.Changes) > 0) {
		pointers = w.Places(*s.Item, s.Changes)
	}
	for _, p := range pointers {
		e.Cause = append(e.Cause, plan.Cause{Place: plan.Place{File: s.Place.File, Pointer: p}})
	}
	return e
}

// hidden are texts that stand for secrets in changes.
var hidden = []string{"***", "(secret)"}

// fieldChanges returns changes as effects have them.
func fieldChanges(all []reconcile.Change) []plan.FieldChange {
	var out []plan.FieldChange
	for _, c := range all {
		f := plan.FieldChange{Path: c.At(), Reason: c.Reason}
		switch {
		case c.Secret || slices.Contains(hidden, c.Old) || slices.Contains(hidden, c.New):
			f.Secret = true
		case c.From != nil || c.To != nil:
			f.Old, f.New = c.From, c.To
		default:
			f.Old, f.New = asJSON(c.Old), asJSON(c.New)
		}
		out = append(out, f)
	}
	return out
}

// asJSON returns a text as JSON, nil for none.
func asJSON(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	raw, err := json.Marshal(text)
	if err != nil {
		return nil
	}
	return raw
}

// planBase makes the plans of the data of base by what was read for those of head. What both plans do is pending:
// it would be done without the change. A part of which that is not known is not compared.
func (w *work) planBase(ctx context.Context) {
	if !w.hasBase || text(w.base.callers()) != text(w.head.callers()) {
		return
	}
	before := map[string]Part{}
	for _, p := range w.base.Parts {
		before[p.name()] = p
	}
	var of, units []*unit
	for _, u := range w.units {
		if u.plan == nil || u.isLeft || u.isGone {
			continue
		}
		was, isOld := before[u.part.name()]
		switch {
		case !isOld || was.Skip != "": // base does nothing there
			u.isOnBase = true
			continue
		case text(was.Target) != text(u.part.Target) && !isSameTarget(was.Target, u.part.Target):
			continue
		}
		b := &unit{part: w.share(was), input: u.input}
		b.part.Known = u.part.Known
		if err := w.complete(ctx, b); err != nil {
			continue
		}
		b.input.Removed, b.input.Gate = nil, w.gateOf(was)
		b.input.Desired = withMistakes(w.claimed(b.part.Items), u.mistakes)
		w.make(b)
		of, units = append(of, u), append(units, b)
	}
	w.passGate(units)
	for i, u := range of {
		u.isOnBase, u.onBase, u.planned = true, w.effectsOnBase(u, units[i]), map[string]plan.Effect{}
		for _, s := range u.plan.Steps {
			if _, ok := effects[s.Action]; ok {
				u.planned[string(s.Key)] = w.effect(u, s, plan.Effect{Known: plan.Known{How: plan.KnownLive}})
			}
		}
	}
}

// tried returns the effects of head with since when those are of which the system told other fields when it tried
// them: base was not tried. What the system refused is not gone.
func (u *unit) tried(head []plan.Effect) []plan.Effect {
	isThere := map[string]bool{}
	for _, e := range head {
		isThere[e.Subject] = true
	}
	u.onBase = slices.DeleteFunc(u.onBase, func(b plan.Effect) bool {
		_, isPlanned := u.planned[b.Subject]
		return isPlanned && !isThere[b.Subject]
	})
	for i, e := range head {
		planned, ok := u.planned[e.Subject]
		if !ok || e.Known.How != plan.KnownLive || planned.Identity() == e.Identity() {
			continue
		}
		head[i].Since = plan.SinceChange
		isSame := func(b plan.Effect) bool { return b.Identity() == planned.Identity() }
		if k := slices.IndexFunc(u.onBase, isSame); k >= 0 {
			head[i].Since, u.onBase = plan.SinceBase, slices.Delete(u.onBase, k, k+1)
		}
	}
	return head
}

// isSameTarget reports whether two targets have the same identity: then that of base takes the place of the other.
func isSameTarget(a, b any) bool {
	is, ok := a.(Identified)
	isToo, okToo := b.(Identified)
	return ok && okToo && text(is.Identity()) == text(isToo.Identity())
}

// effectsOnBase returns the effects of the plan of base. A thing that no entry of head names was not read as one
// that is compared, so of those only deletions count.
func (w *work) effectsOnBase(u, b *unit) (out []plan.Effect) {
	isNamed := map[reconcile.Key]bool{}
	for _, s := range u.plan.Steps {
		isNamed[s.Key] = s.Item != nil
	}
	for _, s := range b.plan.Steps {
		if kind, ok := effects[s.Action]; ok && (isNamed[s.Key] || kind == plan.EffectDelete) {
			out = append(out, w.effect(u, s, plan.Effect{Known: plan.Known{How: plan.KnownLive}}))
		}
	}
	return out
}

// reportEffects reports the effects that were announced, those of a change with the sides on which they are.
func (w *work) reportEffects() {
	steps, head := map[string]reconcile.Step{}, map[*unit][]plan.Effect{}
	for _, a := range w.announced {
		steps[string(a.effect.Kind)+" "+a.effect.Subject] = a.step
		head[a.unit] = append(head[a.unit], a.effect)
	}
	for _, u := range w.units {
		all := head[u]
		if u.isOnBase {
			all = plan.CompareEffects(u.tried(all), u.onBase)
		}
		for _, e := range all {
			s := steps[string(e.Kind)+" "+e.Subject] // none if only base has it
			w.env.Report(integration.Remark{
				Finding: plan.Finding{Severity: plan.SeverityNote, Place: s.Place, Message: s.Reason},
				Effect:  &e, Action: string(s.Action), Shard: u.part.Shard,
			})
		}
	}
}
