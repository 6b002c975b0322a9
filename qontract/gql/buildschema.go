package gql

import (
	"errors"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// indexFrom is the number of fields from which fields are found through a map.
const indexFrom = 16

// NewSchema makes a schema from the graphql section of a bundle, which is an object with
// "confs" or, in the old form, a list of types. It returns an error where qontract-server
// would not serve the bundle. The error names the type and the field.
func NewSchema(graphql any) (*Schema, error) {
	b := &builder{searchable: map[*typeDef][]string{}}
	b.schema = &Schema{types: map[string]*typeDef{}, bySchema: map[bundle.SchemaPath]*typeDef{}}
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

// A builder makes a schema. A "conf" is the description of one type in the bundle.
type builder struct {
	schema   *Schema
	declared []*typeDef // in the order of the bundle

	searchable map[*typeDef][]string // fields that are also arguments of the root field
}

// typeLabel names a type for an error message: by its name, or by its index if it has none.
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

// checkName returns an error if GraphQL does not allow the name for a type or a field of a
// bundle. Two leading underscores are reserved for introspection.
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

// declareType adds a type to the schema: its name, its kind and its schema, but not its
// fields.
func (b *builder) declareType(conf *bundle.Object) error {
	t := &typeDef{name: conf.String("name"), kind: kindObject, datafileSchema: bundle.SchemaPath(conf.String("datafile"))}
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
