package live

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
)

// introspection asks for all that the types of a qontract-server can have.
const introspection = `{__schema{types{kind name interfaces{name}possibleTypes{name}fields{name args{name}` +
	`type{kind name ofType{kind name ofType{kind name ofType{kind name}}}}}}}}`

// resourceType is the type whose values are resources.
const resourceType = "Resource_v1"

// everything is the interface of all datafiles.
const everything = "DatafileObject_v1"

// types are the GraphQL types of one side as introspection shows them.
type types struct {
	list []*typ
	at   map[string]*typ
}

// A typ is an object type or an interface.
type typ struct {
	name       string
	kind       string
	fields     []field
	interfaces []string
	possible   []string
}

// A field is a field of a type.
type field struct {
	name           string
	typ, kind      string // of the innermost type
	list, required bool
	args           []string
}

// A fieldName names a field of a type.
type fieldName struct{ typ, field string }

func (t *typ) field(name string) (field, bool) {
	i := slices.IndexFunc(t.fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return field{}, false
	}
	return t.fields[i], true
}

// hasPath tells whether values of the type tell their path.
func (t *typ) hasPath() bool {
	f, ok := t.field("path")
	return ok && f.typ == "String" && !f.list
}

// query returns the fields of the root type.
func (t *types) query() []field {
	if q := t.at["Query"]; q != nil {
		return q.fields
	}
	return nil
}

// lists tells whether a root field lists datafiles: those alone have filters.
func (f field) lists() bool {
	return slices.Contains(f.args, "path") && slices.Contains(f.args, "filter")
}

// introspect asks for the types of both sides.
func (l *loader) introspect(ctx context.Context) error {
	return both(func(side int) error {
		data, err := l.data(ctx, side, introspection)
		if err != nil {
			return fmt.Errorf("introspection: %w", err)
		}
		schema, _ := data.Get("__schema")
		t := &types{at: map[string]*typ{}}
		for _, o := range objects(schema, "types") {
			if kind := o.String("kind"); kind != "OBJECT" && kind != "INTERFACE" || strings.HasPrefix(o.String("name"), "__") {
				continue
			}
			read := readType(o)
			t.list = append(t.list, read)
			t.at[read.name] = read
		}
		if len(t.query()) == 0 {
			return fmt.Errorf("bundle %s on %s has no GraphQL type Query", l.sha[side], l.client.server)
		}
		l.types[side] = t
		return nil
	})
}

// data answers a query of ours, which must give no error.
func (l *loader) data(ctx context.Context, side int, query string) (*bundle.Object, error) {
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

// objects returns the objects in a list of an object.
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

func names(o *bundle.Object, key string) []string {
	var out []string
	for _, item := range objects(o, key) {
		out = append(out, item.String("name"))
	}
	return out
}

func readType(o *bundle.Object) *typ {
	t := &typ{name: o.String("name"), kind: o.String("kind"), interfaces: names(o, "interfaces"), possible: names(o, "possibleTypes")}
	for _, item := range objects(o, "fields") {
		f := field{name: item.String("name"), args: names(item, "args")}
		at, _ := item.Get("type")
		for outer := true; ; outer = false {
			o, ok := at.(*bundle.Object)
			if !ok {
				break
			}
			switch f.kind, f.typ = o.String("kind"), o.String("name"); f.kind {
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
