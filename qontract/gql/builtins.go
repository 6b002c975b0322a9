package gql

import (
	_ "embed"
	"strings"
)

// builtins are the types and fields that every schema has.
type builtins struct {
	stringType, intType, floatType, booleanType, jsonType *typeDef

	typenameField *fieldDef // __typename
	schemaField   *fieldDef // __schema
	typeField     *fieldDef // __type
	schemaType    *typeDef  // __Schema
}

// introspectionText lists the builtin types and directives. Its first lines explain its
// format.
//
//go:embed introspection.txt
var introspectionText string

// A builtinLine is a line of introspectionText: a type or a directive with its members, or
// a member.
type builtinLine struct {
	words       []string
	description string
	members     []builtinLine
}

// parseBuiltins parses introspectionText.
func parseBuiltins() []builtinLine {
	var list []builtinLine
	for line := range strings.Lines(introspectionText) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		definition, note, _ := strings.Cut(line, " | ")
		d := builtinLine{words: strings.Fields(definition), description: strings.ReplaceAll(note, `\n`, "\n")}
		if line[0] != '\t' {
			list = append(list, d)
			continue
		}
		last := &list[len(list)-1]
		last.members = append(last.members, d)
	}
	return list
}

// addBuiltins adds the scalars, the types of introspection and the directives.
func (s *Schema) addBuiltins() {
	b := &s.builtins
	types := map[string]*typeDef{}
	list := parseBuiltins()
	for _, d := range list {
		name := d.words[0]
		types[name] = &typeDef{name: name, description: d.description, kind: kindObject}
	}
	scalar := func(name string, kind scalarKind) *typeDef {
		t := types[name]
		t.kind, t.scalar = kindScalar, kind
		return t
	}
	b.stringType = scalar("String", scalarString)
	b.intType = scalar("Int", scalarInt)
	b.floatType = scalar("Float", scalarFloat)
	b.booleanType = scalar("Boolean", scalarBoolean)
	b.jsonType = &typeDef{name: "JSON", kind: kindScalar, scalar: scalarJSON}
	for _, d := range list {
		if name, found := strings.CutPrefix(d.words[0], "@"); found {
			s.directives = append(s.directives, &directiveDef{name: name, description: d.description, locations: d.words[1:],
				args: b.makeArguments(types, d.members)})
			continue
		}
		b.addMembers(types, d)
	}
	b.schemaType = types["__Schema"]
	b.typenameField = &fieldDef{name: "__typename", typ: b.stringType, required: true, resolver: resolveTypename}
	b.schemaField = &fieldDef{name: "__schema", typ: b.schemaType, required: true, resolver: resolveIntrospection}
	b.typeField = &fieldDef{name: "__type", typ: types["__Type"], resolver: resolveIntrospection,
		args: []*argDef{{name: "name", typ: b.stringType, required: true}}}
}

// addMembers adds the fields of a type, or the values of an enum.
func (b *builtins) addMembers(types map[string]*typeDef, d builtinLine) {
	t := types[d.words[0]]
	for _, m := range d.members {
		if len(m.words) == 1 {
			t.kind = kindEnum
			t.enumValues, t.enumDescriptions = append(t.enumValues, m.words[0]), append(t.enumDescriptions, m.description)
			continue
		}
		t.fields = append(t.fields, b.makeField(types, m))
	}
}

// makeField makes a field from its line.
func (b *builtins) makeField(types map[string]*typeDef, d builtinLine) *fieldDef {
	name, argument, takes := strings.Cut(strings.TrimSuffix(d.words[0], ":"), "(")
	f := &fieldDef{name: name, description: d.description, resolver: resolveIntrospection}
	if takes {
		f.args = []*argDef{{name: "includeDeprecated", typ: b.booleanType, required: strings.Contains(argument, "!"),
			defaultValue: false}}
	}
	typ, required := strings.CutSuffix(d.words[1], "!")
	f.required = required
	f.list = strings.HasPrefix(typ, "[")
	f.typ = types[strings.Trim(typ, "[]!")]
	return f
}

// makeArguments makes the arguments of a directive from their lines.
func (b *builtins) makeArguments(types map[string]*typeDef, members []builtinLine) []*argDef {
	args := make([]*argDef, 0, len(members))
	for _, m := range members {
		typ, required := strings.CutSuffix(m.words[1], "!")
		a := &argDef{name: strings.TrimSuffix(m.words[0], ":"), description: m.description, typ: types[typ],
			required: required}
		if len(m.words) > 2 {
			a.defaultValue = strings.Trim(strings.Join(m.words[3:], " "), `"`)
		}
		args = append(args, a)
	}
	return args
}

// directiveNamed returns the directive with this name, or nil.
func (s *Schema) directiveNamed(name string) *directiveDef {
	for _, d := range s.directives {
		if d.name == name {
			return d
		}
	}
	return nil
}
