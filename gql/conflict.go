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
type conflictSearch struct {
	fieldSets map[*selectionSet]*fieldSet
	literals  map[*valueNode]string
	steps     int

	// What was compared already, and whether only as fields of different object
	// types, which may differ in more.
	comparedWithFragment map[fieldSetAndFragment]bool
	comparedFragments    map[[2]string]bool
}

// A collection is what a selection set selects by itself: fields by their key,
// in the order of their first occurrence, and the fragments that it uses.
type fieldSet struct {
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

type fieldSetAndFragment struct {
	fields   *fieldSet
	fragment string
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
func (c *conflict) explanation() string {
	if len(c.below) == 0 {
		return c.reason
	}
	parts := make([]string, len(c.below))
	for i, inner := range c.below {
		parts[i] = fmt.Sprintf("subfields %q conflict because %s", inner.key, inner.explanation())
	}
	return strings.Join(parts, " and ")
}

// overlaps reports the fields of a selection set that cannot be merged.
func (v *validator) checkFieldConflicts(set *selectionSet, parent *typeDef) {
	if v.tooManyErrors || v.tooManyPairs || hasDistinctKeys(set) {
		return
	}
	for _, c := range v.findConflicts(set, parent) {
		var at []int
		for _, n := range slices.Concat(c.a, c.b) {
			at = append(at, n.pos)
		}
		v.report(fmt.Sprintf("Fields %q conflict because %s. Use different aliases on the fields to fetch both if this was intentional.",
			c.key, c.explanation()), at...)
	}
}

// distinct tells quickly that a selection set has nothing to merge.
func hasDistinctKeys(set *selectionSet) bool {
	if len(set.selections) > 4*maxPairwise {
		return false
	}
	for i, s := range set.selections {
		n, ok := s.(*fieldNode)
		if !ok {
			return false
		}
		for _, other := range set.selections[:i] {
			if before, _ := other.(*fieldNode); before.responseKey() == n.responseKey() {
				return false
			}
		}
	}
	return true
}

// spend counts work, and tells whether there may be more.
func (v *validator) countSteps(n int) bool {
	if v.conflicts.steps += n; v.conflicts.steps > maxPairs {
		v.tooManyPairs = true
	}
	return !v.tooManyPairs
}

// conflicts finds those of one selection set with all it uses.
func (v *validator) findConflicts(set *selectionSet, parent *typeDef) []*conflict {
	own := v.selectedBy(set, parent)
	var out []*conflict
	for _, key := range own.keys {
		group := own.groups[key]
		for i, a := range group {
			for _, b := range group[i+1:] {
				out = v.compareFields(out, false, key, a, b)
			}
			if v.tooManyPairs || len(out) > maxErrors {
				return out
			}
		}
	}
	for i, name := range own.spreads {
		out = v.compareWithFragment(out, false, own, name)
		for _, other := range own.spreads[i+1:] {
			out = v.compareFragments(out, false, name, other)
		}
	}
	return out
}

// collect returns what a selection set selects by itself.
func (v *validator) selectedBy(set *selectionSet, parent *typeDef) *fieldSet {
	m := &v.conflicts
	if known := m.fieldSets[set]; known != nil {
		return known
	}
	c := &fieldSet{groups: map[string][]occurrence{}}
	v.addSelections(c, map[string]bool{}, set, parent)
	if m.fieldSets == nil {
		m.fieldSets = map[*selectionSet]*fieldSet{}
	}
	m.fieldSets[set] = c
	return c
}

func (v *validator) addSelections(c *fieldSet, seen map[string]bool, set *selectionSet, parent *typeDef) {
	for _, s := range set.selections {
		switch n := s.(type) {
		case *fieldNode:
			key := n.responseKey()
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
			if n.typeCondition != "" {
				on = v.schema.types[n.typeCondition]
			}
			v.addSelections(c, seen, n.selectionSet, on)
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
func (v *validator) compareWithFragment(out []*conflict, exclusive bool, fields *fieldSet, name string) []*conflict {
	m := &v.conflicts
	pair := fieldSetAndFragment{fields, name}
	if before, known := m.comparedWithFragment[pair]; known && (exclusive || !before) || !v.countSteps(1) {
		return out
	}
	if m.comparedWithFragment == nil {
		m.comparedWithFragment = map[fieldSetAndFragment]bool{}
	}
	m.comparedWithFragment[pair] = exclusive
	f := v.fragments[name]
	if f == nil {
		return out
	}
	other := v.selectedBy(f.selectionSet, v.schema.types[f.typeCondition])
	if other == fields {
		return out
	}
	out = v.compareFieldSets(out, exclusive, fields, other)
	for _, next := range other.spreads {
		out = v.compareWithFragment(out, exclusive, fields, next)
	}
	return out
}

// compareFragments compares the fields of two fragments and of all that they
// use.
func (v *validator) compareFragments(out []*conflict, exclusive bool, a, b string) []*conflict {
	m := &v.conflicts
	pair := [2]string{min(a, b), max(a, b)}
	if before, known := m.comparedFragments[pair]; a == b || known && (exclusive || !before) || !v.countSteps(1) {
		return out
	}
	if m.comparedFragments == nil {
		m.comparedFragments = map[[2]string]bool{}
	}
	m.comparedFragments[pair] = exclusive
	x, y := v.fragments[a], v.fragments[b]
	if x == nil || y == nil {
		return out
	}
	first, second := v.selectedBy(x.selectionSet, v.schema.types[x.typeCondition]), v.selectedBy(y.selectionSet, v.schema.types[y.typeCondition])
	out = v.compareFieldSets(out, exclusive, first, second)
	for _, next := range second.spreads {
		out = v.compareFragments(out, exclusive, a, next)
	}
	for _, next := range first.spreads {
		out = v.compareFragments(out, exclusive, next, b)
	}
	return out
}

// compareAll compares the fields of two collections that have the same key.
func (v *validator) compareFieldSets(out []*conflict, exclusive bool, x, y *fieldSet) []*conflict {
	if !v.countSteps(1 + len(x.keys)/16) {
		return out
	}
	for _, key := range x.keys {
		group := y.groups[key]
		if len(group) == 0 {
			continue
		}
		for _, a := range x.groups[key] {
			for _, b := range group {
				out = v.compareFields(out, exclusive, key, a, b)
			}
		}
	}
	return out
}
