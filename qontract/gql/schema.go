package gql

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// A Schema holds the GraphQL types of a bundle, made from its graphql section. It is
// immutable, so bundles with the same section can share one.
type Schema struct {
	query      *typeDef
	types      map[string]*typeDef
	typeList   []*typeDef                     // in the order of introspection
	bySchema   map[bundle.SchemaPath]*typeDef // type that a schema of datafiles is bound to
	directives []*directiveDef
	isBareList bool // the section is a list of types, not an object with "confs"

	builtins builtins
}

// A typeKind is the kind of a type.
type typeKind uint8

const (
	kindScalar typeKind = iota
	kindEnum
	kindObject
	kindInterface
)

// String returns the name of the kind in introspection.
func (k typeKind) String() string {
	return [...]string{"SCALAR", "ENUM", "OBJECT", "INTERFACE"}[k]
}

// A scalarKind identifies a scalar.
type scalarKind uint8

const (
	scalarString scalarKind = iota
	scalarInt
	scalarFloat
	scalarBoolean
	scalarJSON
)

// A typeDef is a GraphQL type.
type typeDef struct {
	name             string
	description      string // only builtin types have one
	kind             typeKind
	scalar           scalarKind
	enumValues       []string
	enumDescriptions []string // descriptions of enumValues
	fields           []*fieldDef
	fieldIndex       map[string]*fieldDef // fields by name; nil for a type with few fields
	interfaces       []*typeDef
	possibleTypes    []*typeDef // object types of an interface, in the order of introspection

	datafileSchema bundle.SchemaPath // schema that is bound to the type, or ""
	resolver       *typeResolver     // nil unless the type is an interface
}

// A typeResolver says how to find the object type of a value of an interface: by the schema
// that is bound to a type, or by the value of a key.
type typeResolver struct {
	bySchema  bool
	field     string            // key whose value names the type; "" if bySchema
	types     map[string]string // value of the key → name of the type
	typeNames []string          // names in types, in the order of the bundle
}

// A resolveKind says where the value of a field comes from.
type resolveKind uint8

const (
	resolveDefault   resolveKind = iota // a key of the parent's data
	resolveDatafiles                    // all datafiles of a schema
	resolveSynthetic                    // the datafiles that refer to the parent
	resolveResource                     // the resource whose path the parent has
	resolveResources                    // all resources
	resolveTypename
	resolveIntrospection // introspection
)

// A fieldDef is a field of a type.
type fieldDef struct {
	name        string
	description string // only builtin fields have one
	typ         *typeDef
	list        bool // a list of non-null items
	required    bool
	args        []*argDef

	resolver   resolveKind
	schema     bundle.SchemaPath // for resolveDatafiles and resolveSynthetic
	subAttr    string            // for resolveSynthetic: dotted path to the reference
	bundleType string            // name of the type in the bundle, such as "string"
	isList     bool              // isList in the bundle; differs from list for resolveResource
}

// typeString returns the type in GraphQL syntax.
func (f *fieldDef) typeString() string {
	s := f.typ.name
	if f.list {
		s = "[" + s + "!]"
	}
	if f.required {
		s += "!"
	}
	return s
}

// An argDef is an argument of a field or a directive. Its type is never a list.
type argDef struct {
	name         string
	description  string
	typ          *typeDef
	required     bool
	defaultValue any // the default value, or nil
}

func (a *argDef) typeString() string {
	if a.required {
		return a.typ.name + "!"
	}
	return a.typ.name
}

// A directiveDef is a directive that introspection lists. Validation accepts all of them,
// but only @skip and @include have an effect.
type directiveDef struct {
	name        string
	description string
	locations   []string
	args        []*argDef
}

// field returns the field with this name, or nil.
func (t *typeDef) field(name string) *fieldDef {
	if t.fieldIndex != nil {
		return t.fieldIndex[name]
	}
	for _, f := range t.fields {
		if f.name == name {
			return f
		}
	}
	return nil
}

// isLeaf reports whether the type is a scalar or an enum: its values have no fields.
func (t *typeDef) isLeaf() bool { return t.kind == kindScalar || t.kind == kindEnum }

// isSubtypeOf reports whether the type is the other type or implements it.
func (t *typeDef) isSubtypeOf(other *typeDef) bool {
	if t == other {
		return true
	}
	for _, i := range t.interfaces {
		if i == other {
			return true
		}
	}
	return false
}

// objectTypes returns the object types that values of the type can have: the type itself,
// or all implementations of an interface.
func (t *typeDef) objectTypes() []*typeDef {
	if t.kind == kindInterface {
		return t.possibleTypes
	}
	return []*typeDef{t}
}

// fieldNamed returns the field of a type with this name, or nil. It includes the fields
// that GraphQL itself defines: __typename, and __schema and __type of the query type.
func (s *Schema) fieldNamed(t *typeDef, name string) *fieldDef {
	if name == "" || name[0] != '_' {
		return t.field(name)
	}
	switch {
	case name == "__typename":
		return s.builtins.typenameField
	case name == "__schema" && t == s.query:
		return s.builtins.schemaField
	case name == "__type" && t == s.query:
		return s.builtins.typeField
	}
	return t.field(name)
}

// findArgument returns the argument with this name, or nil.
func findArgument(list []*argDef, name string) *argDef {
	for _, a := range list {
		if a.name == name {
			return a
		}
	}
	return nil
}

// readTypeResolver reads how the object type of a value of this interface is found.
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

// addInterfaces adds the interfaces that a type implements: the one it names, and
// DatafileObject_v1 if the type or its interface is bound to a schema.
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

// checkInterfaces checks that a type has all fields and arguments of its interfaces, with
// types that fit.
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

// isCompatibleWith reports whether every value of the field is also a value of the other
// field.
func (f *fieldDef) isCompatibleWith(other *fieldDef) bool {
	return f.list == other.list && (f.required || !other.required) && f.typ.isSubtypeOf(other.typ)
}

// parseLiteral converts a literal to a value of a scalar or an enum. The error is that of
// graphql-js.
func (t *typeDef) parseLiteral(v *valueNode, variables map[string]any) (any, error) {
	if t.kind == kindEnum {
		return t.parseEnumLiteral(v)
	}
	switch t.scalar {
	case scalarJSON:
		return jsonLiteral(v, variables), nil
	case scalarBoolean:
		if v.kind == valueBoolean {
			return v.raw == "true", nil
		}
		return nil, fmt.Errorf("Boolean cannot represent a non boolean value: %s", v)
	case scalarInt:
		if v.kind != valueInt {
			return nil, fmt.Errorf("Int cannot represent non-integer value: %s", v)
		}
		if n, err := strconv.ParseInt(v.raw, 10, 32); err != nil || int64(int32(n)) != n {
			return nil, fmt.Errorf("Int cannot represent non 32-bit signed integer value: %s", v.raw)
		}
		return bundle.Number(v.raw), nil
	case scalarFloat:
		if v.kind != valueInt && v.kind != valueFloat {
			return nil, fmt.Errorf("Float cannot represent non numeric value: %s", v)
		}
		return bundle.Number(v.raw), nil
	}
	if v.kind != valueString && v.kind != valueBlockString {
		return nil, fmt.Errorf("String cannot represent a non string value: %s", v)
	}
	return v.raw, nil
}

// parseEnumLiteral converts a literal to a value of an enum.
func (t *typeDef) parseEnumLiteral(v *valueNode) (any, error) {
	if v.kind != valueEnum {
		word := v.String()
		return nil, fmt.Errorf("Enum %q cannot represent non-enum value: %s.%s", t.name, word, t.suggestEnumValue(word))
	}
	if !slices.Contains(t.enumValues, v.raw) {
		return nil, fmt.Errorf("Value %q does not exist in %q enum.%s", v.raw, t.name, t.suggestEnumValue(v.raw))
	}
	return v.raw, nil
}

// suggestEnumValue returns the "Did you mean" part of a message about a misspelt enum
// value.
func (t *typeDef) suggestEnumValue(word string) string {
	return didYouMean("the enum value ", (&nameSuggester{}).suggest(word, t.enumValues))
}

// jsonLiteral converts a literal to JSON. A variable without a value becomes undefined.
func jsonLiteral(v *valueNode, variables map[string]any) any {
	switch v.kind {
	case valueVariable:
		if value, ok := variables[v.raw]; ok {
			return value
		}
		return undefined{}
	case valueNull:
		return nil
	case valueInt, valueFloat:
		return bundle.Number(v.raw)
	case valueBoolean:
		return v.raw == "true"
	case valueList:
		list := make([]any, len(v.items))
		for i, item := range v.items {
			list[i] = jsonLiteral(item, variables)
		}
		return list
	case valueObject:
		o := &bundle.Object{}
		for _, f := range v.fields {
			o.Set(f.name, jsonLiteral(f.value, variables))
		}
		return o
	}
	return v.raw
}

// valueGiven returns the value of an argument among the arguments of the query, and whether
// it has one.
func (a *argDef) valueGiven(given []*argument, variables map[string]any) (any, bool, error) {
	i := slices.IndexFunc(given, func(g *argument) bool { return g.name == a.name })
	if i < 0 {
		if a.required && a.defaultValue == nil {
			return nil, false, fmt.Errorf("Argument %q of required type %q was not provided.", a.name, a.typeString())
		}
		return a.defaultValue, a.defaultValue != nil, nil
	}
	v := given[i].value
	if v.kind == valueVariable {
		value, ok := variables[v.raw]
		switch {
		case !ok && a.required && a.defaultValue == nil:
			return nil, false, fmt.Errorf("Argument %q of required type %q was provided the variable \"$%s\" which was not "+
				"provided a runtime value.",
				a.name, a.typeString(), v.raw)
		case !ok:
			return a.defaultValue, a.defaultValue != nil, nil
		case value == nil && a.required:
			return nil, false, a.nullError()
		}
		return value, true, nil
	}
	if v.kind == valueNull {
		if a.required {
			return nil, false, a.nullError()
		}
		return nil, true, nil
	}
	value, err := a.typ.parseLiteral(v, variables)
	if err != nil {
		return nil, false, fmt.Errorf("Argument %q has invalid value %s.", a.name, v)
	}
	return value, true, nil
}

func (a *argDef) nullError() error {
	return fmt.Errorf("Argument %q of non-null type %q must not be null.", a.name, a.typeString())
}

// parseValue checks that the value of a variable is a value of a scalar or an enum, and
// returns it.
func (t *typeDef) parseValue(v any) (any, error) {
	if t.kind == kindEnum {
		word, ok := v.(string)
		if !ok {
			word = inspect(v)
			return nil, fmt.Errorf("Enum %q cannot represent non-string value: %s.%s", t.name, word, t.suggestEnumValue(word))
		}
		if !slices.Contains(t.enumValues, word) {
			return nil, fmt.Errorf("Value \"%s\" does not exist in %q enum.%s", word, t.name, t.suggestEnumValue(word))
		}
		return v, nil
	}
	n, isNumber := v.(bundle.Number)
	switch t.scalar {
	case scalarJSON:
		return v, nil
	case scalarBoolean:
		if _, ok := v.(bool); !ok {
			return nil, errors.New("Boolean cannot represent a non boolean value: " + inspect(v))
		}
	case scalarInt:
		f := jsNumber(n)
		if !isNumber || math.IsInf(f, 0) || f != math.Trunc(f) {
			return nil, errors.New("Int cannot represent non-integer value: " + inspect(v))
		}
		if f > math.MaxInt32 || f < math.MinInt32 {
			return nil, errors.New("Int cannot represent non 32-bit signed integer value: " + inspect(v))
		}
	case scalarFloat:
		if !isNumber || math.IsInf(jsNumber(n), 0) {
			return nil, errors.New("Float cannot represent non numeric value: " + inspect(v))
		}
	default:
		if _, ok := v.(string); !ok {
			return nil, errors.New("String cannot represent a non string value: " + inspect(v))
		}
	}
	return v, nil
}
