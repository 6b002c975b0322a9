package validator

import (
	"maps"
	"slices"

	"github.com/app-sre/prcheck/bundle"
)

// simple lists the types of GraphQL fields that are no objects.
var simple = map[string]bool{"string": true, "int": true, "float": true, "boolean": true, "json": true}

// A gqlField is one field of a GraphQL type.
type gqlField struct {
	name, typ                 string
	isList, isRequired        bool
	isInterface               bool
	isUnique, isContextUnique bool
	datafileSchema            string
	synthetic                 *bundle.Object
	at                        string // JSON pointer into the GraphQL types
}

// A gqlType is one GraphQL type.
type gqlType struct {
	name, datafile, implements string
	isInterface                bool
	resolve                    *bundle.Object // interfaceResolve
	fields                     []*gqlField
	by                         map[string]*gqlField
	context                    []string // sorted names of the fields that tell list items apart
	at                         string
}

// gqlTypes are the GraphQL types of a bundle.
type gqlTypes struct {
	all      []*gqlType
	by       map[string]*gqlType
	bySchema map[bundle.Schema]*gqlType
	top      map[string]bool // types that datafiles have
	reach    map[string]map[string]bool
	schemas  map[*gqlType][]bundle.Schema
}

// readTypes reads what it understands; [checkGraphQL] tells the rest.
func readTypes(graphql any) *gqlTypes {
	t := &gqlTypes{by: map[string]*gqlType{}, bySchema: map[bundle.Schema]*gqlType{}, top: map[string]bool{}, reach: map[string]map[string]bool{}}
	prefix := ""
	if o, ok := graphql.(*bundle.Object); ok {
		graphql, _ = o.Get("confs")
		prefix = "/confs"
	}
	confs, _ := graphql.([]any)
	for i, conf := range confs {
		if o, ok := conf.(*bundle.Object); ok {
			typ := readType(o, prefix+pointer([]step{{index: i, item: true}}))
			t.all = append(t.all, typ)
			t.by[typ.name] = typ
		}
	}
	t.bind()
	return t
}

func readType(o *bundle.Object, at string) *gqlType {
	t := &gqlType{
		name: o.String("name"), datafile: o.String("datafile"), implements: o.String("interface"),
		isInterface: isTrue(o, "isInterface"), by: map[string]*gqlField{}, at: at,
	}
	v, _ := o.Get("interfaceResolve")
	t.resolve, _ = v.(*bundle.Object)
	v, _ = o.Get("fields")
	fields, _ := v.([]any)
	for i, v := range fields {
		f, ok := v.(*bundle.Object)
		if !ok {
			continue
		}
		field := &gqlField{
			name: f.String("name"), typ: f.String("type"), datafileSchema: f.String("datafileSchema"),
			isList: isTrue(f, "isList"), isRequired: isTrue(f, "isRequired"), isInterface: isTrue(f, "isInterface"),
			isUnique: isTrue(f, "isUnique"), isContextUnique: isTrue(f, "isContextUnique"),
			at: at + "/fields" + pointer([]step{{index: i, item: true}}),
		}
		syn, _ := f.Get("synthetic")
		field.synthetic, _ = syn.(*bundle.Object)
		t.fields = append(t.fields, field)
		t.by[field.name] = field
	}
	for _, name := range slices.Sorted(maps.Keys(t.by)) {
		if f := t.by[name]; f.isUnique || f.isContextUnique {
			t.context = append(t.context, name)
		}
	}
	return t
}

func isTrue(o *bundle.Object, key string) bool {
	v, _ := o.Get(key)
	return v == true
}

// bind finds the type of each datafile schema.
func (t *gqlTypes) bind() {
	for _, typ := range t.all {
		if typ.datafile != "" {
			t.bySchema[bundle.Schema(typ.datafile)] = typ
		}
	}
	if query := t.by["Query"]; query != nil {
		for _, f := range query.fields {
			if typ := t.by[f.typ]; f.datafileSchema != "" && typ != nil {
				t.bySchema[bundle.Schema(f.datafileSchema)] = typ
			}
		}
	}
	for _, typ := range t.bySchema {
		t.top[typ.name] = true
	}
	for _, typ := range t.all {
		if t.top[typ.implements] {
			t.top[typ.name] = true
		}
	}
}

// discriminator returns the key whose value tells the type of an interface.
func (t *gqlType) discriminator() (key string, types *bundle.Object) {
	if !t.isInterface || t.resolve == nil || t.resolve.String("strategy") != "fieldMap" {
		return "", nil
	}
	v, _ := t.resolve.Get("fieldMap")
	types, _ = v.(*bundle.Object)
	return t.resolve.String("field"), types
}

// A spot is where a value stands among the GraphQL types: in a field, or, when
// there is none, at an object of the type.
type spot struct {
	typ   *gqlType
	field *gqlField
}

// object returns the type of an object at the spot.
func (s spot) object(t *gqlTypes) *gqlType {
	if s.field == nil {
		return s.typ
	}
	return t.by[s.field.typ]
}

// child returns the spot of a key's value.
func (s spot) child(t *gqlTypes, key string, v any) spot {
	if s.typ == nil || key == "$ref" {
		return s
	}
	typ := s.object(t)
	if typ == nil {
		return spot{}
	}
	return spot{typ, typ.by[key]}.settle(t, v)
}

// settle replaces an interface by the type that the value has.
func (s spot) settle(t *gqlTypes, v any) spot {
	o, ok := v.(*bundle.Object)
	if s.field == nil || !ok {
		return s
	}
	typ := t.by[s.field.typ]
	if typ == nil {
		return s
	}
	key, types := typ.discriminator()
	if types == nil {
		return s
	}
	if settled := t.by[types.String(o.String(key))]; settled != nil {
		return spot{settled, nil}
	}
	return s
}

// reaches tells whether an object of one type may hold one of another.
func (t *gqlTypes) reaches(from *gqlType, to string) bool {
	if t.reach[from.name] == nil {
		seen := map[string]bool{}
		t.walk(from, seen)
		t.reach[from.name] = seen
	}
	return t.reach[from.name][to]
}

func (t *gqlTypes) walk(from *gqlType, seen map[string]bool) {
	open := []*gqlType{from}
	for len(open) > 0 {
		typ := open[len(open)-1]
		open = open[:len(open)-1]
		if seen[typ.name] {
			continue
		}
		seen[typ.name] = true
		for _, f := range typ.fields {
			if next := t.by[f.typ]; next != nil {
				open = append(open, next)
			}
		}
		_, types := typ.discriminator()
		if types == nil {
			continue
		}
		for _, m := range types.Members() {
			name, _ := m.Value.(string)
			if next := t.by[name]; next != nil {
				open = append(open, next)
			}
		}
	}
}
