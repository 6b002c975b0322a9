package gql

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/app-sre/prcheck/bundle"
)

// An Engine answers queries over one bundle. Several goroutines may use it at
// once.
type Engine struct {
	bundle *bundle.Bundle
	schema *Schema

	lock     sync.Mutex
	backRefs map[backRefKey]*backRefIndex

	mentions *bundle.Mentions // nil unless narrowed
}

// New returns an engine for a bundle. The schema is that of the bundle, or one
// made from the same types.
func New(b *bundle.Bundle, s *Schema) *Engine {
	return &Engine{bundle: b, schema: s, backRefs: map[backRefKey]*backRefIndex{}}
}

// Answer compiles and executes a request. A request that is rejected has status
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

// Execute answers a query. When the context ends, or the answer grows beyond
// all measure, the answer is an error without data.
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

// A backKey names an index of back references.
type backRefKey struct {
	schema  bundle.Schema
	subAttr string
}

// backs is an index of back references: the datafiles of a schema by what they
// refer to.
type backRefIndex struct {
	once     sync.Once
	byTarget map[string]fileList
}

// referring returns the datafiles of a schema that refer to a path with the
// attribute. Every datafile occurs once, in the order of the bundle.
func (e *Engine) filesReferringTo(schema bundle.Schema, attr, path string) fileList {
	key := backRefKey{schema, attr}
	if e.mentions != nil {
		return e.filesMentioning(key, path)
	}
	e.lock.Lock()
	index := e.backRefs[key]
	if index == nil {
		index = &backRefIndex{}
		e.backRefs[key] = index
	}
	e.lock.Unlock()
	index.once.Do(func() { index.build(e.bundle.BySchema(schema), attr) })
	return index.byTarget[path]
}

// Narrow makes the engine find back references among the datafiles that mention
// a path, instead of indexing all datafiles of a schema. That is cheaper while
// only few elements are evaluated. The index must cover the bundle and be
// whole; it must be set before the engine is used.
func (e *Engine) UseMentions(m *bundle.Mentions) { e.mentions = m }

// mentioning is referring by the index of mentions.
func (e *Engine) filesMentioning(key backRefKey, path string) fileList {
	var out fileList
	for _, f := range e.mentions.Of(bundle.Path(path)) {
		if f.Schema != key.schema || !e.bundle.Holds(f) {
			continue
		}
		found := false
		eachTarget(f.Object(), key.subAttr, func(to string) { found = found || to == path })
		if found {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b *bundle.File) int {
		return cmp.Compare(e.bundle.Order(a.Path), e.bundle.Order(b.Path))
	})
	return out
}

func (b *backRefIndex) build(files []*bundle.File, attr string) {
	b.byTarget = map[string]fileList{}
	for _, f := range files {
		eachTarget(f.Object(), attr, func(path string) {
			list := b.byTarget[path]
			if len(list) == 0 || list[len(list)-1] != f {
				b.byTarget[path] = append(list, f)
			}
		})
	}
}
