package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/owners/coverage"
	"github.com/app-sre/prcheck/owners/decision"
	"github.com/app-sre/prcheck/owners/difference"
	"github.com/app-sre/prcheck/owners/rules"
)

// hold checks all laws in a world.
func (w *world) hold() error {
	found := difference.Of(w.base, w.head)
	if difference.IsEmpty(w.head) || len(found) == 0 {
		return w.holdSame(found)
	}
	files, err := w.cover(w.rules(w.grants))
	if err != nil {
		return err
	}
	return errors.Join(w.holdComplete(found), holdFine(found), w.holdOrder(found), w.holdCovered(files),
		w.holdPermuted(files),
		w.holdFewer(files), w.holdLarger(), w.holdContent(), w.holdDecided())
}

// holdSame checks two sides of which one is empty, or that do not differ.
func (w *world) holdSame(found []difference.Difference) error {
	if len(found) == 0 && fmt.Sprint(w.base) != fmt.Sprint(w.head) {
		return fmt.Errorf("complete: nothing differs between %v and %v", w.base, w.head)
	}
	return nil
}

// cover covers the file of a world.
func (w *world) cover(in rules.Input) ([]*coverage.File, error) {
	r, faults := rules.Compile(in)
	if len(faults) > 0 {
		return nil, faults[0]
	}
	c := &content.Change{Ref: ref, Old: w.base, New: w.head}
	c.Compare(false)
	if len(c.Differences) == 0 {
		return nil, nil
	}
	f := coverage.Of(r, c, nil, nil)
	return []*coverage.File{f}, f.Err
}

// mayApprove returns who may approve a place of a side by plain matching.
func (w *world) mayApprove(allows func(selector) bool) (out []string) {
	for _, g := range w.grants {
		if slices.ContainsFunc(g.selectors, allows) {
			out = append(out, g.people...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// mayApproveOn returns who may approve a place on each side that has it.
func (w *world) mayApproveOn(d difference.Difference) []string {
	var out []string
	for _, g := range w.grants {
		inBase := slices.ContainsFunc(g.selectors, func(s selector) bool { return s.allows(d.Base, w.base) })
		inHead := slices.ContainsFunc(g.selectors, func(s selector) bool { return s.allows(d.Head, w.head) })
		if (d.Kind == difference.Added || inBase) && (d.Kind == difference.Removed || inHead) {
			out = append(out, g.people...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// peopleOf returns who may approve a place as a whole.
func peopleOf(p *coverage.CoveredPlace) (out []string) {
	for _, c := range p.Covers {
		for _, person := range c.Context.People {
			out = append(out, person.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// holdCovered checks who may approve each difference, and whether parts cover it.
func (w *world) holdCovered(files []*coverage.File) error {
	for _, p := range files[0].Roots {
		people := w.mayApproveOn(p.Difference)
		if got := peopleOf(p); !slices.Equal(got, people) {
			return fmt.Errorf("covered: %s %s may be approved by %v, not %v", p.Kind, p.Place(), people, got)
		}
		if want := len(people) > 0 || w.isInParts(p.Difference); p.IsCovered() != want {
			return fmt.Errorf("covered: %s %s is covered: %v, want %v", p.Kind, p.Place(), p.IsCovered(), want)
		}
	}
	return nil
}

// isInParts reports whether somebody may approve each leaf of an object that comes or goes.
func (w *world) isInParts(d difference.Difference) bool {
	at, side, v := d.Head, w.head, d.New
	if d.Kind == difference.Removed {
		at, side, v = d.Base, w.base, d.Old
	}
	o, isObject := v.(map[string]any)
	if !isObject || d.Kind != difference.Added && d.Kind != difference.Removed ||
		len(leaves(at, o)) == 1 && len(leaves(at, o)[0].at) == len(at) {
		return false
	}
	return !slices.ContainsFunc(leaves(at, o), func(l leaf) bool {
		return len(w.mayApprove(func(s selector) bool { return s.allows(l.at, side) })) == 0
	})
}

// holdPermuted checks that another order of items with identity changes nothing but the order.
func (w *world) holdPermuted(files []*coverage.File) error {
	if slices.ContainsFunc(w.grants, func(g grant) bool { return slices.ContainsFunc(g.selectors, hasPosition) }) {
		return nil
	}
	isMixed := func(p *coverage.CoveredPlace) bool { // an item with identity stands where one without stood
		return p.Kind == difference.Changed && difference.Identity(p.Old) != difference.Identity(p.New)
	}
	if slices.ContainsFunc(files[0].Roots, isMixed) {
		return nil
	}
	other := *w
	other.head = w.permuted(w.head)
	again, err := other.cover(w.rules(w.grants))
	if err != nil || again == nil {
		return err
	}
	before, after := named(files), named(again)
	if fmt.Sprint(before) != fmt.Sprint(after) {
		return fmt.Errorf("permuted: %v became %v", before, after)
	}
	return nil
}

func hasPosition(s selector) bool {
	return slices.ContainsFunc(s, func(p part) bool { return p.isItem() && !p.all && p.named == "" })
}

// inOrder returns a value with the items of lists of identities in the order of their texts.
func inOrder(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name := range v {
			out[name] = inOrder(v[name])
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = inOrder(item)
		}
		if _, ok := ids(v); ok {
			slices.SortFunc(out, func(a, b any) int { return cmp.Compare(difference.Canonical(a), difference.Canonical(b)) })
		}
		return out
	}
	return v
}

// permuted returns a value with the items of lists of identities in another order.
func (w *world) permuted(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name := range v {
			out[name] = w.permuted(v[name])
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = w.permuted(item)
		}
		if _, ok := ids(v); ok {
			w.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		}
		return out
	}
	return v
}

// named returns the places of files without order, by identities, with who may approve them.
func named(files []*coverage.File) map[string][]string {
	out := map[string][]string{}
	for _, p := range files[0].Roots {
		if p.Kind != difference.Reordered {
			at, side := p.Place(), files[0].New
			if p.Kind == difference.Removed {
				side = files[0].Old
			}
			key := p.Kind.String() + " " + general(at, side) + " " + difference.Canonical([]any{inOrder(p.Old), inOrder(p.New)})
			out[key] = append(peopleOf(p), out[key]...)
			slices.Sort(out[key])
		}
	}
	return out
}

// holdFewer checks that without a role, a person or a selector nothing more is approved.
func (w *world) holdFewer(files []*coverage.File) error {
	var said []decision.Comment
	for i := range 4 {
		if w.IntN(2) == 0 {
			said = append(said, decision.Comment{By: fmt.Sprintf("p%d", i), Body: "/lgtm"})
		}
	}
	in := decision.Input{Words: decision.Words(said)}
	fewer := w.fewer()
	again, err := w.cover(w.rules(fewer))
	if err != nil {
		return err
	}
	if decision.Decide(again, in).IsApproved && !decision.Decide(files, in).IsApproved {
		return fmt.Errorf("fewer: %v approve more than %v", fewer, w.grants)
	}
	return nil
}

// fewer returns grants without one of them, a person or a selector.
func (w *world) fewer() []grant {
	out := slices.Clone(w.grants)
	i := w.IntN(len(out))
	switch g := out[i]; w.IntN(3) {
	case 0:
		return slices.Delete(out, i, i+1)
	case 1:
		out[i].people = g.people[1:]
	default:
		out[i].selectors = g.selectors[1:]
	}
	return out
}
