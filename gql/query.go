package gql

import (
	"sync"
)

// A Query is a request that was checked against a schema. It does not change,
// and several goroutines may use it at once.
type Query struct {
	schema    *Schema
	doc       *document
	op        *operation
	variables map[string]any
	fragments map[string]*fragment
	fields    *collectedFields // nil unless the operation is a query

	analysis func() *analysis // see outline
}

func newQuery(s *Schema, doc *document, op *operation, variables map[string]any) *Query {
	q := &Query{schema: s, doc: doc, op: op, variables: variables, fragments: make(map[string]*fragment, len(doc.fragments))}
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

// maxLocations is the number of places that one error names.
const maxLocations = 100

// locations returns where the query selects a field.
func (q *Query) locationsOf(field *selectedField) []Location {
	list := make([]Location, min(len(field.nodes), maxLocations))
	for i := range list {
		list[i] = q.doc.source.locate(field.nodes[i].pos)
	}
	return list
}

// text returns the value of an argument that is a string, or "".
func (f *selectedField) stringArgument(name string) string {
	s, _ := f.args[name].(string)
	return s
}

// Kind returns the word of the operation that the query executes: "query",
// "mutation" or "subscription".
func (q *Query) Kind() string { return q.op.kind }
