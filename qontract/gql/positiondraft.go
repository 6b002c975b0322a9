package gql

import (
	"slices"
)

// A positionDraft is a position under construction.
type positionDraft struct {
	selections     valueSelections
	filters        []typedFilter
	leaves         []string
	whole          []string
	discriminators []string
	refers         []string
	children       []*childDraft
}

// A typedFilter is a filter with the type of the values that it is applied to.
type typedFilter struct {
	filter *filter
	on     *typeDef
}

// A childDraft is a child under construction.
type childDraft struct {
	key       string
	resource  bool
	synthetic Synthetic
	position  positionDraft
}

// childFor returns the child with these properties. It creates the child if it does not
// exist.
func (d *positionDraft) childFor(key string, resource bool, synthetic Synthetic) *positionDraft {
	for _, c := range d.children {
		if c.key == key && c.resource == resource && c.synthetic == synthetic {
			return &c.position
		}
	}
	c := &childDraft{key: key, resource: resource, synthetic: synthetic}
	d.children = append(d.children, c)
	return &c.position
}

// addDiscriminators adds the keys that determine the object type of a value.
func (a *analyzer) addDiscriminators(d *positionDraft, t *typeDef) {
	if t.kind != kindInterface {
		return
	}
	if !t.resolver.bySchema {
		d.discriminators = append(d.discriminators, t.resolver.field)
		return
	}
	d.discriminators = append(d.discriminators, "$schema")
	for _, bound := range a.query.schema.bySchema {
		if bound.kind == kindInterface && !bound.resolver.bySchema {
			d.discriminators = append(d.discriminators, bound.resolver.field)
		}
	}
}

// buildPosition builds the position of a value from its draft.
func (a *analyzer) buildPosition(d *positionDraft) *Position {
	a.query.eachField(d.selections, func(n *fieldNode, on *typeDef) {
		for _, def := range a.query.fieldDefinitions(on, n.name) {
			a.addField(d, n, on, def)
		}
	})
	for _, f := range d.filters {
		a.addFilter(d, f)
	}
	pos := &Position{Leaves: sortedUnique(d.leaves), Whole: sortedUnique(d.whole),
		Discriminators: sortedUnique(d.discriminators), Refers: sortedUnique(d.refers)}
	for _, c := range d.children {
		child := Child{Key: c.key, Resource: c.resource, Pos: a.buildPosition(&c.position)}
		if c.synthetic != (Synthetic{}) {
			child.Synthetic = &c.synthetic
		}
		pos.Children = append(pos.Children, child)
	}
	return pos
}

// sortedUnique sorts keys and removes duplicates.
func sortedUnique(keys []string) []string {
	slices.Sort(keys)
	return slices.Compact(keys)
}

// addField adds the keys that one field reads.
func (a *analyzer) addField(d *positionDraft, n *fieldNode, on *typeDef, def *fieldDef) {
	a.addTypes(on)
	a.addTypes(def.typ)
	below := d
	switch def.resolver {
	case resolveTypename, resolveIntrospection:
		return
	case resolveDatafiles, resolveResources:
		a.opaque = true
		return
	case resolveSynthetic:
		a.addSchema(def.schema)
		a.depends[def.schema] = true
		a.opaque = a.opaque || def.typ.isLeaf() || !def.list
		d.leaves = append(d.leaves, "path")
		below = d.childFor(def.name, false, Synthetic{def.schema, def.subAttr})
		below.refers = append(below.refers, def.subAttr)
	case resolveResource:
		d.leaves = append(d.leaves, def.name)
		below = d.childFor(def.name, true, Synthetic{})
	default:
		a.addSchemasOf(on)
		key := dataKey(def.name)
		switch {
		case def.typ.scalar == scalarJSON && def.typ.isLeaf():
			d.whole = append(d.whole, key)
			return
		case def.typ.isLeaf():
			d.leaves = append(d.leaves, key)
			return
		}
		a.addTargets(def.typ)
		a.result.backrefs = a.result.backrefs || key == "backrefs"
		below = d.childFor(key, false, Synthetic{})
	}
	below.selections = below.selections.with(n.selectionSet, def.typ)
	a.addDiscriminators(below, def.typ)
}

// addFilter adds the keys that a filter reads.
func (a *analyzer) addFilter(d *positionDraft, f typedFilter) {
	for i := range f.filter.conditions {
		c := &f.filter.conditions[i]
		switch c.kind {
		case conditionFault: // only empty lists get behind it, and nothing of them is read
			return
		case conditionFilter:
		default:
			d.whole = append(d.whole, c.key)
			continue
		}
		below := d.childFor(c.key, false, Synthetic{})
		def := a.query.schema.filterField(f.on, c.key, 0)
		t := a.query.schema.types[def.bundleType]
		a.addTypes(t)
		a.addTargets(t)
		below.filters = append(below.filters, typedFilter{c.inner, t})
	}
}
