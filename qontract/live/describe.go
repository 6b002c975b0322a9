package live

import (
	"slices"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// describeTypes describes the GraphQL types of one side in the form that they have in a
// bundle, as far as they are known.
func (l *loader) describeTypes(side int) *bundle.Object {
	list := []any{}
	for _, t := range l.types[side].list {
		o := bundle.NewObject(bundle.Member{Key: "name", Value: t.name})
		set := func(key string, v any) { o.Set(key, v) }
		if t.kind == "INTERFACE" {
			set("isInterface", true)
			set("interfaceResolve", l.describeResolver(side, t))
		}
		for _, i := range t.interfaces {
			if i != datafileInterface || len(t.interfaces) == 1 && !l.mayBeDatafile(side, t) {
				set("interface", i)
				break
			}
		}
		if s := l.boundSchema(side, t); s != "" {
			set("datafile", string(s))
		}
		fields := []any{}
		for _, f := range t.fields {
			fields = append(fields, l.describeField(side, t, f))
		}
		set("fields", fields)
		list = append(list, o)
	}
	return bundle.NewObject(bundle.Member{Key: "confs", Value: list})
}

// scalars are the names that scalar types have in a bundle.
var scalars = map[string]string{"String": "string", "Int": "int", "Float": "float", "Boolean": "boolean",
	"JSON": "json"}

// describeField describes a field in the form of a bundle.
func (l *loader) describeField(side int, t *graphqlType, f field) *bundle.Object {
	word := f.typeName
	if s, ok := scalars[f.typeName]; ok {
		word = s
	}
	o := bundle.NewObject(bundle.Member{Key: "name", Value: f.name}, bundle.Member{Key: "type", Value: word})
	flag := func(key string, on bool) {
		if on {
			o.Set(key, true)
		}
	}
	flag("isInterface", f.kind == "INTERFACE")
	flag("isList", f.list)
	flag("isRequired", f.required)
	flag("isSearchable", l.isSearchable(side, t, f.name))
	switch s, back := l.synthetic[fieldName{t.name, f.name}]; {
	case f.listsDatafiles():
		o.Set("datafileSchema", string(l.listedSchema(side, f)))
	case f.typeName == resourceType && len(f.args) > 0:
		flag("isResource", true)
	case f.typeName == resourceType && !f.list:
		o.Set("type", "string")
		flag("isResource", true)
		flag("resolveResource", true)
	case back:
		o.Set("synthetic", bundle.NewObject(bundle.Member{Key: "schema", Value: string(s.schema)},
			bundle.Member{Key: "subAttr", Value: s.attr}))
	}
	return o
}

// listedSchema returns the schema of the datafiles that a root field lists. If it lists
// none, it returns the schema on the other side, or a schema that no datafile has.
func (l *loader) listedSchema(side int, f field) bundle.SchemaPath {
	known := l.roots[f.name]
	for _, s := range []bundle.SchemaPath{known[side], known[1-side]} {
		if s != "" {
			return s
		}
	}
	return bundle.SchemaPath("unknown schema of " + f.name)
}

// isSearchable reports whether the root fields of a type take a field as an argument.
func (l *loader) isSearchable(side int, t *graphqlType, name string) bool {
	if name == "path" || name == "filter" {
		return false
	}
	for _, root := range l.types[side].rootFields() {
		if root.typeName == t.name && root.listsDatafiles() && slices.Contains(root.args, name) {
			return true
		}
	}
	return false
}

// boundSchema returns the schema of the datafiles that a type describes, which is the schema
// that its root field lists. It returns "" if the type describes no datafiles.
func (l *loader) boundSchema(side int, t *graphqlType) bundle.SchemaPath {
	if !l.mayBeDatafile(side, t) {
		return ""
	}
	for _, f := range l.types[side].rootFields() {
		if f.typeName == t.name && f.listsDatafiles() {
			return l.listedSchema(side, f)
		}
	}
	if l.types[side].byName[datafileInterface] != nil && !l.isDatafileByInterface(side, t) {
		return bundle.SchemaPath("unknown schema of " + t.name)
	}
	return ""
}

// isDatafileByInterface reports whether a type describes datafiles because one of its
// interfaces does.
func (l *loader) isDatafileByInterface(side int, t *graphqlType) bool {
	return slices.ContainsFunc(t.interfaces, func(name string) bool {
		i := l.types[side].byName[name]
		return name != datafileInterface && i != nil && slices.Contains(i.interfaces, datafileInterface)
	})
}

// mayBeDatafile reports whether a type may describe datafiles. If the server has an interface
// of all datafiles, only its types do.
func (l *loader) mayBeDatafile(side int, t *graphqlType) bool {
	if l.types[side].byName[datafileInterface] == nil {
		return true
	}
	return slices.Contains(t.interfaces, datafileInterface)
}

// commonFields are fields of interfaces whose values never decide the type of an object.
var commonFields = []string{"path", "schema", "name", "description"}

// describeResolver describes, in the form of a bundle, how the type of an interface's value
// is found. A server does not show this, so the field that decides is a guess: the first
// text field of the interface that is not a common one. No query is evaluated with it.
func (l *loader) describeResolver(side int, t *graphqlType) *bundle.Object {
	datafiles := len(t.possibleTypes) > 0 && !slices.Contains(t.interfaces, datafileInterface)
	values := &bundle.Object{}
	for _, name := range t.possibleTypes {
		p := l.types[side].byName[name]
		datafiles = datafiles && p != nil && slices.Contains(p.interfaces, datafileInterface)
		values.Set("a value of "+name, name)
	}
	if datafiles || t.name == datafileInterface {
		return bundle.NewObject(bundle.Member{Key: "strategy", Value: "schema"})
	}
	key := ""
	for _, f := range t.fields {
		if key == "" && f.typeName == "String" && !f.list && !slices.Contains(commonFields, f.name) {
			key = f.name
		}
	}
	if key == "" {
		return bundle.NewObject(bundle.Member{Key: "strategy", Value: "schema"})
	}
	return bundle.NewObject(bundle.Member{Key: "strategy", Value: "fieldMap"}, bundle.Member{Key: "field", Value: key},
		bundle.Member{Key: "fieldMap", Value: values})
}
