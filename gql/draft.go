package gql

import (
	"slices"

	"github.com/app-sre/prcheck/bundle"
)

// A draft is a position in the making.
type draft struct {
	level    level
	filters  []typedFilter
	leaves   []string
	whole    []string
	decisive []string
	refers   []string
	children []*childDraft
}

// A typedFilter is a filter with the type that it is for.
type typedFilter struct {
	filter *filter
	on     *typeDef
}

// A childDraft is a child in the making.
type childDraft struct {
	key       string
	resource  bool
	synthetic Synthetic
	draft     draft
}

// child returns the child with these properties, a new one if need be.
func (d *draft) child(key string, resource bool, synthetic Synthetic) *draft {
	for _, c := range d.children {
		if c.key == key && c.resource == resource && c.synthetic == synthetic {
			return &c.draft
		}
	}
	c := &childDraft{key: key, resource: resource, synthetic: synthetic}
	d.children = append(d.children, c)
	return &c.draft
}

// discriminate adds the keys that tell the type of a value.
func (o *outliner) discriminate(d *draft, t *typeDef) {
	if t.kind != kindInterface {
		return
	}
	if !t.resolver.bySchema {
		d.decisive = append(d.decisive, t.resolver.field)
		return
	}
	d.decisive = append(d.decisive, "$schema")
	for _, bound := range o.query.schema.bound {
		if bound.kind == kindInterface && !bound.resolver.bySchema {
			d.decisive = append(d.decisive, bound.resolver.field)
		}
	}
}

// position works out what is read of a value.
func (o *outliner) position(d *draft) *Position {
	o.query.fields(d.level, func(n *fieldNode, on *typeDef) {
		for _, def := range o.query.definitions(on, n.name) {
			o.field(d, n, on, def)
		}
	})
	for _, f := range d.filters {
		o.filter(d, f)
	}
	pos := &Position{Leaves: tidy(d.leaves), Whole: tidy(d.whole), Discriminators: tidy(d.decisive), Refers: tidy(d.refers)}
	for _, c := range d.children {
		child := Child{Key: c.key, Resource: c.resource, Pos: o.position(&c.draft)}
		if c.synthetic != (Synthetic{}) {
			child.Synthetic = &c.synthetic
		}
		pos.Children = append(pos.Children, child)
	}
	return pos
}

func tidy(keys []string) []string {
	slices.Sort(keys)
	return slices.Compact(keys)
}

// field adds what one field reads.
func (o *outliner) field(d *draft, n *fieldNode, on *typeDef, def *fieldDef) {
	o.reach(on)
	o.reach(def.typ)
	below := d
	switch def.kind {
	case resolveTypename, resolveMeta:
		return
	case resolveDatafiles, resolveResources:
		o.opaque = true
		return
	case resolveSynthetic:
		o.bind(def.schema)
		o.opaque = o.opaque || def.typ.leaf() || !def.list
		d.leaves = append(d.leaves, "path")
		below = d.child(def.name, false, Synthetic{def.schema, def.attr})
		below.refers = append(below.refers, def.attr)
	case resolveResource:
		d.leaves = append(d.leaves, def.name)
		below = d.child(def.name, true, Synthetic{})
	default:
		o.touch(on)
		key := dataKey(def.name)
		switch {
		case def.typ.scalar == scalarJSON && def.typ.leaf():
			d.whole = append(d.whole, key)
			return
		case def.typ.leaf():
			d.leaves = append(d.leaves, key)
			return
		}
		below = d.child(key, false, Synthetic{})
	}
	below.level = below.level.with(n.set, def.typ)
	o.discriminate(below, def.typ)
}

// filter adds what a filter reads.
func (o *outliner) filter(d *draft, f typedFilter) {
	for i := range f.filter.conditions {
		c := &f.filter.conditions[i]
		if c.kind != filterInner {
			d.whole = append(d.whole, c.key)
			continue
		}
		below := d.child(c.key, false, Synthetic{})
		def := o.query.schema.filterField(f.on, c.key, 0)
		t := o.query.schema.types[def.conf]
		o.reach(t)
		below.filters = append(below.filters, typedFilter{c.inner, t})
	}
}

// Roots returns the root fields of the query, in the order of the answer.
func (q *Query) Roots() []*Root { return q.static().roots }

// Footprint returns the position of the operation itself. It has one child for
// each of [Query.Roots], in the same order: its Key is the response key, its
// Pos the position of the root's elements, which includes what the arguments
// read of them.
func (q *Query) Footprint() *Position { return q.static().top }

// Schemas returns, sorted, the schemas whose datafiles the query can read, as
// long as the data fits its types.
func (q *Query) Schemas() []bundle.Schema { return q.static().schemas }

// Types returns, sorted, the object and interface types that the query can
// come across, with all implementations of an interface.
func (q *Query) Types() []string { return q.static().types }
