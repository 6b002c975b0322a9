package effects

import (
	"cmp"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// Causes knows which places of the data a change altered. Whoever announces an effect names places that lead to it;
// those that the change altered are its cause. It is for one goroutine.
type Causes struct {
	changes map[string]bundle.Change
	places  map[string][]altered
}

// An altered place is one at which both sides of a datafile differ.
type altered struct {
	old, now string // pointers on base, and on head: that of the nearest parent if head removes it
	what     plan.CauseKind
}

// NewCauses returns the causes of a change.
func NewCauses(diff *bundle.Diff) *Causes {
	c := &Causes{map[string]bundle.Change{}, map[string][]altered{}}
	for _, all := range [][]bundle.Change{diff.Datafiles, diff.Resources} {
		for _, change := range all {
			if change.Kind != bundle.Metadata {
				c.changes[string(change.Path)] = change
			}
		}
	}
	return c
}

// unexplained says why an effect of the change has no cause.
const unexplained = "its entry did not change: something that it refers to did"

// Explain replaces the places that effects name by those of them that the change altered. What is there without
// the change has no cause.
func (c *Causes) Explain(e *plan.Effects) {
	for i := range e.Items {
		item := &e.Items[i]
		named := item.Cause
		if item.Cause = nil; item.Since == plan.SinceBase || item.Since == plan.SinceGone {
			item.CauseBeyond, item.CauseUnknown = 0, ""
			continue
		}
		for _, at := range named {
			item.Cause = append(item.Cause, c.altered(at.Place)...)
		}
		slices.SortFunc(item.Cause, compareCauses)
		item.Cause = slices.CompactFunc(item.Cause, func(a, b plan.Cause) bool { return a.Place == b.Place })
		if more := len(item.Cause) - plan.MaxCauses; more > 0 {
			item.Cause, item.CauseBeyond = item.Cause[:plan.MaxCauses:plan.MaxCauses], item.CauseBeyond+more
		}
		if len(item.Cause) == 0 {
			item.Cause, item.CauseBeyond = nil, 0
			if !item.Known.IsSaid() && item.Since == plan.SinceChange {
				item.CauseUnknown = cmp.Or(item.CauseUnknown, unexplained)
			}
		}
	}
}

func compareCauses(a, b plan.Cause) int {
	return cmp.Or(strings.Compare(a.File, b.File), strings.Compare(a.Pointer, b.Pointer), cmp.Compare(a.What, b.What))
}

// altered returns the altered places at, below or around a place, or else all altered places of its file.
func (c *Causes) altered(at plan.Place) []plan.Cause {
	change, ok := c.changes[at.File]
	if !ok {
		return nil
	}
	cause := func(pointer string, what plan.CauseKind) plan.Cause {
		return plan.Cause{Place: plan.Place{File: at.File, Pointer: pointer}, What: what}
	}
	switch {
	case change.Kind == bundle.Added:
		return []plan.Cause{cause("", plan.CauseAdded)}
	case change.Kind == bundle.Removed:
		return []plan.Cause{cause("", plan.CauseRemoved)}
	case change.Fields == nil:
		return []plan.Cause{cause("", plan.CauseChanged)}
	}
	var near, all []plan.Cause
	for _, place := range c.placesOf(at.File, change) {
		found := cause(place.now, place.what)
		all = append(all, found)
		switch {
		case isWithin(place.now, at.Pointer) || isWithin(place.old, at.Pointer):
			near = append(near, found)
		case isWithin(at.Pointer, place.now):
			near = append(near, cause(at.Pointer, place.what))
		}
	}
	if len(near) > 0 {
		return near
	}
	return all
}

// placesOf returns the altered places of a datafile.
func (c *Causes) placesOf(file string, change bundle.Change) []altered {
	if known, ok := c.places[file]; ok {
		return known
	}
	words := map[bundle.Kind]plan.CauseKind{bundle.Added: plan.CauseAdded, bundle.Removed: plan.CauseRemoved,
		bundle.Modified: plan.CauseChanged}
	now := change.Places()
	var out []altered
	for _, d := range change.FieldDiffs(0) {
		out = append(out, altered{d.Pointer, now[d.Pointer], words[d.Kind]})
	}
	c.places[file] = out
	return out
}

// isWithin reports whether a pointer is another one or leads below it.
func isWithin(pointer, other string) bool {
	return pointer == other || strings.HasPrefix(pointer, other+"/")
}
