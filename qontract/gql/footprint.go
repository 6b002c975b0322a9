package gql

import (
	"maps"
	"slices"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// An analysis is the result of analyzing a query without any data.
type analysis struct {
	roots     []*Root
	footprint *Position
	schemas   []bundle.SchemaPath
	types     []string
	depends   []bundle.SchemaPath // schemas of datafiles that the answer depends on, as far as types tell
	backrefs  bool                // the query reads which datafiles mention a resource
}

// analyze finds out what the query can read, whatever the data is.
func (q *Query) analyze() *analysis {
	a := &analyzer{query: q, result: &analysis{footprint: &Position{}}, schemas: map[bundle.SchemaPath]bool{},
		depends: map[bundle.SchemaPath]bool{}, types: map[string]bool{}}
	if q.fields != nil {
		a.types[q.schema.query.name] = true
		for _, field := range q.fields.list {
			a.addRoot(field)
		}
	}
	for s := range a.schemas {
		a.result.schemas = append(a.result.schemas, s)
	}
	a.result.depends = slices.Sorted(maps.Keys(a.depends))
	for t := range a.types {
		a.result.types = append(a.result.types, t)
	}
	slices.Sort(a.result.schemas)
	slices.Sort(a.result.types)
	return a.result
}

// An analyzer analyzes a query.
type analyzer struct {
	query   *Query
	result  *analysis
	schemas map[bundle.SchemaPath]bool
	depends map[bundle.SchemaPath]bool
	types   map[string]bool
	opaque  bool // the current root field reads something that positions cannot describe
}

// addRoot adds a root field.
func (a *analyzer) addRoot(field *selectedField) {
	r := &Root{Key: field.key, Field: field.def.name, Schema: field.def.schema, List: field.def.list, selected: field}
	a.opaque = false
	d := &positionDraft{}
	for _, n := range field.nodes {
		d.selections = d.selections.with(n.selectionSet, field.def.typ)
	}
	switch field.def.resolver {
	case resolveDatafiles:
		r.Kind = RootDatafiles
		a.addSchema(field.def.schema)
		a.depends[field.def.schema] = true
		a.addArguments(d, field)
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
	a.addTypes(field.def.typ)
	a.addDiscriminators(d, field.def.typ)
	pos := a.buildPosition(d)
	if a.opaque || !r.List && r.Kind != RootConstant {
		r.Kind = RootOpaque
	}
	a.result.roots = append(a.result.roots, r)
	a.result.footprint.Children = append(a.result.footprint.Children,
		Child{Key: field.key, Resource: r.Kind == RootResources, Pos: pos})
}

// addArguments adds the keys that the arguments of a root field read of its elements.
func (a *analyzer) addArguments(d *positionDraft, field *selectedField) {
	for _, want := range field.rootArgs.keys {
		d.whole = append(d.whole, want.Key)
	}
	if field.rootArgs.filter != nil {
		d.filters = append(d.filters, typedFilter{field.rootArgs.filter, field.def.typ})
	}
}

// addSchema adds a schema that the query can read.
func (a *analyzer) addSchema(s bundle.SchemaPath) {
	if s != "" {
		a.schemas[s] = true
	}
}

// addTypes adds a type, its possible object types and their interfaces.
func (a *analyzer) addTypes(t *typeDef) {
	if t.isLeaf() || a.types[t.name] && t.kind == kindObject {
		return
	}
	a.types[t.name] = true
	for _, object := range t.objectTypes() {
		a.types[object.name] = true
		for _, i := range object.interfaces {
			a.types[i.name] = true
		}
	}
}

// addSchemasOf adds the schemas of all objects that a value of the type can be.
func (a *analyzer) addSchemasOf(t *typeDef) {
	a.addSchema(t.datafileSchema)
	for _, object := range t.objectTypes() {
		a.addSchema(object.datafileSchema)
		for _, i := range object.interfaces {
			a.addSchema(i.datafileSchema)
		}
	}
}

// addTargets adds the schemas of the datafiles that a field of the type can lead to. Whether
// they are there, and of which schema they are, shows in the answer even if nothing is read
// of them.
func (a *analyzer) addTargets(t *typeDef) {
	for _, target := range slices.Concat(t.objectTypes(), []*typeDef{t}) {
		if target.datafileSchema != "" {
			a.depends[target.datafileSchema] = true
		}
		for _, i := range target.interfaces {
			if i.datafileSchema != "" {
				a.depends[i.datafileSchema] = true
			}
		}
	}
}

// dataKey returns the key of the data that a field reads: "$schema" for the field "schema",
// or else the name of the field.
func dataKey(field string) string {
	if field == "schema" {
		return "$schema"
	}
	return field
}

// Roots returns the root fields of the query, in the order of the answer.
func (q *Query) Roots() []*Root { return q.analysis().roots }

// Footprint returns the position of the operation itself. It has one child for each of
// [Query.Roots], in the same order. The Key of a child is the response key. Its Pos is the
// position of the elements of the root field, which includes the keys that the arguments
// read.
func (q *Query) Footprint() *Position { return q.analysis().footprint }

// Schemas returns the sorted schemas whose datafiles the query can read, provided that the
// data fits its types.
func (q *Query) Schemas() []bundle.SchemaPath { return q.analysis().schemas }

// Types returns the sorted names of the object and interface types that the query can meet,
// with all implementations of an interface.
func (q *Query) Types() []string { return q.analysis().types }

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
