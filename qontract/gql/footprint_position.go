package gql

import (
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// A Position is a place in a query, with all keys that the query reads there of one object:
// of a datafile, of a resource, or of an object inside one. It covers every type that the
// object can have, so it holds for any data. The key $schema is always read, even though no
// list has it.
//
// A position does not cover one case: if a key of Leaves or Whole holds a reference, the
// answer contains the whole target, or an error that quotes it. See [Query.Scalars].
type Position struct {
	Leaves         []string // keys of scalars, and of lists of them
	Whole          []string // keys of JSON scalars, and keys that arguments read; compared as a whole
	Discriminators []string // keys that determine the type of the object
	Refers         []string // dotted attributes whose targets decide where this object appears as a back reference
	Children       []Child
}

// A Child is a key below which the query reads more: in the object under the key, in the
// items of a list, or in a file that one of them refers to.
type Child struct {
	Key       string     // key of the data; for back references the name of the field
	Synthetic *Synthetic // nil unless the field reads back references
	Resource  bool       // the key holds the path of a resource
	Pos       *Position
}

// A Synthetic describes back references: the datafiles of a schema that refer to the path
// of the object with a dotted attribute.
type Synthetic struct {
	Schema  bundle.SchemaPath
	SubAttr string
}

// Same reports whether the position reads the same of two versions of an object. A
// reference is compared as it is written, without its target. So if Same returns true, the
// answers can differ only because of other files: files that the object refers to, or files
// that refer to the object. Numbers are compared as they are written. In values that are
// compared as a whole the order of keys counts.
func (p *Position) Same(a, b any) bool {
	return p.compare(a, b, "", func(string) bool { return false })
}

// Changed returns the sorted JSON pointers of the values that the position reads and that
// differ.
func (p *Position) Changed(a, b any) []string {
	var out []string
	p.compare(a, b, "", func(at string) bool {
		out = append(out, at)
		return true
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// compare calls differs with the pointer of every difference, until differs returns false.
// It returns false in this case, or else true.
func (p *Position) compare(a, b any, at string, differs func(string) bool) bool {
	x, isObject := a.(*bundle.Object)
	y, ok := b.(*bundle.Object)
	switch {
	case !isObject || !ok:
		return equalAsWritten(a, b) || differs(at)
	case x == y:
		return true
	}
	if !compareKey(x, y, "$schema", at, differs) {
		return false
	}
	for _, keys := range [][]string{p.Discriminators, p.Leaves, p.Whole} {
		for _, key := range keys {
			if !compareKey(x, y, key, at, differs) {
				return false
			}
		}
	}
	for _, attr := range p.Refers {
		if !sameTargets(x, y, attr) && !differs(at+"/"+strings.ReplaceAll(attr, ".", "/")) {
			return false
		}
	}
	for i := range p.Children {
		if !p.Children[i].compare(x, y, at, differs) {
			return false
		}
	}
	return true
}

// compareKey compares the values of one key. It calls differs and returns its result if
// they differ.
func compareKey(a, b *bundle.Object, key, at string, differs func(string) bool) bool {
	x, has := a.Get(key)
	y, hasToo := b.Get(key)
	return has == hasToo && equalAsWritten(x, y) || differs(jsonpointer.Append(at, key))
}

// sameTargets reports whether the references under a dotted attribute have the same
// targets.
func sameTargets(a, b *bundle.Object, attr string) bool {
	var paths [2][]string
	for i, o := range []*bundle.Object{a, b} {
		eachTarget(o, attr, func(path string) { paths[i] = append(paths[i], path) })
	}
	return slices.Equal(sortedUnique(paths[0]), sortedUnique(paths[1]))
}

// compare compares the values of the child's key.
func (c *Child) compare(a, b *bundle.Object, at string, differs func(string) bool) bool {
	if c.Synthetic != nil {
		return true // back references depend on the path of the object, which is one of its leaves
	}
	x, has := a.Get(c.Key)
	y, hasToo := b.Get(c.Key)
	if c.Resource || has != hasToo {
		return has == hasToo && equalAsWritten(x, y) || differs(jsonpointer.Append(at, c.Key))
	}
	list, isList := x.([]any)
	other, ok := y.([]any)
	if !isList || !ok {
		return c.item(x, y, jsonpointer.Append(at, c.Key), differs)
	}
	if len(list) != len(other) {
		return differs(jsonpointer.Append(at, c.Key))
	}
	for i := range list {
		if !c.item(list[i], other[i], jsonpointer.Append(jsonpointer.Append(at, c.Key), strconv.Itoa(i)), differs) {
			return false
		}
	}
	return true
}

// item compares two values. References are compared as they are written.
func (c *Child) item(a, b any, at string, differs func(string) bool) bool {
	_, isReference := referenceTarget(a)
	_, isToo := referenceTarget(b)
	if isReference || isToo {
		return equalAsWritten(a, b) || differs(at)
	}
	return c.Pos.compare(a, b, at, differs)
}

// equalAsWritten reports whether two values are equal, including the order of keys and the
// digits of numbers.
func equalAsWritten(a, b any) bool {
	switch a := a.(type) {
	case *bundle.Object:
		b, ok := b.(*bundle.Object)
		return ok && (a == b || slices.EqualFunc(a.Members(), b.Members(), func(x, y bundle.Member) bool {
			return x.Key == y.Key && equalAsWritten(x.Value, y.Value)
		}))
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equalAsWritten)
	}
	switch b.(type) {
	case *bundle.Object, []any:
		return false
	}
	return a == b
}

// Scalars returns the keys that the query reads as scalars at any position. If such a key
// holds a reference, the answer contains the whole target, or an error that quotes it, and
// no position covers what is read of the target.
func (q *Query) Scalars() map[string]bool {
	keys := map[string]bool{}
	q.Footprint().collectScalars(keys)
	return keys
}

// collectScalars adds the keys that the position and its children read as scalars.
func (p *Position) collectScalars(keys map[string]bool) {
	for _, list := range [][]string{p.Leaves, p.Whole} {
		for _, key := range list {
			keys[key] = true
		}
	}
	for _, c := range p.Children {
		c.Pos.collectScalars(keys)
	}
}

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
