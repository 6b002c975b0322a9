package gql

import (
	"slices"

	"github.com/app-sre/prcheck/bundle"
)

// An outline is what can be said about a query without any data.
type analysis struct {
	roots     []*Root
	footprint *Position
	schemas   []bundle.Schema
	types     []string
}

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

// outline works the outline out.
func (q *Query) analyze() *analysis {
	o := &analyzer{query: q, result: &analysis{footprint: &Position{}}, schemas: map[bundle.Schema]bool{}, types: map[string]bool{}}
	if q.fields != nil {
		o.types[q.schema.query.name] = true
		for _, p := range q.fields.list {
			o.addRoot(p)
		}
	}
	for s := range o.schemas {
		o.result.schemas = append(o.result.schemas, s)
	}
	for t := range o.types {
		o.result.types = append(o.result.types, t)
	}
	slices.Sort(o.result.schemas)
	slices.Sort(o.result.types)
	return o.result
}

// An outliner makes an outline.
type analyzer struct {
	query   *Query
	result  *analysis
	schemas map[bundle.Schema]bool
	types   map[string]bool
	opaque  bool // the root that is looked at reads what no position can tell
}

// root adds a root field.
func (o *analyzer) addRoot(field *selectedField) {
	r := &Root{Key: field.key, Field: field.def.name, Schema: field.def.schema, List: field.def.list, pick: field}
	o.opaque = false
	d := &positionDraft{}
	for _, n := range field.nodes {
		d.selections = d.selections.with(n.selectionSet, field.def.typ)
	}
	switch field.def.resolver {
	case resolveDatafiles:
		r.Kind = RootDatafiles
		o.addSchema(field.def.schema)
		o.addArguments(d, field)
	case resolveResources:
		r.Kind = RootResources
		for _, key := range []string{"path", "schema"} {
			if field.stringArgument(key) != "" {
				d.whole = append(d.whole, dataKey(key))
			}
		}
	default:
		r.Kind = RootConstant
		d.selections = nil
	}
	o.addTypes(field.def.typ)
	o.addDiscriminators(d, field.def.typ)
	pos := o.buildPosition(d)
	if o.opaque || !r.List && r.Kind != RootConstant {
		r.Kind = RootOpaque
	}
	o.result.roots = append(o.result.roots, r)
	o.result.footprint.Children = append(o.result.footprint.Children, Child{Key: field.key, Resource: r.Kind == RootResources, Pos: pos})
}

// arguments adds what the arguments of a root read of its elements.
func (o *analyzer) addArguments(d *positionDraft, field *selectedField) {
	for _, want := range field.rootArgs.keys {
		d.whole = append(d.whole, want.Key)
	}
	if field.rootArgs.filter != nil {
		d.filters = append(d.filters, typedFilter{field.rootArgs.filter, field.def.typ})
	}
}

func (o *analyzer) addSchema(s bundle.Schema) {
	if s != "" {
		o.schemas[s] = true
	}
}

// reach notes a type and all that its values can have.
func (o *analyzer) addTypes(t *typeDef) {
	if t.isLeaf() || o.types[t.name] && t.kind == kindObject {
		return
	}
	o.types[t.name] = true
	for _, object := range t.objectTypes() {
		o.types[object.name] = true
		for _, i := range object.interfaces {
			o.types[i.name] = true
		}
	}
}

// touch notes the schemas of the objects that a field is read of.
func (o *analyzer) addSchemasOf(t *typeDef) {
	o.addSchema(t.datafileSchema)
	for _, object := range t.objectTypes() {
		o.addSchema(object.datafileSchema)
		for _, i := range object.interfaces {
			o.addSchema(i.datafileSchema)
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
