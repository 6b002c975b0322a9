package live

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// introspection is a query for everything that the types of a qontract-server can have.
const introspection = `{__schema{types{kind name interfaces{name}possibleTypes{name}fields{name args{name}` +
	`type{kind name ofType{kind name ofType{kind name ofType{kind name}}}}}}}}`

// resourceType is the name of the type of resources.
const resourceType = "Resource_v1"

// datafileInterface is the name of the interface of all datafiles.
const datafileInterface = "DatafileObject_v1"

// A typeSet holds the GraphQL types of one side, as introspection shows them.
type typeSet struct {
	list   []*graphqlType
	byName map[string]*graphqlType
}

// A graphqlType is an object type or an interface.
type graphqlType struct {
	name          string
	kind          string
	fields        []field
	interfaces    []string
	possibleTypes []string
}

// A field is a field of a type.
type field struct {
	name           string
	typeName, kind string // name and kind of the innermost type
	list, required bool
	args           []string
}

// A fieldName is the name of a field with the name of its type.
type fieldName struct{ typeName, field string }

// field returns the field with a name.
func (t *graphqlType) field(name string) (field, bool) {
	i := slices.IndexFunc(t.fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return field{}, false
	}
	return t.fields[i], true
}

// hasPath reports whether values of the type have a path.
func (t *graphqlType) hasPath() bool {
	f, ok := t.field("path")
	return ok && f.typeName == "String" && !f.list
}

// rootFields returns the fields of the type Query.
func (t *typeSet) rootFields() []field {
	if q := t.byName["Query"]; q != nil {
		return q.fields
	}
	return nil
}

// listsDatafiles reports whether a root field lists datafiles. Only such fields have the
// arguments path and filter.
func (f field) listsDatafiles() bool {
	return slices.Contains(f.args, "path") && slices.Contains(f.args, "filter")
}

// introspect reads the types of both sides.
func (l *loader) introspect(ctx context.Context) error {
	return forBothSides(func(side int) error {
		data, err := l.queryData(ctx, side, introspection)
		if err != nil {
			return fmt.Errorf("introspection: %w", err)
		}
		schema, _ := data.Get("__schema")
		t := &typeSet{byName: map[string]*graphqlType{}}
		for _, o := range objects(schema, "types") {
			if kind := o.String("kind"); kind != "OBJECT" && kind != "INTERFACE" || strings.HasPrefix(o.String("name"), "__") {
				continue
			}
			read := readType(o)
			t.list = append(t.list, read)
			t.byName[read.name] = read
		}
		if len(t.rootFields()) == 0 {
			return fmt.Errorf("bundle %s on %s has no GraphQL type Query", l.sha[side], l.client.server)
		}
		l.types[side] = t
		return nil
	})
}

// queryData returns the data of the answer to a query. An answer with GraphQL errors is an
// error.
func (l *loader) queryData(ctx context.Context, side int, query string) (*bundle.Object, error) {
	res, err := l.sides[side].ask(ctx, gql.Request{Query: query})
	if err != nil {
		return nil, err
	}
	if len(res.Errors) > 0 {
		return nil, fmt.Errorf("%s answers with an error: %.200q", l.client.server, res.Errors[0].Message)
	}
	data, ok := res.Data.(*bundle.Object)
	if !ok {
		return nil, fmt.Errorf("%s answers without data", l.client.server)
	}
	return data, nil
}

// objects returns the objects in the list that an object has under a key.
func objects(v any, key string) []*bundle.Object {
	o, ok := v.(*bundle.Object)
	if !ok {
		return nil
	}
	v, _ = o.Get(key)
	list, _ := v.([]any)
	var out []*bundle.Object
	for _, item := range list {
		if o, ok := item.(*bundle.Object); ok {
			out = append(out, o)
		}
	}
	return out
}

// objectNames returns the names of the objects in the list that an object has under a key.
func objectNames(o *bundle.Object, key string) []string {
	var out []string
	for _, item := range objects(o, key) {
		out = append(out, item.String("name"))
	}
	return out
}

// readType reads a type from the answer to an introspection.
func readType(o *bundle.Object) *graphqlType {
	t := &graphqlType{name: o.String("name"), kind: o.String("kind"), interfaces: objectNames(o, "interfaces"),
		possibleTypes: objectNames(o, "possibleTypes")}
	for _, item := range objects(o, "fields") {
		f := field{name: item.String("name"), args: objectNames(item, "args")}
		at, _ := item.Get("type")
		for outer := true; ; outer = false {
			o, ok := at.(*bundle.Object)
			if !ok {
				break
			}
			switch f.kind, f.typeName = o.String("kind"), o.String("name"); f.kind {
			case "NON_NULL":
				f.required = f.required || outer
			case "LIST":
				f.list = true
			}
			at, _ = o.Get("ofType")
		}
		t.fields = append(t.fields, f)
	}
	return t
}
