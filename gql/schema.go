package gql

import "github.com/app-sre/prcheck/bundle"

// A Schema is what may be asked of a bundle: the GraphQL types that its
// graphql section describes. It does not change after it was made, so bundles
// with the same section can share one.
type Schema struct {
	query      *typeDef
	types      map[string]*typeDef
	typeList   []*typeDef // as introspection lists them
	bySchema   map[bundle.Schema]*typeDef
	directives []*directiveDef
	isBareList bool // the section is a list, without "confs"

	builtins builtins
}

// A typeKind says what a type is.
type typeKind uint8

const (
	kindScalar typeKind = iota
	kindEnum
	kindObject
	kindInterface
)

// String returns the name that introspection has for the kind.
func (k typeKind) String() string {
	return [...]string{"SCALAR", "ENUM", "OBJECT", "INTERFACE"}[k]
}

// A scalarKind tells the scalars apart.
type scalarKind uint8

const (
	scalarString scalarKind = iota
	scalarInt
	scalarFloat
	scalarBoolean
	scalarJSON
)

// A typeDef is one GraphQL type.
type typeDef struct {
	name             string
	description      string // the description, of types that every schema has
	kind             typeKind
	scalar           scalarKind
	enumValues       []string
	enumDescriptions []string // their descriptions
	fields           []*fieldDef
	fieldIndex       map[string]*fieldDef // only of types with many fields
	interfaces       []*typeDef
	possibleTypes    []*typeDef // of an interface, in the order of introspection

	datafileSchema bundle.Schema // the schema that is bound to the type, or ""
	resolver       *typeResolver // of an interface
}

// A typeResolver finds the object type of a value of an interface.
type typeResolver struct {
	bySchema  bool
	field     string            // otherwise: the key that tells
	types     map[string]string // and the type for each of its values
	typeNames []string          // the types, as the bundle has them
}

// A resolveKind says where the value of a field comes from.
type resolveKind uint8

const (
	resolveDefault   resolveKind = iota // from the parent's data
	resolveDatafiles                    // all datafiles of a schema
	resolveSynthetic                    // the datafiles that refer to the parent
	resolveResource                     // the resource that the parent names
	resolveResources                    // all resources
	resolveTypename
	resolveIntrospection // introspection
)

// A fieldDef is a field of a type.
type fieldDef struct {
	name        string
	description string // the description, of introspection
	typ         *typeDef
	list        bool // of items that are required
	required    bool
	args        []*argDef

	resolver   resolveKind
	schema     bundle.Schema // of datafiles and synthetic
	subAttr    string        // of synthetic: the dotted path to the reference
	bundleType string        // the type as the bundle names it
	isList     bool          // isList as the bundle has it
}

// typeString returns the type as GraphQL writes it.
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

// An argDef is an argument that a field or directive takes. Its type is never
// a list.
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

// A directiveDef is a directive that a query may use, or at least name.
type directiveDef struct {
	name        string
	description string
	locations   []string
	args        []*argDef
}

// field returns the field with a name, or nil.
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

// leaf tells whether values of the type have no fields.
func (t *typeDef) isLeaf() bool { return t.kind == kindScalar || t.kind == kindEnum }

// is tells whether every value of the type is one of the other type too.
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

// objects returns the object types that a value of the type may have.
func (t *typeDef) objectTypes() []*typeDef {
	if t.kind == kindInterface {
		return t.possibleTypes
	}
	return []*typeDef{t}
}

// find returns the field that a query names on a type, with the fields that
// every schema has, or nil.
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

// arg returns the argument with a name, or nil.
func findArgument(list []*argDef, name string) *argDef {
	for _, a := range list {
		if a.name == name {
			return a
		}
	}
	return nil
}
