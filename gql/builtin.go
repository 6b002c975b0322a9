package gql

import (
	_ "embed"
	"strings"
)

// builtins are the types and fields that every schema has.
type builtins struct {
	text, integer, float, boolean, json *typeDef

	typename, schema, lookup *fieldDef // __typename, __schema, __type
	root                     *typeDef  // __Schema
}

//go:embed introspection.txt
var introspection string

// A described is a line of the text above: a type or directive with its
// members, or a member.
type described struct {
	words   []string
	note    string
	members []described
}

// describe reads the text above.
func describe() []described {
	var list []described
	for line := range strings.Lines(introspection) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		definition, note, _ := strings.Cut(line, " | ")
		d := described{words: strings.Fields(definition), note: strings.ReplaceAll(note, `\n`, "\n")}
		if line[0] != '\t' {
			list = append(list, d)
			continue
		}
		last := &list[len(list)-1]
		last.members = append(last.members, d)
	}
	return list
}

// addBuiltins makes the scalars, the types of introspection and the directives.
func (s *Schema) addBuiltins() {
	b := &s.scalars
	types := map[string]*typeDef{}
	list := describe()
	for _, d := range list {
		name := d.words[0]
		types[name] = &typeDef{name: name, note: d.note, kind: kindObject}
	}
	scalar := func(name string, kind scalarKind) *typeDef {
		t := types[name]
		t.kind, t.scalar = kindScalar, kind
		return t
	}
	b.text = scalar("String", scalarString)
	b.integer = scalar("Int", scalarInt)
	b.float = scalar("Float", scalarFloat)
	b.boolean = scalar("Boolean", scalarBoolean)
	b.json = &typeDef{name: "JSON", kind: kindScalar, scalar: scalarJSON}
	for _, d := range list {
		if name, found := strings.CutPrefix(d.words[0], "@"); found {
			s.directives = append(s.directives, &directiveDef{name: name, note: d.note, locations: d.words[1:], args: b.metaArgs(types, d.members)})
			continue
		}
		b.metaMembers(types, d)
	}
	b.root = types["__Schema"]
	b.typename = &fieldDef{name: "__typename", typ: b.text, required: true, kind: resolveTypename}
	b.schema = &fieldDef{name: "__schema", typ: b.root, required: true, kind: resolveMeta}
	b.lookup = &fieldDef{name: "__type", typ: types["__Type"], kind: resolveMeta,
		args: []*argDef{{name: "name", typ: b.text, required: true}}}
}

// metaMembers makes the fields of a type, or the words of an enumeration.
func (b *builtins) metaMembers(types map[string]*typeDef, d described) {
	t := types[d.words[0]]
	for _, m := range d.members {
		if len(m.words) == 1 {
			t.kind = kindEnum
			t.enum, t.enumNotes = append(t.enum, m.words[0]), append(t.enumNotes, m.note)
			continue
		}
		t.fields = append(t.fields, b.metaField(types, m))
	}
}

// metaField makes a field from its description.
func (b *builtins) metaField(types map[string]*typeDef, d described) *fieldDef {
	name, argument, takes := strings.Cut(strings.TrimSuffix(d.words[0], ":"), "(")
	f := &fieldDef{name: name, note: d.note, kind: resolveMeta}
	if takes {
		f.args = []*argDef{{name: "includeDeprecated", typ: b.boolean, required: strings.Contains(argument, "!"), standard: false}}
	}
	typ, required := strings.CutSuffix(d.words[1], "!")
	f.required = required
	f.list = strings.HasPrefix(typ, "[")
	f.typ = types[strings.Trim(typ, "[]!")]
	return f
}

// metaArgs makes the arguments of a directive.
func (b *builtins) metaArgs(types map[string]*typeDef, members []described) []*argDef {
	args := make([]*argDef, 0, len(members))
	for _, m := range members {
		typ, required := strings.CutSuffix(m.words[1], "!")
		a := &argDef{name: strings.TrimSuffix(m.words[0], ":"), note: m.note, typ: types[typ], required: required}
		if len(m.words) > 2 {
			a.standard = strings.Trim(strings.Join(m.words[3:], " "), `"`)
		}
		args = append(args, a)
	}
	return args
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
