package gql

import (
	"errors"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/bundle"
)

// manyFields is the number of fields from which a type is looked up through a
// map.
const indexFrom = 16

// NewSchema makes a schema from the graphql section of a bundle: an object with
// "confs" or, in the old form, a list. It fails where qontract-server would not
// serve the bundle; the error names the type and the field.
func NewSchema(graphql any) (*Schema, error) {
	b := &builder{searchable: map[*typeDef][]string{}}
	b.schema = &Schema{types: map[string]*typeDef{}, bySchema: map[bundle.Schema]*typeDef{}}
	confs, err := b.confs(graphql)
	if err != nil {
		return nil, err
	}
	b.schema.addBuiltins()
	for i, conf := range confs {
		if err := b.declareType(conf); err != nil {
			return nil, fmt.Errorf("graphql type %s: %w", typeLabel(conf, i), err)
		}
	}
	for i, t := range b.declared {
		if err := b.defineFields(t, confs[i]); err != nil {
			return nil, fmt.Errorf("graphql type %q: %w", t.name, err)
		}
	}
	for i, t := range b.declared {
		b.addInterfaces(t, confs[i])
	}
	if b.schema.query = b.schema.types["Query"]; b.schema.query == nil || b.schema.query.kind != kindObject {
		return nil, errors.New(`graphql: there is no object type "Query"`)
	}
	for _, t := range b.declared {
		if err := t.checkInterfaces(); err != nil {
			return nil, fmt.Errorf("graphql type %q: %w", t.name, err)
		}
	}
	b.finish()
	return b.schema, nil
}

// A builder makes a schema.
type builder struct {
	schema   *Schema
	declared []*typeDef // as the bundle has them

	searchable map[*typeDef][]string // the fields that are arguments too
}

func typeLabel(conf *bundle.Object, i int) string {
	if name := conf.String("name"); name != "" {
		return fmt.Sprintf("%q", name)
	}
	return fmt.Sprintf("%d", i)
}

// confs returns the descriptions of the types.
func (b *builder) confs(graphql any) ([]*bundle.Object, error) {
	list, ok := graphql.([]any)
	b.schema.isBareList = ok
	if o, isObject := graphql.(*bundle.Object); isObject {
		v, _ := o.Get("confs")
		list, ok = v.([]any)
	}
	if !ok {
		return nil, errors.New(`graphql: neither a list of types nor an object with a list "confs"`)
	}
	confs := make([]*bundle.Object, len(list))
	for i, v := range list {
		if confs[i], ok = v.(*bundle.Object); !ok {
			return nil, fmt.Errorf("graphql type %d: not an object", i)
		}
	}
	return confs, nil
}

// checkName refuses what GraphQL does not allow as a name of ours: two leading
// underscores are for introspection.
func checkName(name string) error {
	plain := name != "" && !isDigit(name[0]) && !strings.HasPrefix(name, "__")
	for i := range len(name) {
		plain = plain && (isNameStart(name[i]) || isDigit(name[i]))
	}
	if !plain {
		return fmt.Errorf("%q is not a name that GraphQL allows", name)
	}
	return nil
}

// declare notes a type, its name and what it is bound to.
func (b *builder) declareType(conf *bundle.Object) error {
	t := &typeDef{name: conf.String("name"), kind: kindObject, datafileSchema: bundle.Schema(conf.String("datafile"))}
	if err := checkName(t.name); err != nil {
		return err
	}
	switch t.name {
	case "String", "Int", "Float", "Boolean", "JSON":
		return errors.New("the name is that of a scalar")
	}
	if b.schema.types[t.name] != nil {
		return errors.New("the name is used twice")
	}
	if isTruthyKey(conf, "isInterface") {
		t.kind = kindInterface
		if err := t.readTypeResolver(conf); err != nil {
			return err
		}
	}
	if t.datafileSchema != "" {
		b.schema.bySchema[t.datafileSchema] = t
	}
	b.schema.types[t.name] = t
	b.declared = append(b.declared, t)
	return nil
}

// resolve reads how the object type of an interface's value is found.
func (t *typeDef) readTypeResolver(conf *bundle.Object) error {
	v, _ := conf.Get("interfaceResolve")
	how, ok := v.(*bundle.Object)
	if !ok {
		return errors.New("an interface needs interfaceResolve")
	}
	switch strategy := how.String("strategy"); strategy {
	case "schema":
		t.resolver = &typeResolver{bySchema: true}
		return nil
	case "fieldMap":
		t.resolver = &typeResolver{field: how.String("field"), types: map[string]string{}}
	default:
		return fmt.Errorf("interfaceResolve: there is no strategy %q", strategy)
	}
	v, _ = how.Get("fieldMap")
	fieldMap, ok := v.(*bundle.Object)
	if !ok || t.resolver.field == "" {
		return errors.New("interfaceResolve: the strategy fieldMap needs field and fieldMap")
	}
	for _, m := range jsMembers(fieldMap) {
		if name, ok := m.Value.(string); ok {
			t.resolver.types[m.Key] = name
			t.resolver.typeNames = append(t.resolver.typeNames, name)
		}
	}
	return nil
}

// inherit notes which interfaces a type implements: its own, and the one of all
// datafiles when the type or its interface is bound to a schema.
func (b *builder) addInterfaces(t *typeDef, conf *bundle.Object) {
	bound := t.datafileSchema != ""
	if i := b.schema.types[conf.String("interface")]; i != nil && i.kind == kindInterface && i != t {
		t.interfaces = append(t.interfaces, i)
		bound = bound || i.datafileSchema != ""
	}
	all := b.schema.types["DatafileObject_v1"]
	if bound && all != nil && all.kind == kindInterface && !t.isSubtypeOf(all) {
		t.interfaces = append(t.interfaces, all)
	}
}

// conforms checks that a type has what its interfaces promise.
func (t *typeDef) checkInterfaces() error {
	for _, i := range t.interfaces {
		for _, up := range i.interfaces {
			if !t.isSubtypeOf(up) {
				return fmt.Errorf("it must implement %q, because %q does", up.name, i.name)
			}
		}
		for _, want := range i.fields {
			f := t.field(want.name)
			if f == nil {
				return fmt.Errorf("field %q of interface %q is missing", want.name, i.name)
			}
			if !f.isCompatibleWith(want) {
				return fmt.Errorf("field %q is %s, but interface %q has %s", f.name, f.typeString(), i.name, want.typeString())
			}
			for _, a := range want.args {
				if own := findArgument(f.args, a.name); own == nil || own.typ != a.typ {
					return fmt.Errorf("field %q lacks argument %q of interface %q", f.name, a.name, i.name)
				}
			}
		}
	}
	return nil
}

// fits tells whether every value of a field is one of the other field too.
func (f *fieldDef) isCompatibleWith(other *fieldDef) bool {
	return f.list == other.list && (f.required || !other.required) && f.typ.isSubtypeOf(other.typ)
}

// truthy tells whether a key has a value that JavaScript takes for true.
func isTruthyKey(o *bundle.Object, key string) bool {
	v, _ := o.Get(key)
	return IsTruthy(v)
}

// Truthy tells whether JavaScript takes a JSON value for true.
func IsTruthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case bundle.Number:
		return jsNumber(v) != 0
	}
	return true
}
