package gql

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// serialize converts a value to a scalar of the answer, as the scalars of graphql-js do.
// Numbers are written as JavaScript prints them.
func serialize(kind scalarKind, v any) (any, error) {
	switch kind {
	case scalarInt:
		return serializeInt(v)
	case scalarFloat:
		return serializeFloat(v)
	case scalarBoolean:
		return serializeBoolean(v)
	case scalarJSON:
		return string(AppendJSON(nil, v)), nil
	}
	return serializeString(v)
}

func serializeString(given any) (any, error) {
	switch v := given.(type) {
	case string:
		return given, nil // returning v would allocate a new interface value
	case bool:
		return jsText(v), nil
	case bundle.Number:
		if f := jsNumber(v); !math.IsInf(f, 0) {
			return jsNumberText(v), nil
		}
	}
	return nil, errors.New("String cannot represent value: " + inspect(given))
}

func serializeInt(v any) (any, error) {
	if n, ok := v.(bundle.Number); ok && len(n) < 10 && isPlainInteger(string(n)) {
		return n, nil
	}
	f := jsToFloat(v)
	if math.IsNaN(f) || math.IsInf(f, 0) || f != math.Trunc(f) {
		return nil, errors.New("Int cannot represent non-integer value: " + inspect(v))
	}
	if f > math.MaxInt32 || f < math.MinInt32 {
		return nil, errors.New("Int cannot represent non 32-bit signed integer value: " + inspect(v))
	}
	return bundle.Number(jsFloatText(f)), nil
}

func serializeFloat(v any) (any, error) {
	f := jsToFloat(v)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, errors.New("Float cannot represent non numeric value: " + inspect(v))
	}
	return bundle.Number(jsFloatText(f)), nil
}

// jsToFloat converts a value to a number where Int and Float of graphql-js accept it, or
// else to NaN.
func jsToFloat(v any) float64 {
	switch v := v.(type) {
	case bool:
		if v {
			return 1
		}
		return 0
	case string:
		if v != "" {
			return jsToNumber(v)
		}
	case bundle.Number:
		return jsNumber(v)
	}
	return math.NaN()
}

func serializeBoolean(v any) (any, error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case bundle.Number:
		if f := jsNumber(v); !math.IsInf(f, 0) {
			return f != 0, nil
		}
	}
	return nil, errors.New("Boolean cannot represent a non boolean value: " + inspect(v))
}

// objectType returns the object type of a value of an interface.
func (s *Schema) objectType(t *typeDef, v any, field *selectedField) (*typeDef, *Error) {
	name, ok := s.typeName(t, v, 0)
	if !ok {
		return nil, internalError("Abstract type %q must resolve to an Object type at runtime for field \"%s.%s\". "+
			"Either the %q type should provide a \"resolveType\" function or each possible type should provide an "+
			"\"isTypeOf\" function.",
			t.name, field.parent.name, field.def.name, t.name)
	}
	found := s.types[name]
	switch {
	case found == nil:
		return nil, internalError("Abstract type %q was resolved to a type %q that does not exist inside the schema.", t.name,
			name)
	case found.kind != kindObject:
		return nil, internalError("Abstract type %q was resolved to a non-object type %q.", t.name, name)
	case !found.isSubtypeOf(t):
		return nil, internalError("Runtime Object type %q is not a possible type for %q.", name, t.name)
	}
	return found, nil
}

// maxInterfaces is the number of interfaces that may pass the question about a type on to
// another one.
const maxInterfaces = 10

// typeName returns the name of the type that an interface finds for a value. If the schema
// of the value is bound to another interface, that interface decides. asked counts the
// interfaces before this one.
func (s *Schema) typeName(t *typeDef, v any, asked int) (string, bool) {
	if !t.resolver.bySchema {
		value, ok := property(v, t.resolver.field)
		key := "undefined"
		if ok {
			key = jsText(value)
		}
		name, ok := t.resolver.types[key]
		return name, ok
	}
	schema, _ := property(v, "$schema")
	name, _ := schema.(string)
	bound := s.bySchema[bundle.SchemaPath(name)]
	switch {
	case bound == nil:
		return "", false
	case bound.kind != kindInterface:
		return bound.name, true
	case asked == maxInterfaces:
		return "", false
	}
	return s.typeName(bound, v, asked+1)
}

// An observation records the files and the fields that an answer was made from, and what
// else the answer depends on.
type observation struct {
	fileKinds map[string]fileKind
	fields    map[bundle.SchemaPath]map[string]bool

	targets        map[bundle.SchemaPath]bool // schemas of the datafiles that references led to
	missing        map[bundle.Path]bool       // targets of references that led nowhere
	resources      map[bundle.Path]bool       // resources that the query asks for by their path
	listsResources bool
}

func newObservation() *observation {
	return &observation{
		fileKinds: map[string]fileKind{}, fields: map[bundle.SchemaPath]map[string]bool{},
		targets: map[bundle.SchemaPath]bool{}, missing: map[bundle.Path]bool{}, resources: map[bundle.Path]bool{},
	}
}

// Observe executes a query like Execute, and also fills in the files and fields that were
// read.
func (e *Engine) Observe(ctx context.Context, q *Query) *Response {
	r := newRun(ctx, e, q)
	r.observed = newObservation()
	res := r.answer()
	res.Datafiles = r.observed.paths(datafileKind, e.bundle.Datafile)
	res.Resources = r.observed.paths(resourceKind, e.bundle.Resource)
	res.Fields = map[bundle.SchemaPath][]string{}
	for schema, fields := range r.observed.fields {
		res.Fields[schema] = slices.Sorted(maps.Keys(fields))
	}
	res.Dependence = r.observed.dependence(q)
	return res
}

// noteTarget records the datafile that a reference leads to; nil if it leads nowhere. Like
// noteResources it does nothing without an observation.
func (s *observation) noteTarget(path string, f *bundle.File) {
	switch {
	case s == nil:
	case f == nil:
		s.missing[bundle.Path(path)] = true
	default:
		s.targets[f.Schema] = true
	}
}

// noteResources records that the query asks for the resource with a path, or for a list of
// resources if the path is empty.
func (s *observation) noteResources(path string) {
	switch {
	case s == nil:
	case path == "":
		s.listsResources = true
	default:
		s.resources[bundle.Path(path)] = true
	}
}

// noteField records that a field of an object was read, if the object has a schema.
func (s *observation) noteField(o *bundle.Object, name string) {
	schema := bundle.SchemaPath(o.String("$schema"))
	if schema == "" {
		return
	}
	if s.fields[schema] == nil {
		s.fields[schema] = map[string]bool{}
	}
	s.fields[schema][name] = true
}

// paths returns the sorted paths of the files of some kinds from which fields were read. An
// object inside a file can have the key "path" too, so paths that are not in the bundle are
// left out.
func (s *observation) paths(kinds fileKind, find func(bundle.Path) (*bundle.File, bool)) []bundle.Path {
	out := []bundle.Path{}
	for path, seen := range s.fileKinds {
		if _, ok := find(bundle.Path(path)); ok && seen&kinds != 0 {
			out = append(out, bundle.Path(path))
		}
	}
	slices.Sort(out)
	return out
}

// A Dependence tells on what of a bundle an answer depends. The answer can depend on a
// datafile of which no field is read: on whether a reference leads to it, on whether it
// passes a filter, or on whether it is in a list. A query has the same answer on every bundle
// that has the same types, the same datafiles of these schemas and at these paths, and the
// same resources.
type Dependence struct {
	// Schemas are the schemas of datafiles, sorted: those that the query can reach as far as
	// its types tell, and those that it did reach.
	Schemas []bundle.SchemaPath
	// Missing are the sorted paths of datafiles that references lead to and that do not
	// exist.
	Missing []bundle.Path
	// Resources are the sorted paths of resources that the query asks for, whether they exist
	// or not. A resource that a field of a datafile leads to is not among them.
	Resources []bundle.Path
	// ListsResources tells that the query asks for a list of resources.
	ListsResources bool
	// Backrefs tells that the query reads which datafiles mention a resource.
	Backrefs bool
}

// dependence returns what the answer to the query depends on.
func (s *observation) dependence(q *Query) Dependence {
	static := q.analysis()
	schemas := append(slices.Collect(maps.Keys(s.targets)), static.depends...)
	slices.Sort(schemas)
	return Dependence{
		Schemas:        slices.DeleteFunc(slices.Compact(schemas), func(s bundle.SchemaPath) bool { return s == "" }),
		Missing:        slices.Sorted(maps.Keys(s.missing)),
		Resources:      slices.Sorted(maps.Keys(s.resources)),
		ListsResources: s.listsResources,
		Backrefs:       static.backrefs,
	}
}
