package gql

import "github.com/app-sre/prcheck/bundle"

// A Schema is what may be asked of a bundle: the GraphQL types that its
// graphql section describes. It does not change after it was made, so bundles
// with the same section can share one.
type Schema struct {
	query      *typeDef
	types      map[string]*typeDef
	order      []*typeDef // as introspection lists them
	bound      map[bundle.Schema]*typeDef
	directives []*directiveDef
	bare       bool // the section is a list, without "confs"

	scalars builtins
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
	name       string
	note       string // the description, of types that every schema has
	kind       typeKind
	scalar     scalarKind
	enum       []string
	enumNotes  []string // their descriptions
	fields     []*fieldDef
	index      map[string]*fieldDef // only of types with many fields
	interfaces []*typeDef
	possible   []*typeDef // of an interface, in the order of introspection

	datafile bundle.Schema // the schema that is bound to the type, or ""
	resolver *typeResolver // of an interface
}

// A typeResolver finds the object type of a value of an interface.
type typeResolver struct {
	bySchema bool
	field    string            // otherwise: the key that tells
	types    map[string]string // and the type for each of its values
	names    []string          // the types, as the bundle has them
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
	resolveMeta // introspection
)

// A fieldDef is a field of a type.
type fieldDef struct {
	name     string
	note     string // the description, of introspection
	typ      *typeDef
	list     bool // of items that are required
	required bool
	args     []*argDef

	kind   resolveKind
	schema bundle.Schema // of datafiles and synthetic
	attr   string        // of synthetic: the dotted path to the reference
	conf   string        // the type as the bundle names it
	listed bool          // isList as the bundle has it
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
	name     string
	note     string
	typ      *typeDef
	required bool
	standard any // the default value, or nil
}

func (a *argDef) typeString() string {
	if a.required {
		return a.typ.name + "!"
	}
	return a.typ.name
}

// A directiveDef is a directive that a query may use, or at least name.
type directiveDef struct {
	name      string
	note      string
	locations []string
	args      []*argDef
}

// field returns the field with a name, or nil.
func (t *typeDef) field(name string) *fieldDef {
	if t.index != nil {
		return t.index[name]
	}
	for _, f := range t.fields {
		if f.name == name {
			return f
		}
	}
	return nil
}

// leaf tells whether values of the type have no fields.
func (t *typeDef) leaf() bool { return t.kind == kindScalar || t.kind == kindEnum }

// is tells whether every value of the type is one of the other type too.
func (t *typeDef) is(other *typeDef) bool {
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
func (t *typeDef) objects() []*typeDef {
	if t.kind == kindInterface {
		return t.possible
	}
	return []*typeDef{t}
}

// find returns the field that a query names on a type, with the fields that
// every schema has, or nil.
func (s *Schema) find(t *typeDef, name string) *fieldDef {
	if name == "" || name[0] != '_' {
		return t.field(name)
	}
	switch {
	case name == "__typename":
		return s.scalars.typename
	case name == "__schema" && t == s.query:
		return s.scalars.schema
	case name == "__type" && t == s.query:
		return s.scalars.lookup
	}
	return t.field(name)
}

// arg returns the argument with a name, or nil.
func arg(list []*argDef, name string) *argDef {
	for _, a := range list {
		if a.name == name {
			return a
		}
	}
	return nil
}
