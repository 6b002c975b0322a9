package gql

import (
	"context"
	"fmt"

	"github.com/app-sre/prcheck/bundle"
)

// maxValues bounds the values of an answer, so that a query cannot use up the
// memory. The largest answers that integrations ask for have some millions.
const maxValues = 50_000_000

// A source is a value of the data on its way into the answer.
type source struct {
	value    any
	resource bool // it is, or is part of, a resource
}

// A step is one element of the path to where execution is: a response key, or
// the index of an item when the key is "".
type step struct {
	key   string
	index int
}

// Where a schema was touched.
type where uint8

const (
	datafiles where = 1 << iota
	resources

	everything = datafiles | resources
)

// A run is one execution of a query. As in graphql-js everything happens in
// order, and an error that a required value cannot absorb ends its object at
// once: what comes later in it is not read.
type run struct {
	ctx    context.Context
	engine *Engine
	query  *Query

	path   []step
	errors []Error
	values int
	stop   *Error // the run was ended

	schemas []bundle.Schema // in the order of their first touch
	touches map[bundle.Schema]where
	last    *bundle.Object // the last object whose schema was noted

	seen *observation // what was read; nil unless asked for
}

func newRun(ctx context.Context, e *Engine, q *Query) *run {
	return &run{ctx: ctx, engine: e, query: q, touches: map[bundle.Schema]where{}}
}

// touched returns the schemas that were touched at some of the places.
func (r *run) touched(at where) []bundle.Schema {
	list := make([]bundle.Schema, 0, len(r.schemas))
	for _, s := range r.schemas {
		if r.touches[s]&at != 0 {
			list = append(list, s)
		}
	}
	return list
}

// touch notes the schema of an object of which a field is read.
func (r *run) touch(o *bundle.Object, resource bool) {
	if r.last == o {
		return
	}
	r.last = o
	schema, at := bundle.Schema(o.String("$schema")), datafiles
	if resource {
		at = resources
	}
	if r.seen != nil && (resource || schema != "") {
		r.seen.files[o.String("path")] |= at
	}
	if schema == "" {
		return
	}
	if r.touches[schema] == 0 {
		r.schemas = append(r.schemas, schema)
	}
	r.touches[schema] |= at
}

// count counts a value, and ends the run when there are too many or nobody
// waits for the answer any more.
func (r *run) count() *Error {
	r.values++
	switch {
	case r.values > maxValues:
		r.stop = failure("The answer has more than %d values.", maxValues)
	case r.values&1023 == 1 && r.ctx.Err() != nil:
		return r.ended()
	}
	return r.stop
}

// ended ends the run because its context did.
func (r *run) ended() *Error {
	r.stop = failure("The query was stopped: %v.", r.ctx.Err())
	return r.stop
}

func failure(format string, args ...any) *Error {
	return &Error{Message: fmt.Sprintf(format, args...), Code: CodeInternal}
}

// object reads the fields of a plan from a value.
func (r *run) object(p *plan, from source) (any, *Error) {
	if p.fault != nil {
		return nil, p.fault.clone()
	}
	members := make([]bundle.Member, 0, len(p.picks))
	for _, pick := range p.picks {
		v, err := r.field(pick, from)
		if err != nil {
			return nil, err
		}
		members = append(members, bundle.Member{Key: pick.key, Value: v})
	}
	return bundle.ObjectOf(members), nil
}

// field reads one field. An error makes the field null when it may be null.
func (r *run) field(p *pick, from source) (any, *Error) {
	r.path = append(r.path, step{key: p.key})
	v, err := r.resolve(p, from)
	var out any
	if err == nil {
		out, err = r.complete(p, v)
	}
	if err != nil {
		err = r.locate(err, p)
	}
	r.path = r.path[:len(r.path)-1]
	if err == nil || p.def.required || r.stop != nil {
		return out, err
	}
	r.errors = append(r.errors, *err)
	return nil, nil
}

// locate adds to an error where it happened, unless it knows.
func (r *run) locate(err *Error, p *pick) *Error {
	if err.Path != nil || r.stop != nil {
		return err
	}
	if err.Locations == nil {
		err.Locations = r.query.locations(p)
	}
	err.Path = make([]any, len(r.path))
	r.values += len(err.Path) + len(err.Locations)
	for i, s := range r.path {
		if err.Path[i] = s.key; s.key == "" {
			err.Path[i] = s.index
		}
	}
	return err
}

func (e *Error) clone() *Error {
	c := *e
	return &c
}

// complete turns the value of a field into what the answer has for it.
func (r *run) complete(p *pick, v source) (any, *Error) {
	if v.value == nil {
		if p.def.required {
			return nil, p.isNull()
		}
		return nil, nil
	}
	if p.def.list {
		return r.list(p, v)
	}
	return r.one(p, v)
}

func (p *pick) isNull() *Error {
	return failure("Cannot return null for non-nullable field %s.%s.", p.parent.name, p.def.name)
}

// list completes the items of a list. An object without any key is left out of
// the answer, as qontract-server does.
func (r *run) list(p *pick, v source) (any, *Error) {
	var items []any
	var files fileList
	n := 0
	switch list := v.value.(type) {
	case []any:
		items, n = list, len(list)
	case fileList:
		files, n = list, len(list)
	default:
		return nil, failure("Expected Iterable, but did not find one for field \"%s.%s\".", p.parent.name, p.def.name)
	}
	out := make([]any, 0, n)
	for i := range n {
		item := source{resource: v.resource}
		switch {
		case files == nil:
			item.value = items[i]
		case files[i] != nil:
			item.value = files[i].Object()
		}
		v, err := r.item(p, i, item)
		if err != nil {
			return nil, err
		}
		if o, ok := v.(*bundle.Object); ok && o.Len() == 0 {
			continue
		}
		out = append(out, v)
	}
	return out, nil
}

// item completes an item of a list. Items are never null.
func (r *run) item(p *pick, i int, v source) (any, *Error) {
	r.path = append(r.path, step{index: i})
	out, err := any(nil), (*Error)(nil)
	if v.value == nil {
		err = p.isNull()
	} else {
		out, err = r.one(p, v)
	}
	if err != nil {
		err = r.locate(err, p)
	}
	r.path = r.path[:len(r.path)-1]
	return out, err
}

// one completes a value that is neither null nor a list of the answer.
func (r *run) one(p *pick, v source) (any, *Error) {
	if err := r.count(); err != nil {
		return nil, err
	}
	t := p.def.typ
	switch t.kind {
	case kindScalar:
		out, err := serialize(t.scalar, v.value)
		if err != nil {
			return nil, failure("%s", err.Error())
		}
		return out, nil
	case kindEnum:
		return v.value, nil
	case kindInterface:
		object, err := r.query.schema.objectType(t, v.value, p)
		if err != nil {
			return nil, err
		}
		t = object
	}
	return r.object(r.query.below(p, t), v)
}
