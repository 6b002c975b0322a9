package gql

import (
	"context"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// maxValues limits the number of values in an answer, so that a query cannot use up the
// memory. The largest answers that integrations ask for have some millions.
const maxValues = 50_000_000

// A pathStep is one element of the path from the root of the answer to the value that is
// being completed: a response key, or the index of a list item if the key is "".
type pathStep struct {
	key   string
	index int
}

// A fileKind is a set of kinds of files.
type fileKind uint8

const (
	datafileKind fileKind = 1 << iota
	resourceKind

	anyKind = datafileKind | resourceKind
)

// A run is one execution of a query. As in graphql-js, fields are executed in order. An
// error in a required value makes the object around it null at once: later fields of this
// object are not read.
type run struct {
	ctx    context.Context
	engine *Engine
	query  *Query

	path   []pathStep
	errors []Error
	values int
	stop   *Error // why the whole run was stopped, or nil

	schemas     []bundle.SchemaPath            // schemas of the objects that were read, in the order of reading
	schemaKinds map[bundle.SchemaPath]fileKind // kinds of files in which each schema was read
	lastNoted   *bundle.Object                 // object of the last call of noteSchema

	observed *observation // files and fields that were read; nil unless Observe asks for them
}

func newRun(ctx context.Context, e *Engine, q *Query) *run {
	return &run{ctx: ctx, engine: e, query: q, schemaKinds: map[bundle.SchemaPath]fileKind{}}
}

// A dataReader reads the data of a bundle for a run. It records what it reads in observed,
// unless observed is nil.
type dataReader struct {
	engine   *Engine
	observed *observation
}

// data returns the dataReader of the run.
func (r *run) data() dataReader { return dataReader{r.engine, r.observed} }

// schemasOf returns the schemas of objects that were read in files of these kinds.
func (r *run) schemasOf(kinds fileKind) []bundle.SchemaPath {
	list := make([]bundle.SchemaPath, 0, len(r.schemas))
	for _, s := range r.schemas {
		if r.schemaKinds[s]&kinds != 0 {
			list = append(list, s)
		}
	}
	return list
}

// noteSchema records the schema of an object of which a field is read.
func (r *run) noteSchema(o *bundle.Object, resource bool) {
	if r.lastNoted == o {
		return
	}
	r.lastNoted = o
	schema, kind := bundle.SchemaPath(o.String("$schema")), datafileKind
	if resource {
		kind = resourceKind
	}
	if r.observed != nil && (resource || schema != "") {
		r.observed.fileKinds[o.String("path")] |= kind
	}
	if schema == "" {
		return
	}
	if r.schemaKinds[schema] == 0 {
		r.schemas = append(r.schemas, schema)
	}
	r.schemaKinds[schema] |= kind
}

// countValue counts a value. It stops the run if there are too many values, or if the
// context has ended.
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

// stopByContext stops the run because its context has ended.
func (r *run) stopByContext() *Error {
	r.stop = internalError("The query was stopped: %v.", r.ctx.Err())
	return r.stop
}

// internalError returns an error with the code INTERNAL_SERVER_ERROR.
func internalError(format string, args ...any) *Error {
	return &Error{Message: fmt.Sprintf(format, args...), Code: CodeInternal}
}

// readFields returns the object of the answer for a value of the data.
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

// readField reads one field. After an error the field is null if it may be null.
func (r *run) readField(field *selectedField, from dataValue) (any, *Error) {
	r.path = append(r.path, pathStep{key: field.key})
	v, err := r.resolveField(field, from)
	var completed any
	if err == nil {
		completed, err = r.completeValue(field, v)
	}
	if err != nil {
		err = r.addPlace(err, field)
	}
	r.path = r.path[:len(r.path)-1]
	if err == nil || field.def.required || r.stop != nil {
		return completed, err
	}
	r.errors = append(r.errors, *err)
	return nil, nil
}

// addPlace adds the locations and the path to an error, unless it has a path already.
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

// clone copies an error, so that a place can be added to the copy.
func (e *Error) clone() *Error {
	c := *e
	return &c
}

// completeValue converts the value of a field to the value in the answer.
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

// completeList converts a list. Like qontract-server it leaves out objects without any key.
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
		return nil, internalError("Expected Iterable, but did not find one for field \"%s.%s\".", field.parent.name,
			field.def.name)
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

// completeItem converts an item of a list. An item must not be null.
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

// completeSingle converts a value that is neither null nor a list.
func (r *run) completeSingle(field *selectedField, v dataValue) (any, *Error) {
	if err := r.countValue(); err != nil {
		return nil, err
	}
	t := field.def.typ
	switch t.kind {
	case kindScalar:
		if at, isLost := r.lostNumber(t.scalar, v.value); isLost {
			return nil, r.lostError(field, at)
		}
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

// resolveField returns the value of a field in the data.
func (r *run) resolveField(field *selectedField, from dataValue) (dataValue, *Error) {
	if field.fault != nil {
		return dataValue{}, field.fault.clone()
	}
	if _, ok := from.value.(undefined); ok && field.def.resolver != resolveTypename &&
		field.def.resolver != resolveIntrospection {
		if key := field.def.firstKeyRead(); key != "" {
			return dataValue{}, internalError("Cannot read properties of undefined (reading '%s')", key)
		}
	}
	switch field.def.resolver {
	case resolveTypename:
		return dataValue{value: field.parent.name}, nil
	case resolveIntrospection:
		return dataValue{value: r.query.schema.introspect(field, from.value)}, nil
	case resolveDatafiles:
		return r.selectDatafiles(field)
	case resolveResources:
		path, schema := field.stringArgument("path"), field.stringArgument("schema")
		r.observed.noteResources(path)
		return dataValue{r.engine.selectResources(path, schema), true}, nil
	case resolveSynthetic:
		path, _ := property(from.value, "path")
		s, ok := path.(string)
		if !ok {
			return dataValue{value: fileList{}}, nil
		}
		return dataValue{value: r.engine.filesReferringTo(field.def.schema, field.def.subAttr, s)}, nil
	case resolveResource:
		path, _ := property(from.value, field.def.name)
		if s, ok := path.(string); ok {
			if f, ok := r.engine.bundle.Resource(bundle.Path(s)); ok {
				return dataValue{f.Object(), true}, nil
			}
		}
		return dataValue{}, nil
	}
	return r.resolveProperty(field, from)
}

// firstKeyRead returns the first key of the parent that the resolver of qontract-server
// reads, or "". It is part of the error message if there is no parent.
func (f *fieldDef) firstKeyRead() string {
	switch f.resolver {
	case resolveDefault:
		return "$schema"
	case resolveSynthetic:
		return "path"
	case resolveResource:
		return f.name
	}
	return ""
}

// resolveProperty reads the value of a field from the data of its parent.
func (r *run) resolveProperty(field *selectedField, from dataValue) (dataValue, *Error) {
	o, ok := from.value.(*bundle.Object)
	if !ok {
		return dataValue{}, nil
	}
	r.noteSchema(o, from.fromResource)
	if r.observed != nil {
		r.observed.noteField(o, field.def.name)
	}
	if field.def.name == "schema" {
		v, _ := o.Get("$schema")
		return dataValue{v, from.fromResource}, nil
	}
	v, ok := o.Get(field.def.name)
	if !ok {
		return dataValue{}, nil
	}
	out, isNull := r.data().followReference(dataValue{v, from.fromResource})
	if isNull {
		return dataValue{}, internalError("Cannot read properties of null (reading 'constructor')")
	}
	return out, nil
}

// followReference replaces a reference by its target. It replaces the items of a list by
// their targets if all of them are references. isNull reports whether the value or an item
// of it is an explicit null, which is an error in qontract-server.
func (d dataReader) followReference(v dataValue) (out dataValue, isNull bool) {
	switch value := v.value.(type) {
	case nil:
		return dataValue{}, true
	case *bundle.Object:
		if target, ok := referenceTarget(value); ok {
			return dataValue{value: d.targetObject(target)}, false
		}
	case []any:
		if slices.Contains(value, nil) {
			return dataValue{}, true
		}
		if files, ok := d.referenceTargets(value); ok {
			return dataValue{value: files}, false
		}
	}
	return v, false
}

// datafileOf returns the datafile that a reference leads to, or nil.
func (d dataReader) datafileOf(target any) *bundle.File {
	s, _ := target.(string)
	f, _ := d.engine.bundle.Datafile(bundle.Path(s))
	d.observed.noteTarget(s, f)
	return f
}

// targetObject returns the decoded datafile that a reference leads to, or nil.
func (d dataReader) targetObject(target any) any {
	if f := d.datafileOf(target); f != nil {
		return f.Object()
	}
	return nil
}

// referenceTargets returns the targets of a list. It is not ok if the list is empty or has
// an item that is not a reference.
func (d dataReader) referenceTargets(list []any) (fileList, bool) {
	if len(list) == 0 {
		return nil, false
	}
	for _, item := range list {
		if _, ok := referenceTarget(item); !ok {
			return nil, false
		}
	}
	files := make(fileList, len(list))
	for i, item := range list {
		target, _ := referenceTarget(item)
		files[i] = d.datafileOf(target)
	}
	return files, true
}

// selectResources returns the resource with a path, or else all resources of a schema, or
// else all resources.
func (e *Engine) selectResources(path, schema string) fileList {
	if path != "" {
		f, _ := e.bundle.Resource(bundle.Path(path))
		return fileList{f}
	}
	all := e.bundle.Resources()
	list := make(fileList, 0, len(all))
	for _, f := range all {
		if schema == "" || string(f.Schema) == schema {
			list = append(list, f)
		}
	}
	return list
}

// A dataValue is a value of the bundle during execution.
type dataValue struct {
	value        any
	fromResource bool // the value is a resource or a part of one
}

// A fileList is a list of datafiles or resources. A file that does not exist is nil.
type fileList []*bundle.File

// objects returns the decoded files.
func (l fileList) objects() []any {
	list := make([]any, len(l))
	for i, f := range l {
		if f != nil {
			list[i] = f.Object()
		}
	}
	return list
}

// property returns the value of a key. Values that are not objects have no keys.
func property(v any, key string) (any, bool) {
	if o, ok := v.(*bundle.Object); ok {
		return o.Get(key)
	}
	return nil, false
}

// referenceTarget returns the target of a reference, which is an object whose only key is
// $ref.
func referenceTarget(v any) (any, bool) {
	o, ok := v.(*bundle.Object)
	if !ok || o.Len() != 1 {
		return nil, false
	}
	return o.Get("$ref")
}
