package gql

import (
	"slices"

	"github.com/app-sre/prcheck/bundle"
)

// An outline is what can be said about a query without any data.
type outline struct {
	roots   []*Root
	top     *Position
	schemas []bundle.Schema
	types   []string
}

// A scoped is a selection set with the type it is read on.
type scoped struct {
	set *selectionSet
	on  *typeDef
}

// A level is all that is read of one value.
type level []scoped

// with adds a selection set to a level, once.
func (l level) with(set *selectionSet, on *typeDef) level {
	if set == nil || on.leaf() || slices.Contains(l, scoped{set, on}) {
		return l
	}
	return append(l, scoped{set, on})
}

// fields calls visit for every field that is read of a value: with the type
// that it is read on, whatever the value turns out to be.
func (q *Query) fields(l level, visit func(*fieldNode, *typeDef)) {
	seen := map[scoped]bool{}
	var walk func(scoped)
	enter := func(set *selectionSet, from *typeDef, on string) {
		to := from
		if on != "" && !from.within(q.schema.types[on]) {
			to = q.schema.types[on]
		}
		if next := (scoped{set, to}); !seen[next] {
			seen[next] = true
			walk(next)
		}
	}
	walk = func(s scoped) {
		for _, selection := range s.set.selections {
			if keep, err := q.included(selection); err == nil && !keep {
				continue
			}
			switch n := selection.(type) {
			case *fieldNode:
				visit(n, s.on)
			case *inlineNode:
				enter(n.set, s.on, n.on)
			case *spreadNode:
				f := q.fragments[n.name]
				enter(f.set, s.on, f.on)
			}
		}
	}
	for _, s := range l {
		walk(s)
	}
}

// within tells whether every object of a type is of the other type too.
func (t *typeDef) within(other *typeDef) bool {
	for _, o := range t.objects() {
		if !o.is(other) {
			return false
		}
	}
	return true
}

// definitions returns the fields that a name stands for on the object types of
// a type. Those that do the same count once.
func (q *Query) definitions(t *typeDef, name string) []*fieldDef {
	var defs []*fieldDef
	for _, o := range t.objects() {
		def := q.schema.find(o, name)
		if def != nil && !slices.ContainsFunc(defs, func(d *fieldDef) bool { return d == def || d.reads(def) }) {
			defs = append(defs, def)
		}
	}
	return defs
}

// reads tells whether two fields of a name get the same of an object.
func (f *fieldDef) reads(other *fieldDef) bool {
	return f.typ == other.typ && f.kind == other.kind && f.schema == other.schema && f.attr == other.attr && f.list == other.list
}

// outline works the outline out.
func (q *Query) outline() *outline {
	o := &outliner{query: q, out: &outline{top: &Position{}}, schemas: map[bundle.Schema]bool{}, types: map[string]bool{}}
	if q.top != nil {
		o.types[q.schema.query.name] = true
		for _, p := range q.top.picks {
			o.root(p)
		}
	}
	for s := range o.schemas {
		o.out.schemas = append(o.out.schemas, s)
	}
	for t := range o.types {
		o.out.types = append(o.out.types, t)
	}
	slices.Sort(o.out.schemas)
	slices.Sort(o.out.types)
	return o.out
}

// An outliner makes an outline.
type outliner struct {
	query   *Query
	out     *outline
	schemas map[bundle.Schema]bool
	types   map[string]bool
	opaque  bool // the root that is looked at reads what no position can tell
}

// root adds a root field.
func (o *outliner) root(p *pick) {
	r := &Root{Key: p.key, Field: p.def.name, Schema: p.def.schema, List: p.def.list, pick: p}
	o.opaque = false
	d := &draft{}
	for _, n := range p.nodes {
		d.level = d.level.with(n.set, p.def.typ)
	}
	switch p.def.kind {
	case resolveDatafiles:
		r.Kind = RootDatafiles
		o.bind(p.def.schema)
		o.arguments(d, p)
	case resolveResources:
		r.Kind = RootResources
		for _, key := range []string{"path", "schema"} {
			if p.text(key) != "" {
				d.whole = append(d.whole, dataKey(key))
			}
		}
	default:
		r.Kind = RootConstant
		d.level = nil
	}
	o.reach(p.def.typ)
	o.discriminate(d, p.def.typ)
	pos := o.position(d)
	if o.opaque || !r.List && r.Kind != RootConstant {
		r.Kind = RootOpaque
	}
	o.out.roots = append(o.out.roots, r)
	o.out.top.Children = append(o.out.top.Children, Child{Key: p.key, Resource: r.Kind == RootResources, Pos: pos})
}

// arguments adds what the arguments of a root read of its elements.
func (o *outliner) arguments(d *draft, p *pick) {
	for _, want := range p.roots.equal {
		d.whole = append(d.whole, want.Key)
	}
	if p.roots.filter != nil {
		d.filters = append(d.filters, typedFilter{p.roots.filter, p.def.typ})
	}
}

func (o *outliner) bind(s bundle.Schema) {
	if s != "" {
		o.schemas[s] = true
	}
}

// reach notes a type and all that its values can have.
func (o *outliner) reach(t *typeDef) {
	if t.leaf() || o.types[t.name] && t.kind == kindObject {
		return
	}
	o.types[t.name] = true
	for _, object := range t.objects() {
		o.types[object.name] = true
		for _, i := range object.interfaces {
			o.types[i.name] = true
		}
	}
}

// touch notes the schemas of the objects that a field is read of.
func (o *outliner) touch(t *typeDef) {
	o.bind(t.datafile)
	for _, object := range t.objects() {
		o.bind(object.datafile)
		for _, i := range object.interfaces {
			o.bind(i.datafile)
		}
	}
}

// dataKey is the key of the data that a field of a name reads.
func dataKey(field string) string {
	if field == "schema" {
		return "$schema"
	}
	return field
}
