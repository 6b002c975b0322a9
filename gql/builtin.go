package gql

import "strings"

// builtins are the types and fields that every schema has.
type builtins struct {
	text, integer, float, boolean, json *typeDef

	typename, schema, lookup *fieldDef // __typename, __schema, __type
	root                     *typeDef  // __Schema
}

// introspection describes the types of introspection, one a line: its name and
// its fields, or the words of an enumeration. A field with (d) takes
// includeDeprecated.
const introspection = `
__Schema description:String types:[__Type]! queryType:__Type! mutationType:__Type subscriptionType:__Type directives:[__Directive]!
__Type kind:__TypeKind! name:String description:String specifiedByURL:String fields(d):[__Field] interfaces:[__Type] possibleTypes:[__Type] enumValues(d):[__EnumValue] inputFields(d):[__InputValue] ofType:__Type isOneOf:Boolean
__TypeKind SCALAR OBJECT INTERFACE UNION ENUM INPUT_OBJECT LIST NON_NULL
__Field name:String! description:String args(d):[__InputValue]! type:__Type! isDeprecated:Boolean! deprecationReason:String
__InputValue name:String! description:String type:__Type! defaultValue:String isDeprecated:Boolean! deprecationReason:String
__EnumValue name:String! description:String isDeprecated:Boolean! deprecationReason:String
__Directive name:String! description:String isRepeatable:Boolean! locations:[__DirectiveLocation]! args(d):[__InputValue]!
__DirectiveLocation QUERY MUTATION SUBSCRIPTION FIELD FRAGMENT_DEFINITION FRAGMENT_SPREAD INLINE_FRAGMENT VARIABLE_DEFINITION SCHEMA SCALAR OBJECT FIELD_DEFINITION ARGUMENT_DEFINITION INTERFACE UNION ENUM ENUM_VALUE INPUT_OBJECT INPUT_FIELD_DEFINITION
`

// addBuiltins makes the scalars, the types of introspection and the directives.
func (s *Schema) addBuiltins() {
	scalar := func(name string, kind scalarKind) *typeDef {
		return &typeDef{name: name, kind: kindScalar, scalar: kind}
	}
	b := &s.scalars
	b.text = scalar("String", scalarString)
	b.integer = scalar("Int", scalarInt)
	b.float = scalar("Float", scalarFloat)
	b.boolean = scalar("Boolean", scalarBoolean)
	b.json = scalar("JSON", scalarJSON)

	types := map[string]*typeDef{"String": b.text, "Boolean": b.boolean}
	lines := strings.Split(strings.TrimSpace(introspection), "\n")
	for _, line := range lines {
		name, _, _ := strings.Cut(line, " ")
		types[name] = &typeDef{name: name, kind: kindObject}
	}
	for _, line := range lines {
		words := strings.Fields(line)
		t := types[words[0]]
		for _, word := range words[1:] {
			name, typ, isField := strings.Cut(word, ":")
			if !isField {
				t.kind = kindEnum
				t.enum = append(t.enum, word)
				continue
			}
			t.fields = append(t.fields, b.metaField(types, name, typ))
		}
	}
	b.root = types["__Schema"]
	b.typename = &fieldDef{name: "__typename", typ: b.text, required: true, kind: resolveTypename}
	b.schema = &fieldDef{name: "__schema", typ: b.root, required: true, kind: resolveMeta}
	b.lookup = &fieldDef{name: "__type", typ: types["__Type"], kind: resolveMeta,
		args: []*argDef{{name: "name", typ: b.text, required: true}}}
	s.addDirectives()
}

// metaField makes a field from its description.
func (b *builtins) metaField(types map[string]*typeDef, name, typ string) *fieldDef {
	f := &fieldDef{name: name, kind: resolveMeta}
	if plain, found := strings.CutSuffix(name, "(d)"); found {
		f.name = plain
		f.args = []*argDef{{name: "includeDeprecated", typ: b.boolean, standard: false}}
	}
	typ, f.required = strings.CutSuffix(typ, "!")
	f.list = strings.HasPrefix(typ, "[")
	f.typ = types[strings.Trim(typ, "[]")]
	return f
}

func (s *Schema) addDirectives() {
	b := &s.scalars
	executable := []string{"FIELD", "FRAGMENT_SPREAD", "INLINE_FRAGMENT"}
	condition := []*argDef{{name: "if", typ: b.boolean, required: true}}
	s.directives = []*directiveDef{
		{"include", executable, condition},
		{"skip", executable, condition},
		{"deprecated", []string{"FIELD_DEFINITION", "ARGUMENT_DEFINITION", "INPUT_FIELD_DEFINITION", "ENUM_VALUE"},
			[]*argDef{{name: "reason", typ: b.text, standard: "No longer supported"}}},
		{"specifiedBy", []string{"SCALAR"}, []*argDef{{name: "url", typ: b.text, required: true}}},
		{"oneOf", []string{"INPUT_OBJECT"}, nil},
	}
}

// directive returns the directive with a name, or nil.
func (s *Schema) directive(name string) *directiveDef {
	for _, d := range s.directives {
		if d.name == name {
			return d
		}
	}
	return nil
}
