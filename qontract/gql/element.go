package gql

import (
	"context"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// A RootKind says what the answer of a root field depends on.
type RootKind uint8

const (
	// RootOpaque means that elements and positions cannot describe what the field reads. Its
	// answers can only be compared as a whole.
	RootOpaque RootKind = iota
	// RootDatafiles is a list with one element for each datafile of a schema that passes the
	// arguments.
	RootDatafiles
	// RootResources is a list with one element for each resource that passes the arguments.
	RootResources
	// RootConstant depends only on the schema and the request.
	RootConstant
)

// String returns the word for the kind in messages.
func (k RootKind) String() string {
	switch k {
	case RootDatafiles:
		return "datafiles"
	case RootResources:
		return "resources"
	case RootConstant:
		return "constant"
	}
	return "opaque"
}

// A Root is a root field of a query.
type Root struct {
	Key    string // response key
	Field  string
	Kind   RootKind
	Schema bundle.SchemaPath // schema of the datafiles, or ""
	List   bool              // the field is a list

	selected *selectedField
}

// Resources reports whether the elements are resources.
func (r *Root) Resources() bool { return r.Kind == RootResources }

// An Element is the part of a root field's list that comes from one file.
type Element struct {
	Present bool // the list has an item for the file
	Value   any  // the item; nil after an error that makes the whole list null
	Errors  []Error
}

// Element evaluates a root field of kind RootDatafiles or RootResources for one file of the
// bundle. In the paths of its errors the index of the element is missing.
//
// The list in the answer consists of the values of all files that are present, in the order
// of the bundle, unless an error makes the list null. One such error shows in no element:
// the error for a resource that the arguments name by path and that does not exist.
func (e *Engine) Element(ctx context.Context, q *Query, root *Root, f *bundle.File) Element {
	field := root.selected
	r := newRun(ctx, e, q)
	r.path = append(r.path, pathStep{key: field.key})
	ok, err := e.matchesRoot(root, f)
	if err != nil {
		return Element{Errors: []Error{*r.addPlace(err, field)}}
	}
	if !ok {
		return Element{}
	}
	v, err := r.completeSingle(field, dataValue{f.Object(), root.Kind == RootResources})
	if err != nil {
		return Element{Present: true, Errors: append(r.errors, *r.addPlace(err, field))}
	}
	if o, ok := v.(*bundle.Object); ok && o.Len() == 0 {
		return Element{Errors: r.errors} // an item without any key is left out
	}
	return Element{Present: true, Value: v, Errors: r.errors}
}

// matchesRoot reports whether a file passes the arguments of a root field.
func (e *Engine) matchesRoot(root *Root, f *bundle.File) (bool, *Error) {
	field := root.selected
	switch {
	case field.fault != nil:
		return false, field.fault.clone()
	case root.Kind == RootDatafiles:
		if f.Schema != root.Schema {
			return false, nil
		}
		return dataReader{engine: e}.matchesArguments(field, f)
	case root.Kind == RootResources:
		if path := field.stringArgument("path"); path != "" {
			return string(f.Path) == path, nil
		}
		schema := field.stringArgument("schema")
		return schema == "" || string(f.Schema) == schema, nil
	}
	return false, internalError("%s is not a list of files.", field.key)
}
