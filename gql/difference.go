package gql

import "fmt"

// compare compares two fields. Those of different object types are never read
// of one value, so all that counts is the shape of what they return.
func (v *validator) compare(out []*conflict, exclusive bool, key string, a, b occurrence) []*conflict {
	if !v.spend(1) {
		return out
	}
	c := &conflict{key: key, a: []*fieldNode{a.node}, b: []*fieldNode{b.node}}
	exclusive = exclusive || a.parent != b.parent && a.isObject() && b.isObject()
	if !exclusive {
		c.reason = v.difference(a.node, b.node)
	}
	if c.reason == "" && a.def != nil && b.def != nil && !a.def.shaped(b.def) {
		c.reason = fmt.Sprintf("they return conflicting types %q and %q", a.def.typeString(), b.def.typeString())
	}
	if c.reason == "" && a.node.set != nil && b.node.set != nil {
		v.compareBelow(c, exclusive, a, b)
	}
	if c.reason == "" && len(c.below) == 0 {
		return out
	}
	return append(out, c)
}

func (o occurrence) isObject() bool { return o.parent != nil && o.parent.kind == kindObject }

// below returns the type of the field's values, if it is known.
func (o occurrence) below() *typeDef {
	if o.def == nil {
		return nil
	}
	return o.def.typ
}

// compareBelow compares what is selected below two fields.
func (v *validator) compareBelow(c *conflict, exclusive bool, a, b occurrence) {
	x, y := v.collect(a.node.set, a.below()), v.collect(b.node.set, b.below())
	found := v.compareAll(nil, exclusive, x, y)
	for _, name := range y.spreads {
		found = v.compareFragment(found, exclusive, x, name)
	}
	for _, name := range x.spreads {
		found = v.compareFragment(found, exclusive, y, name)
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
	v.spend(len(c.a))
}

// shaped tells whether results of two fields have one shape.
func (f *fieldDef) shaped(other *fieldDef) bool {
	if f.list != other.list || f.required != other.required {
		return false
	}
	return f.typ == other.typ || !f.typ.leaf() && !other.typ.leaf()
}

// difference says why two fields cannot be merged, or returns "".
func (v *validator) difference(a, b *fieldNode) string {
	if a.name != b.name {
		return fmt.Sprintf("%q and %q are different fields", a.name, b.name)
	}
	if !v.sameArguments(a.arguments, b.arguments) {
		return "they have differing arguments"
	}
	return ""
}

// sameArguments tells whether two fields are given the same.
func (v *validator) sameArguments(a, b []*argument) bool {
	if len(a) != len(b) {
		return false
	}
	v.spend(len(a))
	var byName map[string]*argument
	if len(b) > few {
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
		if y == nil || v.canonical(x.value) != v.canonical(y.value) {
			return false
		}
	}
	return true
}

// canonical returns the canonical form of a literal.
func (v *validator) canonical(n *valueNode) string {
	known, ok := v.merges.texts[n]
	if !ok {
		known = n.canonical()
		if v.merges.texts == nil {
			v.merges.texts = map[*valueNode]string{}
		}
		v.merges.texts[n] = known
	}
	return known
}
