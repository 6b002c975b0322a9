package gql

import (
	"context"
	"slices"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// maxSpreads is the number of fragment spreads that RestrictToFile enters. Queries with
// more of them are not rewritten.
const maxSpreads = 1000

// RestrictToFile rewrites a request so that it asks for one root field only, and there for
// one file only. root is one of [Query.Roots] of the same request. The answer to the new
// request then has what [Engine.Element] says about the file. The new request is nil if the
// arguments of the root field exclude the file. ok is false if the request cannot be
// parsed, or uses too many fragments.
func RestrictToFile(req Request, root *Root, f *bundle.File) (single *Request, ok bool) {
	doc, failed := parse(req.Query)
	if failed != nil {
		return nil, false
	}
	op, err := doc.selectOperation(req)
	if err != nil {
		return nil, false
	}
	r := fileRestriction{doc: doc, key: root.Key, path: f.Path}
	if given, isText := root.selected.args["path"].(string); isText && (given != "" || !root.Resources()) {
		if given != string(f.Path) {
			return nil, true
		}
		r.hasPath = true
	}
	if schema := root.selected.stringArgument("schema"); root.Resources() && !r.hasPath && schema != "" &&
		schema != string(f.Schema) {
		return nil, true
	}
	if !r.restrictSet(op.selectionSet) {
		return nil, false
	}
	r.removeUnusedVariables(op)
	req.Query = doc.print()
	return &req, true
}

// A fileRestriction rewrites the root fields of a query.
type fileRestriction struct {
	doc         *document
	key         string
	path        bundle.Path
	hasPath     bool // the query already asks for this path
	spreadCount int
}

// restrictSet rewrites the root fields in a selection set. It returns false if the set uses
// too many fragments.
func (r *fileRestriction) restrictSet(set *selectionSet) bool {
	for _, selection := range set.selections {
		ok := true
		switch n := selection.(type) {
		case *fieldNode:
			r.restrictField(n)
		case *inlineNode:
			ok = r.restrictSet(n.selectionSet)
		case *spreadNode:
			r.spreadCount++
			f := r.doc.fragmentNamed(n.name)
			ok = r.spreadCount <= maxSpreads && f != nil && r.restrictSet(f.selectionSet)
		}
		if !ok {
			return false
		}
	}
	return true
}

// fragmentNamed returns the first fragment with this name, or nil.
func (d *document) fragmentNamed(name string) *fragment {
	for _, f := range d.fragments {
		if f.name == name {
			return f
		}
	}
	return nil
}

// restrictField adds the argument path to the wanted root field, and "@skip(if: true)" to
// the others.
func (r *fileRestriction) restrictField(f *fieldNode) {
	if f.responseKey() != r.key {
		f.directives = []*directive{{name: "skip",
			arguments: []*argument{{name: "if", value: &valueNode{kind: valueBoolean, raw: "true"}}}}}
		return
	}
	if r.hasPath {
		return
	}
	f.arguments = slices.DeleteFunc(f.arguments, func(a *argument) bool { return a.name == "path" })
	f.arguments = append(f.arguments, &argument{name: "path", value: &valueNode{kind: valueString, raw: string(r.path)}})
}

// removeUnusedVariables removes the variables that the rewritten query does not use.
func (r *fileRestriction) removeUnusedVariables(op *operation) {
	used := map[string]bool{}
	collectDirectiveVariables(op.directives, used)
	op.selectionSet.collectVariables(used)
	for _, f := range r.doc.fragments {
		f.selectionSet.collectVariables(used)
	}
	op.variables = slices.DeleteFunc(op.variables, func(v *variableDefinition) bool { return !used[v.name] })
}

// collectVariables adds the names of the variables that a selection set uses.
func (s *selectionSet) collectVariables(used map[string]bool) {
	if s == nil {
		return
	}
	for _, selection := range s.selections {
		collectDirectiveVariables(selection.appliedDirectives(), used)
		switch n := selection.(type) {
		case *fieldNode:
			for _, a := range n.arguments {
				a.value.collectVariables(used)
			}
			n.selectionSet.collectVariables(used)
		case *inlineNode:
			n.selectionSet.collectVariables(used)
		}
	}
}

func collectDirectiveVariables(list []*directive, used map[string]bool) {
	for _, d := range list {
		for _, a := range d.arguments {
			a.value.collectVariables(used)
		}
	}
}

func (v *valueNode) collectVariables(used map[string]bool) {
	if v.kind == valueVariable {
		used[v.raw] = true
	}
	for _, item := range v.items {
		item.collectVariables(used)
	}
	for _, f := range v.fields {
		f.value.collectVariables(used)
	}
}

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
