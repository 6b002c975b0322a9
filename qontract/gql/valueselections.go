package gql

import "slices"

// A typedSet is a selection set with the type that it is selected on.
type typedSet struct {
	set *selectionSet
	on  *typeDef
}

// A valueSelections is a list of all selection sets that are read of one value.
type valueSelections []typedSet

// with returns the list with one more selection set, unless the list contains it.
func (l valueSelections) with(set *selectionSet, on *typeDef) valueSelections {
	if set == nil || on.isLeaf() || slices.Contains(l, typedSet{set, on}) {
		return l
	}
	return append(l, typedSet{set, on})
}

// eachField calls visit for every field that can be read of a value, with the type that the
// field is selected on. It covers all types that the value can have.
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

// isCoveredBy reports whether every object type of the type is also an object type of the
// other type.
func (t *typeDef) isCoveredBy(other *typeDef) bool {
	for _, o := range t.objectTypes() {
		if !o.isSubtypeOf(other) {
			return false
		}
	}
	return true
}

// fieldDefinitions returns the definitions of a field on all object types of a type.
// Definitions that read the same are returned once.
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

// readsSameAs reports whether two fields with the same name read the same value of an
// object.
func (f *fieldDef) readsSameAs(other *fieldDef) bool {
	return f.typ == other.typ && f.resolver == other.resolver && f.schema == other.schema && f.subAttr == other.subAttr &&
		f.list == other.list
}
