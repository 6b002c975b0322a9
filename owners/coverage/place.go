package coverage

import (
	"slices"

	"github.com/app-sre/prcheck/owners/difference"
	"github.com/app-sre/prcheck/owners/rules"
	"github.com/app-sre/prcheck/qontract/jsonpath"
)

// A Cover is a context that covers a place, with the selectors that allow it.
type Cover struct {
	Context    *rules.Context
	Base, Head string // selectors; "" on a side that has no such value, and for a difference of text
}

// A CoveredPlace is a difference, or a part of one, with who covers it.
type CoveredPlace struct {
	difference.Difference
	Covers []Cover // also those of disabled types
	Parts  []*CoveredPlace
	isPart bool
}

// IsDirect reports whether a context covers the place as a whole.
func (p *CoveredPlace) IsDirect() bool {
	return slices.ContainsFunc(p.Covers, func(c Cover) bool { return !c.Context.IsDisabled() })
}

// IsCovered reports whether contexts cover the place, as a whole or in parts.
func (p *CoveredPlace) IsCovered() bool { return p.IsDirect() || p.IsInParts() }

// IsInParts reports whether the parts cover all leaves of the place. That may be so for an object, and for a list that
// is a part of one.
func (p *CoveredPlace) IsInParts() bool {
	v := p.value()
	if _, isList := v.([]any); len(p.Parts) == 0 || isList && !p.isPart {
		return false
	}
	covered := map[string]bool{}
	for _, part := range p.Parts {
		if part.IsCovered() {
			covered[part.Place().String()] = true
		}
	}
	return areUnder(covered, p.Place(), v)
}

// areUnder reports whether all leaves of a value at a place lie under covered places.
func areUnder(covered map[string]bool, at jsonpath.Location, v any) bool {
	if covered[at.String()] {
		return true
	}
	below := 0
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if name == "__identifier" {
				continue
			}
			if !areUnder(covered, at.Below(jsonpath.Member(name)), member) {
				return false
			}
			below++
		}
	case []any:
		for i, item := range v {
			if !areUnder(covered, at.Below(jsonpath.Item(i)), item) {
				return false
			}
			below++
		}
	}
	return below > 0
}

// value returns the value that is added or removed; nil for other differences.
func (p *CoveredPlace) value() any {
	switch p.Kind {
	case difference.Added:
		return p.New
	case difference.Removed:
		return p.Old
	}
	return nil
}

// Decided returns the places about which somebody must decide: the parts, and the place itself unless they cover it.
func (p *CoveredPlace) Decided() []*CoveredPlace {
	var out []*CoveredPlace
	for _, part := range p.Parts {
		out = append(out, part.Decided()...)
	}
	if p.IsDirect() || !p.IsInParts() {
		out = append(out, p)
	}
	return out
}

// cover adds a context to a place and its parts.
func (p *CoveredPlace) cover(c Cover) {
	p.Covers = append(p.Covers, c)
	for _, part := range p.Parts {
		part.cover(c)
	}
}

// split adds a context to the part at a place, which it makes if it is not there. Finer parts lie below coarser ones.
func (p *CoveredPlace) split(at jsonpath.Location, c Cover) bool {
	own := p.Place()
	if !at.IsWithin(own) {
		return false
	}
	if len(at) == len(own) {
		p.cover(c)
		return true
	}
	for _, part := range p.Parts {
		if part.split(at, c) {
			return true
		}
	}
	v, isThere := at[len(own):].At(p.value())
	if !isThere {
		return false
	}
	part := p.part(at, v)
	isBelow := func(other *CoveredPlace) bool { return other.Place().IsWithin(at) }
	for _, other := range p.Parts {
		if isBelow(other) {
			part.Parts = append(part.Parts, other)
		}
	}
	p.Parts = append(slices.DeleteFunc(p.Parts, isBelow), part)
	part.cover(c)
	return true
}

// part returns a new part of a place, which the contexts of the place cover as well.
func (p *CoveredPlace) part(at jsonpath.Location, v any) *CoveredPlace {
	part := &CoveredPlace{Difference: p.Difference, Covers: slices.Clone(p.Covers), isPart: true}
	if p.Kind == difference.Removed {
		part.Base, part.Old = at, v
	} else {
		part.Head, part.New = at, v
	}
	return part
}
