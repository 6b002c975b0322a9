package validator

import (
	"maps"
	"slices"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// scalarTypes are the types of GraphQL fields that are not objects.
var scalarTypes = map[string]bool{"string": true, "int": true, "float": true, "boolean": true, "json": true}

// A gqlField is a field of a GraphQL type.
type gqlField struct {
	name, typ                 string
	isList, isRequired        bool
	isInterface               bool
	isUnique, isContextUnique bool
	datafileSchema            string
	synthetic                 *bundle.Object
	at                        string // JSON pointer into the GraphQL types
}

// A gqlType is a GraphQL type.
type gqlType struct {
	name, datafile, implements string
	isInterface                bool
	interfaceResolve           *bundle.Object // interfaceResolve
	fields                     []*gqlField
	fieldsByName               map[string]*gqlField
	identityFields             []string // sorted names of the fields that distinguish list items
	at                         string
}

// A gqlTypes holds the GraphQL types of a bundle.
type gqlTypes struct {
	all       []*gqlType
	byName    map[string]*gqlType
	bySchema  map[bundle.SchemaPath]*gqlType
	topLevel  map[string]bool // types of whole datafiles
	reachable map[string]map[string]bool
	schemas   map[*gqlType][]bundle.SchemaPath
}

// readTypes reads the GraphQL types. It ignores parts that it cannot read; checkTypes
// reports them.
func readTypes(graphql any) *gqlTypes {
	t := &gqlTypes{byName: map[string]*gqlType{}, bySchema: map[bundle.SchemaPath]*gqlType{}, topLevel: map[string]bool{},
		reachable: map[string]map[string]bool{}}
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
			t.byName[typ.name] = typ
		}
	}
	t.bindSchemas()
	return t
}

func readType(o *bundle.Object, at string) *gqlType {
	t := &gqlType{
		name: o.String("name"), datafile: o.String("datafile"), implements: o.String("interface"),
		isInterface: isTrue(o, "isInterface"), fieldsByName: map[string]*gqlField{}, at: at,
	}
	v, _ := o.Get("interfaceResolve")
	t.interfaceResolve, _ = v.(*bundle.Object)
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
		t.fieldsByName[field.name] = field
	}
	for _, name := range slices.Sorted(maps.Keys(t.fieldsByName)) {
		if f := t.fieldsByName[name]; f.isUnique || f.isContextUnique {
			t.identityFields = append(t.identityFields, name)
		}
	}
	return t
}

func isTrue(o *bundle.Object, key string) bool {
	v, _ := o.Get(key)
	return v == true
}

// bindSchemas finds the type of each datafile schema, and the types that datafiles have.
func (t *gqlTypes) bindSchemas() {
	for _, typ := range t.all {
		if typ.datafile != "" {
			t.bySchema[bundle.SchemaPath(typ.datafile)] = typ
		}
	}
	if query := t.byName["Query"]; query != nil {
		for _, f := range query.fields {
			if typ := t.byName[f.typ]; f.datafileSchema != "" && typ != nil {
				t.bySchema[bundle.SchemaPath(f.datafileSchema)] = typ
			}
		}
	}
	for _, typ := range t.bySchema {
		t.topLevel[typ.name] = true
	}
	for _, typ := range t.all {
		if t.topLevel[typ.implements] {
			t.topLevel[typ.name] = true
		}
	}
}

// discriminator returns the key whose value determines the object type of an interface, and
// the type for each value.
func (t *gqlType) discriminator() (key string, types *bundle.Object) {
	if !t.isInterface || t.interfaceResolve == nil || t.interfaceResolve.String("strategy") != "fieldMap" {
		return "", nil
	}
	v, _ := t.interfaceResolve.Get("fieldMap")
	types, _ = v.(*bundle.Object)
	return t.interfaceResolve.String("field"), types
}

// canReach reports whether an object of one type may contain an object of another type.
func (t *gqlTypes) canReach(from *gqlType, to string) bool {
	if t.reachable[from.name] == nil {
		seen := map[string]bool{}
		t.collectReachable(from, seen)
		t.reachable[from.name] = seen
	}
	return t.reachable[from.name][to]
}

// collectReachable adds the names of all types that an object of a type may contain, at any
// depth.
func (t *gqlTypes) collectReachable(from *gqlType, seen map[string]bool) {
	pending := []*gqlType{from}
	for len(pending) > 0 {
		typ := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if seen[typ.name] {
			continue
		}
		seen[typ.name] = true
		for _, f := range typ.fields {
			if next := t.byName[f.typ]; next != nil {
				pending = append(pending, next)
			}
		}
		_, types := typ.discriminator()
		if types == nil {
			continue
		}
		for _, m := range types.Members() {
			name, _ := m.Value.(string)
			if next := t.byName[name]; next != nil {
				pending = append(pending, next)
			}
		}
	}
}

// schemasOf returns the sorted JSON schemas whose datafiles have a type.
func (t *gqlTypes) schemasOf(typ *gqlType) []bundle.SchemaPath {
	if t.schemas == nil {
		t.schemas = map[*gqlType][]bundle.SchemaPath{}
		for _, s := range slices.Sorted(maps.Keys(t.bySchema)) {
			t.schemas[t.bySchema[s]] = append(t.schemas[t.bySchema[s]], s)
		}
	}
	return t.schemas[typ]
}
