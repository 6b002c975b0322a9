package gql

import (
	"context"
	"fmt"

	"github.com/app-sre/prcheck/bundle"
)

// maxValues bounds the values of an answer, so that a query cannot use up the
// memory. The largest answers that integrations ask for have some millions.
const maxValues = 50_000_000

// A step is one element of the path to where execution is: a response key, or
// the index of an item when the key is "".
type pathStep struct {
	key   string
	index int
}

// Where a schema was touched.
type fileKind uint8

const (
	datafileKind fileKind = 1 << iota
	resourceKind

	anyKind = datafileKind | resourceKind
)

// A run is one execution of a query. As in graphql-js everything happens in
// order, and an error that a required value cannot absorb ends its object at
// once: what comes later in it is not read.
type run struct {
	ctx    context.Context
	engine *Engine
	query  *Query

	path   []pathStep
	errors []Error
	values int
	stop   *Error // the run was ended

	schemas     []bundle.Schema // in the order of their first touch
	schemaKinds map[bundle.Schema]fileKind
	lastNoted   *bundle.Object // the last object whose schema was noted

	observed *observation // what was read; nil unless asked for
}

func newRun(ctx context.Context, e *Engine, q *Query) *run {
	return &run{ctx: ctx, engine: e, query: q, schemaKinds: map[bundle.Schema]fileKind{}}
}

// touched returns the schemas that were touched at some of the places.
func (r *run) schemasOf(at fileKind) []bundle.Schema {
	list := make([]bundle.Schema, 0, len(r.schemas))
	for _, s := range r.schemas {
		if r.schemaKinds[s]&at != 0 {
			list = append(list, s)
		}
	}
	return list
}

// touch notes the schema of an object of which a field is read.
func (r *run) noteSchema(o *bundle.Object, resource bool) {
	if r.lastNoted == o {
		return
	}
	r.lastNoted = o
	schema, at := bundle.Schema(o.String("$schema")), datafileKind
	if resource {
		at = resourceKind
	}
	if r.observed != nil && (resource || schema != "") {
		r.observed.fileKinds[o.String("path")] |= at
	}
	if schema == "" {
		return
	}
	if r.schemaKinds[schema] == 0 {
		r.schemas = append(r.schemas, schema)
	}
	r.schemaKinds[schema] |= at
}

// count counts a value, and ends the run when there are too many or nobody
// waits for the answer any more.
func (r *run) countValue() *Error {
	r.values++
	switch {
	case r.values > maxValues:
		r.stop = internalError("The answer has more than %d values.", maxValues)
	case r.values&1023 == 1 && r.ctx.Err() != nil:
		return r.stopByContext()
	}
	return r.stop
}

// ended ends the run because its context did.
func (r *run) stopByContext() *Error {
	r.stop = internalError("The query was stopped: %v.", r.ctx.Err())
	return r.stop
}

func internalError(format string, args ...any) *Error {
	return &Error{Message: fmt.Sprintf(format, args...), Code: CodeInternal}
}

// object reads the fields of a plan from a value.
func (r *run) readFields(fields *collectedFields, from dataValue) (any, *Error) {
	if fields.fault != nil {
		return nil, fields.fault.clone()
	}
	members := make([]bundle.Member, 0, len(fields.list))
	for _, field := range fields.list {
		v, err := r.readField(field, from)
		if err != nil {
			return nil, err
		}
		members = append(members, bundle.Member{Key: field.key, Value: v})
	}
	return bundle.ObjectOf(members), nil
}

// field reads one field. An error makes the field null when it may be null.
func (r *run) readField(field *selectedField, from dataValue) (any, *Error) {
	r.path = append(r.path, pathStep{key: field.key})
	v, err := r.resolveField(field, from)
	var out any
	if err == nil {
		out, err = r.completeValue(field, v)
	}
	if err != nil {
		err = r.addPlace(err, field)
	}
	r.path = r.path[:len(r.path)-1]
	if err == nil || field.def.required || r.stop != nil {
		return out, err
	}
	r.errors = append(r.errors, *err)
	return nil, nil
}

// locate adds to an error where it happened, unless it knows.
func (r *run) addPlace(err *Error, field *selectedField) *Error {
	if err.Path != nil || r.stop != nil {
		return err
	}
	if err.Locations == nil {
		err.Locations = r.query.locationsOf(field)
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
func (r *run) completeValue(field *selectedField, v dataValue) (any, *Error) {
	if v.value == nil {
		if field.def.required {
			return nil, field.nullError()
		}
		return nil, nil
	}
	if field.def.list {
		return r.completeList(field, v)
	}
	return r.completeSingle(field, v)
}

func (f *selectedField) nullError() *Error {
	return internalError("Cannot return null for non-nullable field %s.%s.", f.parent.name, f.def.name)
}

// list completes the items of a list. An object without any key is left out of
// the answer, as qontract-server does.
func (r *run) completeList(field *selectedField, v dataValue) (any, *Error) {
	var items []any
	var files fileList
	n := 0
	switch list := v.value.(type) {
	case []any:
		items, n = list, len(list)
	case fileList:
		files, n = list, len(list)
	default:
		return nil, internalError("Expected Iterable, but did not find one for field \"%s.%s\".", field.parent.name, field.def.name)
	}
	out := make([]any, 0, n)
	for i := range n {
		item := dataValue{fromResource: v.fromResource}
		switch {
		case files == nil:
			item.value = items[i]
		case files[i] != nil:
			item.value = files[i].Object()
		}
		v, err := r.completeItem(field, i, item)
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
func (r *run) completeItem(field *selectedField, i int, v dataValue) (any, *Error) {
	r.path = append(r.path, pathStep{index: i})
	out, err := any(nil), (*Error)(nil)
	if v.value == nil {
		err = field.nullError()
	} else {
		out, err = r.completeSingle(field, v)
	}
	if err != nil {
		err = r.addPlace(err, field)
	}
	r.path = r.path[:len(r.path)-1]
	return out, err
}

// one completes a value that is neither null nor a list of the answer.
func (r *run) completeSingle(field *selectedField, v dataValue) (any, *Error) {
	if err := r.countValue(); err != nil {
		return nil, err
	}
	t := field.def.typ
	switch t.kind {
	case kindScalar:
		out, err := serialize(t.scalar, v.value)
		if err != nil {
			return nil, internalError("%s", err.Error())
		}
		return out, nil
	case kindEnum:
		return v.value, nil
	case kindInterface:
		object, err := r.query.schema.objectType(t, v.value, field)
		if err != nil {
			return nil, err
		}
		t = object
	}
	return r.readFields(r.query.subfields(field, t), v)
}
