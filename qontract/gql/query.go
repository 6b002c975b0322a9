package gql

import (
	"sync"
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
