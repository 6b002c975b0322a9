package gql

import (
	_ "embed"
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

// finish adds everything that needs all types: arguments, the order of types, and the
// object types of interfaces.
func (b *builder) finish() {
	for _, t := range b.declared {
		for _, f := range t.fields {
			if f.resolver == resolveDatafiles {
				f.args = b.filterArguments(f)
			}
		}
	}
	b.orderTypes()
	for _, t := range b.schema.typeList {
		if t.kind == kindObject {
			for _, i := range t.interfaces {
				i.possibleTypes = append(i.possibleTypes, t)
			}
		}
	}
}

// filterArguments returns the arguments of a field of datafiles: its searchable fields,
// path and filter.
func (b *builder) filterArguments(f *fieldDef) []*argDef {
	var args []*argDef
	add := func(name string, typ *typeDef) {
		if a := findArgument(args, name); a != nil {
			a.typ = typ
			return
		}
		args = append(args, &argDef{name: name, typ: typ})
	}
	for _, name := range b.searchable[f.typ] {
		add(name, b.schema.builtins.stringType)
	}
	add("path", b.schema.builtins.stringType)
	add("filter", b.schema.builtins.jsonType)
	return args
}

// orderTypes lists all types in the order of graphql-js: the object types in the order of
// the bundle, each followed by the types that it refers to and that are not yet listed.
func (b *builder) orderTypes() {
	seen := map[*typeDef]bool{}
	for _, t := range b.declared {
		seen[t] = t.kind == kindObject
	}
	var visit func(*typeDef)
	list := func(t *typeDef) {
		seen[t] = true
		b.schema.typeList = append(b.schema.typeList, t)
		for _, i := range t.interfaces {
			visit(i)
		}
		for _, f := range t.fields {
			visit(f.typ)
			for _, a := range f.args {
				visit(a.typ)
			}
		}
	}
	visit = func(t *typeDef) {
		if !seen[t] {
			list(t)
		}
	}
	for _, t := range b.declared {
		if t.kind == kindObject {
			list(t)
		}
	}
	visit(b.schema.builtins.booleanType)
	visit(b.schema.builtins.stringType)
	visit(b.schema.builtins.schemaType)
	b.schema.types = make(map[string]*typeDef, len(b.schema.typeList))
	for _, t := range b.schema.typeList {
		b.schema.types[t.name] = t
	}
}

// defineFields adds the fields of a type.
func (b *builder) defineFields(t *typeDef, conf *bundle.Object) error {
	v, _ := conf.Get("fields")
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return errors.New("it has no fields")
	}
	t.fields = make([]*fieldDef, 0, len(list))
	block := make([]fieldDef, len(list))
	if len(list) >= indexFrom {
		t.fieldIndex = make(map[string]*fieldDef, len(list))
	}
	for i, v := range list {
		o, ok := v.(*bundle.Object)
		if !ok {
			return fmt.Errorf("field %d: not an object", i)
		}
		f := &block[i]
		f.name = o.String("name")
		if err := b.defineField(f, o); err != nil {
			return fmt.Errorf("field %q: %w", f.name, err)
		}
		if isTruthyKey(o, "isSearchable") {
			b.searchable[t] = append(b.searchable[t], f.name)
		}
		t.setField(f)
	}
	return nil
}

// setField adds a field. It replaces a field with the same name.
func (t *typeDef) setField(f *fieldDef) {
	if old := t.field(f.name); old != nil {
		*old = *f
		return
	}
	t.fields = append(t.fields, f)
	if t.fieldIndex != nil {
		t.fieldIndex[f.name] = f
	}
}

// defineField reads the type of a field and where its values come from.
func (b *builder) defineField(f *fieldDef, o *bundle.Object) error {
	if err := checkName(f.name); err != nil {
		return err
	}
	f.bundleType = o.String("type")
	f.typ = b.typeNamed(f.bundleType, isTruthyKey(o, "isInterface"))
	if f.typ == nil {
		return fmt.Errorf("there is no %s %q", typeKindWord(o), f.bundleType)
	}
	f.isList = isTruthyKey(o, "isList")
	f.list = f.isList
	f.required = isTruthyKey(o, "isRequired")
	return b.readResolver(f, o)
}

// typeKindWord names the kind of type that a field of the bundle asks for, for an error
// message.
func typeKindWord(o *bundle.Object) string {
	if isTruthyKey(o, "isInterface") {
		return "interface"
	}
	return "object type"
}

// typeNamed returns the type that a field names, or nil.
func (b *builder) typeNamed(name string, isInterface bool) *typeDef {
	switch name {
	case "string":
		return b.schema.builtins.stringType
	case "int":
		return b.schema.builtins.intType
	case "float":
		return b.schema.builtins.floatType
	case "boolean":
		return b.schema.builtins.booleanType
	case "json":
		return b.schema.builtins.jsonType
	}
	t := b.schema.types[name]
	if t == nil || (t.kind == kindInterface) != isInterface {
		return nil
	}
	return t
}

// readResolver reads where the values of a field come from.
func (b *builder) readResolver(f *fieldDef, o *bundle.Object) error {
	switch {
	case isTruthyKey(o, "datafileSchema"):
		f.resolver = resolveDatafiles
		f.schema = bundle.SchemaPath(o.String("datafileSchema"))
		if f.typ.isLeaf() {
			return fmt.Errorf("datafiles cannot be of type %q", f.bundleType)
		}
	case isTruthyKey(o, "synthetic"):
		v, _ := o.Get("synthetic")
		synthetic, ok := v.(*bundle.Object)
		if !ok {
			return errors.New("synthetic is not an object")
		}
		f.resolver = resolveSynthetic
		f.schema = bundle.SchemaPath(synthetic.String("schema"))
		f.subAttr = synthetic.String("subAttr")
	case !isTruthyKey(o, "isResource"):
	case f.bundleType == "string" && isTruthyKey(o, "resolveResource"):
		f.resolver = resolveResource
		f.typ, f.list, f.required = b.typeNamed("Resource_v1", false), false, false
		if f.typ == nil {
			return errors.New(`it resolves resources, but there is no object type "Resource_v1"`)
		}
	case f.bundleType == "Resource_v1" && f.typ.kind == kindObject:
		f.resolver = resolveResources
		f.args = []*argDef{{name: "path", typ: b.schema.builtins.stringType},
			{name: "schema", typ: b.schema.builtins.stringType}}
	}
	return nil
}

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
