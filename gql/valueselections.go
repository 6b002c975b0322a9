package gql

import "slices"

// A scoped is a selection set with the type it is read on.
type typedSet struct {
	set *selectionSet
	on  *typeDef
}

// A level is all that is read of one value.
type valueSelections []typedSet

// with adds a selection set to a level, once.
func (l valueSelections) with(set *selectionSet, on *typeDef) valueSelections {
	if set == nil || on.isLeaf() || slices.Contains(l, typedSet{set, on}) {
		return l
	}
	return append(l, typedSet{set, on})
}

// fields calls visit for every field that is read of a value: with the type
// that it is read on, whatever the value turns out to be.
func (q *Query) eachField(l valueSelections, visit func(*fieldNode, *typeDef)) {
	seen := map[typedSet]bool{}
	var walk func(typedSet)
	enter := func(set *selectionSet, from *typeDef, on string) {
		to := from
		if on != "" && !from.isCoveredBy(q.schema.types[on]) {
			to = q.schema.types[on]
		}
		if next := (typedSet{set, to}); !seen[next] {
			seen[next] = true
			walk(next)
		}
	}
	walk = func(s typedSet) {
		for _, selection := range s.set.selections {
			if keep, err := q.isIncluded(selection); err == nil && !keep {
				continue
			}
			switch n := selection.(type) {
			case *fieldNode:
				visit(n, s.on)
			case *inlineNode:
				enter(n.selectionSet, s.on, n.typeCondition)
			case *spreadNode:
				f := q.fragments[n.name]
				enter(f.selectionSet, s.on, f.typeCondition)
			}
		}
	}
	for _, s := range l {
		walk(s)
	}
}

// within tells whether every object of a type is of the other type too.
func (t *typeDef) isCoveredBy(other *typeDef) bool {
	for _, o := range t.objectTypes() {
		if !o.isSubtypeOf(other) {
			return false
		}
	}
	return true
}

// definitions returns the fields that a name stands for on the object types of
// a type. Those that do the same count once.
func (q *Query) fieldDefinitions(t *typeDef, name string) []*fieldDef {
	var defs []*fieldDef
	for _, o := range t.objectTypes() {
		def := q.schema.fieldNamed(o, name)
		if def != nil && !slices.ContainsFunc(defs, func(d *fieldDef) bool { return d == def || d.readsSameAs(def) }) {
			defs = append(defs, def)
		}
	}
	return defs
}

// reads tells whether two fields of a name get the same of an object.
func (f *fieldDef) readsSameAs(other *fieldDef) bool {
	return f.typ == other.typ && f.resolver == other.resolver && f.schema == other.schema && f.subAttr == other.subAttr && f.list == other.list
}
