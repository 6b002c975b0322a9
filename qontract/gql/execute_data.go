package gql

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
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

// A lookupKey identifies an index of datafiles by a value: a schema and a top-level key.
type lookupKey struct {
	schema bundle.SchemaPath
	key    string
}

// A lookup finds the datafiles of a schema in which a top-level key has a text. It is made
// when a second request asks for the key: a single request is answered faster without it.
type lookup struct {
	isAsked bool // once before
	once    sync.Once
	files   map[string]fileList // by the text, in the order of the bundle
}

// build fills the index.
func (l *lookup) build(files []*bundle.File, key string) {
	l.files = map[string]fileList{}
	for _, f := range files {
		if v, _ := f.Object().Get(key); v != nil {
			if text, ok := v.(string); ok {
				l.files[text] = append(l.files[text], f)
			}
		}
	}
}

// candidates returns the datafiles of a schema that may pass the arguments of a root field, in
// the order of the bundle: no others pass. All of them must still be compared with all
// arguments.
func (e *Engine) candidates(schema bundle.SchemaPath, args rootArguments) []*bundle.File {
	all := e.bundle.BySchema(schema)
	for _, want := range args.keys {
		text, ok := want.Value.(string)
		if !ok {
			continue
		}
		if want.Key == "path" {
			if f, ok := e.bundle.Datafile(bundle.Path(text)); ok && f.Schema == schema {
				return []*bundle.File{f}
			}
			return nil
		}
		if l := e.lookup(lookupKey{schema, want.Key}); l != nil {
			l.once.Do(func() { l.build(all, want.Key) })
			return l.files[text]
		}
	}
	return all
}

// lookup returns the index of a key, nil when the key is asked for the first time.
func (e *Engine) lookup(key lookupKey) *lookup {
	e.lock.Lock()
	defer e.lock.Unlock()
	l := e.lookups[key]
	if l == nil {
		l = &lookup{}
		e.lookups[key] = l
	}
	if !l.isAsked {
		l.isAsked = true
		return nil
	}
	return l
}

// filesReferringTo returns the datafiles of a schema whose attribute refers to a path. Each
// datafile occurs once, in the order of the bundle.
func (e *Engine) filesReferringTo(schema bundle.SchemaPath, attr, path string) fileList {
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

// UseMentions makes the engine find back references among the datafiles that mention a
// path. By default it indexes all datafiles of a schema, which costs more if only few
// elements are evaluated. The index must cover the bundle and be whole. UseMentions must be
// called before the engine is used.
func (e *Engine) UseMentions(m *bundle.Mentions) { e.mentions = m }

// filesMentioning does the work of filesReferringTo with the index of mentions.
func (e *Engine) filesMentioning(key backRefKey, path string) fileList {
	var out fileList
	for _, f := range e.mentions.Of(bundle.Path(path)) {
		if f.Schema != key.schema || !e.bundle.HasDatafile(f) {
			continue
		}
		found := false
		eachTarget(f.Object(), key.subAttr, func(to string) { found = found || to == path })
		if found {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b *bundle.File) int {
		return cmp.Compare(e.bundle.DatafileIndex(a.Path), e.bundle.DatafileIndex(b.Path))
	})
	return out
}

// A backRefKey identifies an index of back references: a schema and a dotted attribute.
type backRefKey struct {
	schema  bundle.SchemaPath
	subAttr string
}

// A backRefIndex maps a path to the datafiles of one schema that refer to it.
type backRefIndex struct {
	once     sync.Once
	byTarget map[string]fileList
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

// eachTarget calls visit for every target of the references under a dotted attribute of an
// object, such as "roles.owner". It enters lists on the way. Other values on the way, such
// as an explicit null, have no targets. (In qontract-server an explicit null makes loading
// the bundle fail.)
func eachTarget(o *bundle.Object, attr string, visit func(path string)) {
	head, rest, more := strings.Cut(attr, ".")
	v, ok := o.Get(head)
	if !ok {
		return
	}
	eachObject(v, func(o *bundle.Object) {
		if more {
			eachTarget(o, rest, visit)
			return
		}
		if path := o.String("$ref"); path != "" {
			visit(path)
		}
	})
}

// eachObject calls visit for an object, or for every object in a list and in the lists
// inside it.
func eachObject(v any, visit func(*bundle.Object)) {
	switch v := v.(type) {
	case *bundle.Object:
		visit(v)
	case []any:
		for _, item := range v {
			eachObject(item, visit)
		}
	}
}
