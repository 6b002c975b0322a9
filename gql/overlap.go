package gql

import (
	"fmt"
	"slices"
	"strings"
)

// maxPairs bounds the work of comparing pairs of fields. Comparing pairs tells
// every conflict in the words and order of graphql-js, but takes time that
// grows with the square of the fields. Beyond the bound a [merger] finds out in
// linear time whether there is any conflict.
const maxPairs = 500_000

// merges compares the fields that have one key in the answer, for all selection
// sets of a document.
type merges struct {
	collected map[*selectionSet]*collection
	texts     map[*valueNode]string
	steps     int

	// What was compared already, and whether only as fields of different object
	// types, which may differ in more.
	withFragment map[fragmentPair]bool
	fragments    map[[2]string]bool
}

// A collection is what a selection set selects by itself: fields by their key,
// in the order of their first occurrence, and the fragments that it uses.
type collection struct {
	keys    []string
	groups  map[string][]occurrence
	spreads []string
}

// An occurrence is a field of the query with the type it is selected on. Both
// the type and the definition can be unknown; those of introspection are.
type occurrence struct {
	node   *fieldNode
	parent *typeDef
	def    *fieldDef
}

type fragmentPair struct {
	fields *collection
	name   string
}

// A conflict tells why two fields with one key cannot be merged: by a reason,
// or by what is in conflict below them. Its nodes are all that take part.
type conflict struct {
	key    string
	reason string
	below  []*conflict
	a, b   []*fieldNode
}

// why words the reason.
func (c *conflict) why() string {
	if len(c.below) == 0 {
		return c.reason
	}
	parts := make([]string, len(c.below))
	for i, inner := range c.below {
		parts[i] = fmt.Sprintf("subfields %q conflict because %s", inner.key, inner.why())
	}
	return strings.Join(parts, " and ")
}

// overlaps reports the fields of a selection set that cannot be merged.
func (v *validator) overlaps(set *selectionSet, parent *typeDef) {
	if v.over || v.fallback || distinct(set) {
		return
	}
	for _, c := range v.conflicts(set, parent) {
		var at []int
		for _, n := range slices.Concat(c.a, c.b) {
			at = append(at, n.pos)
		}
		v.report(fmt.Sprintf("Fields %q conflict because %s. Use different aliases on the fields to fetch both if this was intentional.",
			c.key, c.why()), at...)
	}
}

// distinct tells quickly that a selection set has nothing to merge.
func distinct(set *selectionSet) bool {
	if len(set.selections) > 4*few {
		return false
	}
	for i, s := range set.selections {
		n, ok := s.(*fieldNode)
		if !ok {
			return false
		}
		for _, other := range set.selections[:i] {
			if before, _ := other.(*fieldNode); before.key() == n.key() {
				return false
			}
		}
	}
	return true
}

// spend counts work, and tells whether there may be more.
func (v *validator) spend(n int) bool {
	if v.merges.steps += n; v.merges.steps > maxPairs {
		v.fallback = true
	}
	return !v.fallback
}

// conflicts finds those of one selection set with all it uses.
func (v *validator) conflicts(set *selectionSet, parent *typeDef) []*conflict {
	own := v.collect(set, parent)
	var out []*conflict
	for _, key := range own.keys {
		group := own.groups[key]
		for i, a := range group {
			for _, b := range group[i+1:] {
				out = v.compare(out, false, key, a, b)
			}
			if v.fallback || len(out) > maxErrors {
				return out
			}
		}
	}
	for i, name := range own.spreads {
		out = v.compareFragment(out, false, own, name)
		for _, other := range own.spreads[i+1:] {
			out = v.compareFragments(out, false, name, other)
		}
	}
	return out
}

// collect returns what a selection set selects by itself.
func (v *validator) collect(set *selectionSet, parent *typeDef) *collection {
	m := &v.merges
	if known := m.collected[set]; known != nil {
		return known
	}
	c := &collection{groups: map[string][]occurrence{}}
	v.gather(c, map[string]bool{}, set, parent)
	if m.collected == nil {
		m.collected = map[*selectionSet]*collection{}
	}
	m.collected[set] = c
	return c
}

func (v *validator) gather(c *collection, seen map[string]bool, set *selectionSet, parent *typeDef) {
	for _, s := range set.selections {
		switch n := s.(type) {
		case *fieldNode:
			key := n.key()
			group := c.groups[key]
			if group == nil {
				c.keys = append(c.keys, key)
			}
			o := occurrence{node: n, parent: parent}
			if parent != nil {
				o.def = parent.field(n.name)
			}
			c.groups[key] = append(group, o)
		case *inlineNode:
			on := parent
			if n.on != "" {
				on = v.s.types[n.on]
			}
			v.gather(c, seen, n.set, on)
		case *spreadNode:
			if !seen[n.name] {
				seen[n.name] = true
				c.spreads = append(c.spreads, n.name)
			}
		}
	}
}

// compareFragment compares fields with those of a fragment and of all that it
// uses.
func (v *validator) compareFragment(out []*conflict, exclusive bool, fields *collection, name string) []*conflict {
	m := &v.merges
	pair := fragmentPair{fields, name}
	if before, known := m.withFragment[pair]; known && (exclusive || !before) || !v.spend(1) {
		return out
	}
	if m.withFragment == nil {
		m.withFragment = map[fragmentPair]bool{}
	}
	m.withFragment[pair] = exclusive
	f := v.fragments[name]
	if f == nil {
		return out
	}
	other := v.collect(f.set, v.s.types[f.on])
	if other == fields {
		return out
	}
	out = v.compareAll(out, exclusive, fields, other)
	for _, next := range other.spreads {
		out = v.compareFragment(out, exclusive, fields, next)
	}
	return out
}

// compareFragments compares the fields of two fragments and of all that they
// use.
func (v *validator) compareFragments(out []*conflict, exclusive bool, a, b string) []*conflict {
	m := &v.merges
	pair := [2]string{min(a, b), max(a, b)}
	if before, known := m.fragments[pair]; a == b || known && (exclusive || !before) || !v.spend(1) {
		return out
	}
	if m.fragments == nil {
		m.fragments = map[[2]string]bool{}
	}
	m.fragments[pair] = exclusive
	x, y := v.fragments[a], v.fragments[b]
	if x == nil || y == nil {
		return out
	}
	first, second := v.collect(x.set, v.s.types[x.on]), v.collect(y.set, v.s.types[y.on])
	out = v.compareAll(out, exclusive, first, second)
	for _, next := range second.spreads {
		out = v.compareFragments(out, exclusive, a, next)
	}
	for _, next := range first.spreads {
		out = v.compareFragments(out, exclusive, next, b)
	}
	return out
}

// compareAll compares the fields of two collections that have the same key.
func (v *validator) compareAll(out []*conflict, exclusive bool, x, y *collection) []*conflict {
	if !v.spend(1 + len(x.keys)/16) {
		return out
	}
	for _, key := range x.keys {
		group := y.groups[key]
		if len(group) == 0 {
			continue
		}
		for _, a := range x.groups[key] {
			for _, b := range group {
				out = v.compare(out, exclusive, key, a, b)
			}
		}
	}
	return out
}
