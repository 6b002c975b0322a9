package gql

import "fmt"

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
