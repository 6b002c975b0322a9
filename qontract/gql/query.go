package gql

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A Query is a request that was validated against a schema. It is immutable, and several
// goroutines may use it at the same time.
type Query struct {
	schema    *Schema
	doc       *document
	op        *operation
	variables map[string]any
	fragments map[string]*fragment
	fields    *collectedFields // root fields; nil unless the operation is a query
	isExact   bool             // the request has ExactVariable

	analysis func() *analysis // runs analyze once
}

func newQuery(s *Schema, doc *document, op *operation, variables map[string]any) *Query {
	q := &Query{schema: s, doc: doc, op: op, variables: variables,
		fragments: make(map[string]*fragment, len(doc.fragments))}
	for _, f := range doc.fragments {
		q.fragments[f.name] = f
	}
	if op.kind == "query" {
		q.fields = q.collectFields(s.query, op.selectionSet)
	}
	q.analysis = sync.OnceValue(q.analyze)
	doc.source.buildIndex()
	return q
}

// maxLocations is the number of locations that one error has.
const maxLocations = 100

// locationsOf returns the places at which the query selects a field.
func (q *Query) locationsOf(field *selectedField) []Location {
	list := make([]Location, min(len(field.nodes), maxLocations))
	for i := range list {
		list[i] = q.doc.source.locate(field.nodes[i].pos)
	}
	return list
}

// stringArgument returns the value of a string argument, or "".
func (f *selectedField) stringArgument(name string) string {
	s, _ := f.args[name].(string)
	return s
}

// Kind returns the type of the operation: "query", "mutation" or "subscription".
func (q *Query) Kind() string { return q.op.kind }

// A collectedFields is the result of merging selection sets for one object type: the fields
// to read, in the order of the answer. The GraphQL specification calls this CollectFields.
type collectedFields struct {
	objectType *typeDef
	list       []*selectedField
	fault      *Error // a condition of @skip or @include has no value: every reading gives this error
}

// A selectedField is one key of an object in the answer. Its nodes are the selections with
// this response key.
type selectedField struct {
	key    string
	def    *fieldDef
	parent *typeDef
	nodes  []*fieldNode

	args     map[string]any
	fault    *Error // the arguments are wrong: every reading gives this error
	rootArgs rootArguments

	fieldsOfType atomic.Pointer[collectedFields] // cache of subfields if the field has an object type
	lock         sync.Mutex
	fieldsByType map[*typeDef]*collectedFields // cache of subfields for the object types of an interface
}

// collectFields merges selection sets for an object type.
func (q *Query) collectFields(t *typeDef, sets ...*selectionSet) *collectedFields {
	c := fieldCollector{q: q, collected: &collectedFields{objectType: t}}
	for _, set := range sets {
		if set != nil && c.collected.fault == nil {
			c.collectSet(set)
		}
	}
	for _, field := range c.collected.list {
		q.readArguments(field)
	}
	return c.collected
}

// A fieldCollector merges selection sets. It enters each fragment once.
type fieldCollector struct {
	q         *Query
	collected *collectedFields
	seen      map[*fragment]bool
	byKey     map[string]*selectedField // only used for many fields
}

func (c *fieldCollector) collectSet(set *selectionSet) {
	for _, s := range set.selections {
		keep, err := c.q.isIncluded(s)
		if err != nil {
			c.collected.fault = err
			return
		}
		if !keep {
			continue
		}
		switch n := s.(type) {
		case *fieldNode:
			c.collectField(n)
		case *inlineNode:
			if n.typeCondition == "" || c.q.fragmentApplies(n.typeCondition, c.collected.objectType) {
				c.collectSet(n.selectionSet)
			}
		case *spreadNode:
			c.collectSpread(c.q.fragments[n.name])
		}
		if c.collected.fault != nil {
			return
		}
	}
}

func (c *fieldCollector) collectSpread(f *fragment) {
	if c.seen[f] {
		return
	}
	if c.seen == nil {
		c.seen = map[*fragment]bool{}
	}
	c.seen[f] = true
	if c.q.fragmentApplies(f.typeCondition, c.collected.objectType) {
		c.collectSet(f.selectionSet)
	}
}

// fragmentApplies reports whether a fragment on the type with name on applies to an object
// type.
func (q *Query) fragmentApplies(on string, t *typeDef) bool {
	return on == t.name || t.isSubtypeOf(q.schema.types[on])
}

func (c *fieldCollector) collectField(n *fieldNode) {
	key := n.responseKey()
	if field := c.findKey(key); field != nil {
		field.nodes = append(field.nodes, n)
		return
	}
	field := &selectedField{key: key, parent: c.collected.objectType, def: c.q.schema.fieldNamed(c.collected.objectType,
		n.name), nodes: []*fieldNode{n}}
	c.collected.list = append(c.collected.list, field)
	if c.byKey != nil {
		c.byKey[key] = field
	}
}

// findKey returns the field with this response key that was collected before, or nil.
func (c *fieldCollector) findKey(key string) *selectedField {
	if c.byKey != nil {
		return c.byKey[key]
	}
	for _, field := range c.collected.list {
		if field.key == key {
			return field
		}
	}
	if len(c.collected.list) >= indexFrom {
		c.byKey = make(map[string]*selectedField, 2*indexFrom)
		for _, field := range c.collected.list {
			c.byKey[field.key] = field
		}
	}
	return nil
}

// isIncluded reports whether @skip and @include keep a selection.
func (q *Query) isIncluded(s selection) (bool, *Error) {
	for _, word := range []string{"skip", "include"} {
		for _, d := range s.appliedDirectives() {
			if d.name != word {
				continue
			}
			v, _, err := q.schema.directiveNamed(word).args[0].valueGiven(d.arguments, q.variables)
			if err != nil {
				return false, q.argumentError(err, d.arguments[0])
			}
			if v == (word == "skip") {
				return false, nil
			}
		}
	}
	return true, nil
}

// argumentError returns the error about the value of an argument that only execution can
// find.
func (q *Query) argumentError(err error, given *argument) *Error {
	return &Error{Message: err.Error(), Code: CodeInternal, Locations: []Location{q.doc.source.locate(given.value.pos)}}
}

// readArguments reads the arguments of a field.
func (q *Query) readArguments(field *selectedField) {
	for _, a := range field.def.args {
		given := field.nodes[0].arguments
		v, ok, err := a.valueGiven(given, q.variables)
		if err != nil {
			field.fault = &Error{Message: err.Error(), Code: CodeInternal}
			if i := slices.IndexFunc(given, func(g *argument) bool { return g.name == a.name }); i >= 0 {
				field.fault = q.argumentError(err, given[i])
			}
			return
		}
		if ok {
			if field.args == nil {
				field.args = make(map[string]any, len(field.def.args))
			}
			field.args[a.name] = v
		}
	}
	if field.def.resolver == resolveDatafiles {
		field.rootArgs = q.schema.parseRootArguments(field.def, field.args)
	}
}

// subfields returns the fields that are selected below a field, for values of an object
// type.
func (q *Query) subfields(field *selectedField, t *typeDef) *collectedFields {
	if field.def.typ == t {
		if known := field.fieldsOfType.Load(); known != nil {
			return known
		}
		made := q.collectSubfields(field, t)
		field.fieldsOfType.Store(made)
		return made
	}
	field.lock.Lock()
	defer field.lock.Unlock()
	made := field.fieldsByType[t]
	if made == nil {
		if field.fieldsByType == nil {
			field.fieldsByType = map[*typeDef]*collectedFields{}
		}
		made = q.collectSubfields(field, t)
		field.fieldsByType[t] = made
	}
	return made
}

func (q *Query) collectSubfields(field *selectedField, t *typeDef) *collectedFields {
	sets := make([]*selectionSet, len(field.nodes))
	for i, n := range field.nodes {
		sets[i] = n.selectionSet
	}
	return q.collectFields(t, sets...)
}
