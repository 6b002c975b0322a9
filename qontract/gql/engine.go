package gql

import (
	"context"
	"errors"
	"sync"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// An Engine answers queries over one bundle. Several goroutines may use it at the same
// time.
type Engine struct {
	bundle *bundle.Bundle
	schema *Schema

	lock     sync.Mutex // guards backRefs and lookups
	backRefs map[backRefKey]*backRefIndex
	lookups  map[lookupKey]*lookup

	mentions *bundle.Mentions // set by UseMentions, or nil
}

// New returns an engine for a bundle. The schema must be made from the GraphQL types of
// this bundle, or of a bundle with the same types.
func New(b *bundle.Bundle, s *Schema) *Engine {
	return &Engine{bundle: b, schema: s, backRefs: map[backRefKey]*backRefIndex{}, lookups: map[lookupKey]*lookup{}}
}

// Answer compiles and executes a request. The response to a rejected request has status
// 400.
func (e *Engine) Answer(ctx context.Context, req Request) *Response {
	q, err := e.schema.Compile(req)
	if err == nil {
		return e.Execute(ctx, q)
	}
	res := &Response{Status: 400, Errors: []Error{{Message: err.Error(), Code: CodeRequest}}}
	var rejection *Rejection
	if errors.As(err, &rejection) {
		res.Errors = rejection.Errors
	}
	return res
}

// Execute executes a query. If the context ends, or the answer grows too large, the
// response has an error and no data.
func (e *Engine) Execute(ctx context.Context, q *Query) *Response {
	return newRun(ctx, e, q).answer()
}

// answer executes the whole query.
func (r *run) answer() *Response {
	q := r.query
	res := &Response{Status: 200, HasData: true}
	if q.fields == nil {
		res.Errors = []Error{{
			Message:   "Schema is not configured to execute " + q.op.kind + " operation.",
			Locations: []Location{q.doc.source.locate(q.op.pos)},
			Code:      CodeInternal,
		}}
		return res
	}
	data, err := r.readFields(q.fields, dataValue{value: undefined{}})
	if err != nil {
		r.errors = append(r.errors, *err)
		data = nil
	}
	res.Data, res.Errors = data, r.errors
	res.Schemas, res.DatafileSchemas = r.schemasOf(anyKind), r.schemasOf(datafileKind)
	return res
}
