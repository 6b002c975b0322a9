package gql

import "github.com/app-sre/prcheck/qontract/bundle"

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
