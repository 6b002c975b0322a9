package gql

import (
	"fmt"
	"slices"
	"strings"
)

// maxPairs limits the work of comparing pairs of fields. Comparing pairs finds every
// conflict, in the words and the order of graphql-js, but its time grows with the square of
// the number of fields. Above the limit, a [linearConflictSearch] finds out whether there
// is any conflict.
const maxPairs = 500_000

// A conflictSearch holds the state of the search for fields that have the same response key
// but cannot be merged. The state is shared by all selection sets of a document.
type conflictSearch struct {
	fieldSets map[*selectionSet]*fieldSet
	literals  map[*valueNode]string
	steps     int

	// Pairs that were compared before. The value is the argument exclusive of that comparison,
	// which allows more differences.
	comparedWithFragment map[fieldSetAndFragment]bool
	comparedFragments    map[[2]string]bool
}

// A fieldSet holds the direct selections of a selection set: its fields by response key, in
// the order of their first occurrence, and the names of the fragments that it spreads.
type fieldSet struct {
	keys    []string
	groups  map[string][]occurrence
	spreads []string
}

// An occurrence is a field of the query with the type that it is selected on. The type and
// the definition are nil if they are not known. For the fields of introspection they are
// never known.
type occurrence struct {
	node   *fieldNode
	parent *typeDef
	def    *fieldDef
}

// A fieldSetAndFragment is a field set and the name of a fragment that were compared.
type fieldSetAndFragment struct {
	fields   *fieldSet
	fragment string
}

// A conflict says why two fields with the same response key cannot be merged: either for a
// reason of their own, or because of conflicts between their subfields. The nodes are all
// fields that take part.
type conflict struct {
	key    string
	reason string
	below  []*conflict
	a, b   []*fieldNode
}

// explanation returns the reason of the conflict as a message has it.
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

// checkFieldConflicts reports the fields of a selection set that cannot be merged.
func (v *validator) checkFieldConflicts(set *selectionSet, parent *typeDef) {
	if v.tooManyErrors || v.tooManyPairs || hasDistinctKeys(set) {
		return
	}
	for _, c := range v.findConflicts(set, parent) {
		var at []int
		for _, n := range slices.Concat(c.a, c.b) {
			at = append(at, n.pos)
		}
		v.report(fmt.Sprintf("Fields %q conflict because %s. Use different aliases on the fields to fetch both if this was "+
			"intentional.",
			c.key, c.explanation()), at...)
	}
}

// hasDistinctKeys reports whether a short selection set consists of fields with different
// response keys, so that there is nothing to compare. It may return false for other sets of
// this kind.
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

// countSteps counts work, and reports whether the limit still allows more.
func (v *validator) countSteps(n int) bool {
	if v.conflicts.steps += n; v.conflicts.steps > maxPairs {
		v.tooManyPairs = true
	}
	return !v.tooManyPairs
}

// findConflicts returns the conflicts in one selection set and the fragments that it uses.
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

// selectedBy returns the direct selections of a selection set. It computes them once.
func (v *validator) selectedBy(set *selectionSet, parent *typeDef) *fieldSet {
	search := &v.conflicts
	if known := search.fieldSets[set]; known != nil {
		return known
	}
	c := &fieldSet{groups: map[string][]occurrence{}}
	v.addSelections(c, map[string]bool{}, set, parent)
	if search.fieldSets == nil {
		search.fieldSets = map[*selectionSet]*fieldSet{}
	}
	search.fieldSets[set] = c
	return c
}

// addSelections adds the selections of a set, and of the inline fragments in it, to a
// fieldSet.
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

// compareWithFragment compares fields with the fields of a fragment and of all fragments
// that it uses. exclusive is true if both sides belong to different object types, so that
// they are never read from the same object.
func (v *validator) compareWithFragment(out []*conflict, exclusive bool, fields *fieldSet, name string) []*conflict {
	search := &v.conflicts
	pair := fieldSetAndFragment{fields, name}
	if before, known := search.comparedWithFragment[pair]; known && (exclusive || !before) || !v.countSteps(1) {
		return out
	}
	if search.comparedWithFragment == nil {
		search.comparedWithFragment = map[fieldSetAndFragment]bool{}
	}
	search.comparedWithFragment[pair] = exclusive
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

// compareFragments compares the fields of two fragments and of all fragments that they use.
func (v *validator) compareFragments(out []*conflict, exclusive bool, a, b string) []*conflict {
	search := &v.conflicts
	pair := [2]string{min(a, b), max(a, b)}
	if before, known := search.comparedFragments[pair]; a == b || known && (exclusive || !before) || !v.countSteps(1) {
		return out
	}
	if search.comparedFragments == nil {
		search.comparedFragments = map[[2]string]bool{}
	}
	search.comparedFragments[pair] = exclusive
	x, y := v.fragments[a], v.fragments[b]
	if x == nil || y == nil {
		return out
	}
	first, second := v.selectedBy(x.selectionSet, v.schema.types[x.typeCondition]),
		v.selectedBy(y.selectionSet, v.schema.types[y.typeCondition])
	out = v.compareFieldSets(out, exclusive, first, second)
	for _, next := range second.spreads {
		out = v.compareFragments(out, exclusive, a, next)
	}
	for _, next := range first.spreads {
		out = v.compareFragments(out, exclusive, next, b)
	}
	return out
}

// compareFieldSets compares all fields of one set with the fields of another set that have
// the same response key.
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

// compareFields compares two fields with the same response key and adds a conflict to out
// if they cannot be merged. Fields of different object types are never read from the same
// object. Then only the shapes of their values are compared.
func (v *validator) compareFields(out []*conflict, exclusive bool, key string, a, b occurrence) []*conflict {
	if !v.countSteps(1) {
		return out
	}
	c := &conflict{key: key, a: []*fieldNode{a.node}, b: []*fieldNode{b.node}}
	exclusive = exclusive || a.parent != b.parent && a.isOnObjectType() && b.isOnObjectType()
	if !exclusive {
		c.reason = v.fieldDifference(a.node, b.node)
	}
	if c.reason == "" && a.def != nil && b.def != nil && !a.def.hasSameShape(b.def) {
		c.reason = fmt.Sprintf("they return conflicting types %q and %q", a.def.typeString(), b.def.typeString())
	}
	if c.reason == "" && a.node.selectionSet != nil && b.node.selectionSet != nil {
		v.compareSubfields(c, exclusive, a, b)
	}
	if c.reason == "" && len(c.below) == 0 {
		return out
	}
	return append(out, c)
}

func (o occurrence) isOnObjectType() bool { return o.parent != nil && o.parent.kind == kindObject }

// valueType returns the type of the values of the field, or nil if it is not known.
func (o occurrence) valueType() *typeDef {
	if o.def == nil {
		return nil
	}
	return o.def.typ
}

// compareSubfields compares the selections below two fields and adds their conflicts to c.
func (v *validator) compareSubfields(c *conflict, exclusive bool, a, b occurrence) {
	x, y := v.selectedBy(a.node.selectionSet, a.valueType()), v.selectedBy(b.node.selectionSet, b.valueType())
	found := v.compareFieldSets(nil, exclusive, x, y)
	for _, name := range y.spreads {
		found = v.compareWithFragment(found, exclusive, x, name)
	}
	for _, name := range x.spreads {
		found = v.compareWithFragment(found, exclusive, y, name)
	}
	for _, name := range x.spreads {
		for _, other := range y.spreads {
			found = v.compareFragments(found, exclusive, name, other)
		}
	}
	for _, inner := range found {
		c.a, c.b = append(c.a, inner.a...), append(c.b, inner.b...)
	}
	c.below = found
	v.countSteps(len(c.a))
}

// hasSameShape reports whether the values of two fields have the same shape: both lists or
// both not, both required or both not, and the same scalar or enum unless both are objects.
func (f *fieldDef) hasSameShape(other *fieldDef) bool {
	if f.list != other.list || f.required != other.required {
		return false
	}
	return f.typ == other.typ || !f.typ.isLeaf() && !other.typ.isLeaf()
}

// fieldDifference says why two fields are not the same field with the same arguments, or
// returns "".
func (v *validator) fieldDifference(a, b *fieldNode) string {
	if a.name != b.name {
		return fmt.Sprintf("%q and %q are different fields", a.name, b.name)
	}
	if !v.sameArguments(a.arguments, b.arguments) {
		return "they have differing arguments"
	}
	return ""
}

// sameArguments reports whether two fields have the same arguments with the same values.
func (v *validator) sameArguments(a, b []*argument) bool {
	if len(a) != len(b) {
		return false
	}
	v.countSteps(len(a))
	var byName map[string]*argument
	if len(b) > maxPairwise {
		byName = make(map[string]*argument, len(b))
		for _, arg := range b {
			byName[arg.name] = arg
		}
	}
	for _, x := range a {
		y := byName[x.name]
		for i := len(b) - 1; i >= 0 && byName == nil && y == nil; i-- {
			if b[i].name == x.name {
				y = b[i]
			}
		}
		if y == nil || v.canonicalText(x.value) != v.canonicalText(y.value) {
			return false
		}
	}
	return true
}

// canonicalText returns the canonical text of a literal. It computes it once.
func (v *validator) canonicalText(n *valueNode) string {
	known, ok := v.conflicts.literals[n]
	if !ok {
		known = n.canonicalText()
		if v.conflicts.literals == nil {
			v.conflicts.literals = map[*valueNode]string{}
		}
		v.conflicts.literals[n] = known
	}
	return known
}
