package generic

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/fields"
	"github.com/app-sre/prcheck/natives/generic/hooks"
	"github.com/app-sre/prcheck/natives/generic/operation"
	"github.com/app-sre/prcheck/natives/generic/rest"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// A found is the body of a thing.
type found struct {
	live   rest.Live
	leaves []hooks.Leave // what hooks leave as it is
}

// plan makes the plan of an entry.
func (e *entry) plan(applied any, wasApplied bool, is found, key []byte) (*threeway.Plan, error) {
	wanted, known, err := e.wanted()
	if err != nil {
		return nil, err
	}
	return e.make(e.input(wanted, known, applied, wasApplied, is, key)).Plan, nil
}

// make makes a plan, and notes what it leaves to other managers.
func (e *entry) make(in threeway.Input) fields.OwnedPlan {
	p := e.planOf(in)
	e.leftOut = p.LeftOut
	return p
}

// planOf makes a plan, with the managers of fields where the service knows them.
func (e *entry) planOf(in threeway.Input) fields.OwnedPlan {
	if e.family.FieldManager == "" {
		return fields.OwnedPlan{Plan: threeway.Make(in), Apply: in.Desired}
	}
	return fields.Make(in, e.family.FieldManager)
}

func (e *entry) input(wanted any, known rules.Rules, applied any, wasApplied bool, is found,
	key []byte) threeway.Input {
	var ignore []string
	for _, l := range is.leaves {
		ignore = append(ignore, l.At)
	}
	return threeway.Input{
		Applied: applied, WasApplied: wasApplied, Desired: wanted, Live: is.live.Body, IsThere: is.live.Found,
		Rules: rules.With(known, rules.Overlay{Ignore: ignore, Unread: e.unread(is)}), AllowReplace: e.of.AllowReplace,
		AllowUpdate: e.of.AllowUpdate,
		Children:    e.children, Key: key,
	}
}

// unread returns the places of secrets that the service does not answer. Comparing them with what
// is there would find a difference for ever.
func (e *entry) unread(is found) []string {
	var out []string
	for _, s := range e.of.Secrets {
		for _, at := range rules.Places(e.rules, e.desired, s.At) {
			if is.live.Found && !e.answers(is.live.Body, at.Name) {
				out = append(out, at.Name)
			}
		}
	}
	return out
}

// answers reports whether a live body has a value at a place, whose items are named by their keys.
func (e *entry) answers(live any, name string) bool {
	return slices.ContainsFunc(rules.Places(e.rules, live, name), func(at rules.Spot) bool {
		_, isThere := body.Get(live, at.Exact)
		return isThere
	})
}

// compare returns how a resource differs from its entry.
func compare(want reconcile.Item, is reconcile.Thing, last reconcile.Record) (reconcile.Difference, error) {
	e, isEntry := want.Body.(*entry)
	thing, isFound := is.Body.(found)
	if !isEntry || !isFound {
		return reconcile.Difference{}, fmt.Errorf("an item has %T, and a thing has %T", want.Body, is.Body)
	}
	_, applied, wasApplied := recordOf(last)
	if !wasApplied && e.pending.Intended { // it was created, and the process ended before it was remembered
		applied, wasApplied = e.pending.applied()
	}
	p, err := e.plan(applied, wasApplied, thing, e.key)
	if err != nil {
		return reconcile.Difference{}, err
	}
	d := reconcile.Difference{Changes: changesOf(p), Replace: p.Action == threeway.Replace}
	switch {
	case p.Action != threeway.Blocked:
	case e.isDraft && isDrift(p.Violations): // the change did not cause it
		d.Warnings = append(d.Warnings, "somebody changed what cannot be changed: "+mistakeOf(p.Violations).Message)
	default:
		d.Mistake = mistakeOf(p.Violations)
	}
	for _, w := range p.Warnings {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%s %s: %s", w.Code, w.Path, w.Message))
	}
	if p.Action == threeway.None {
		e.compareState(thing.live.Body, &d)
	}
	return d, nil
}

// compareState adds what is to be done with a resource that is as the data say, because of an operation that goes on or
// failed. Before the merge of a change it is told alone.
func (e *entry) compareState(live any, d *reconcile.Difference) {
	stands := standing{}
	if e.family.HasOperations {
		stands = standingOf(live, e.pending)
	}
	o := e.pending.Operation
	switch {
	case o != nil:
		d.Changes = []reconcile.Change{{Path: codeGoesOn, New: "the " + o.Verb + " of an earlier run goes on"}}
	case e.isDraft && stands.isFailed:
		d.Warnings = append(d.Warnings, string(codeFailed)+": "+stands.message)
	case e.isDraft:
	case stands.isFailed && e.now.Before(stands.next):
		d.Mistake = stands.mistake()
	case stands.isFailed:
		d.Changes = []reconcile.Change{{Path: pathState, Old: "failed", New: "sent again", Reason: string(threeway.Failed)}}
	case e.family.HasOperations && operation.IsGoingOn(live):
		d.Changes = []reconcile.Change{{Path: codeGoesOn, New: "an operation of the service goes on"}}
	}
}

// isDrift reports whether the data are as they were applied where the violations are.
func isDrift(all []threeway.Objection) bool {
	return !slices.ContainsFunc(all, func(f threeway.Objection) bool { return f.Reason != threeway.Drift })
}

// changesOf returns the changes of a plan for people.
func changesOf(p *threeway.Plan) []reconcile.Change {
	var out []reconcile.Change
	for _, c := range p.Changes {
		change := reconcile.Change{Path: c.Path, Reason: string(c.Reason)}
		change.Old, change.New = show(c.From), show(c.To)
		out = append(out, change)
	}
	return out
}

// show returns a value for people: a text as it is, "" for none.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	return body.Text(v)
}

// maxViolations is how many violations a message tells.
const maxViolations = 5

// mistakeOf returns violations as one mistake, with the code of the first.
func mistakeOf(all []threeway.Objection) reconcile.Mistake {
	var lines []string
	for i, v := range all {
		if i == maxViolations {
			lines = append(lines, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		line := v.Path
		if v.From != nil || v.To != nil {
			line += fmt.Sprintf(" (%s → %s)", show(v.From), show(v.To))
		}
		if line += ": " + v.Message; v.Ground != "" {
			line += " [" + strings.TrimSpace(v.Ground+" "+v.Place) + "]"
		}
		lines = append(lines, line)
	}
	return reconcile.Mistake{Code: plan.FindingCode(all[0].Code), Message: strings.Join(lines, "; ")}
}
