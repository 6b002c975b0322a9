package live

import (
	"slices"

	"github.com/app-sre/prcheck/bundle"
)

// confs describes the types of one side as a bundle does, as far as they are
// known.
func (l *loader) confs(side int) *bundle.Object {
	list := []any{}
	for _, t := range l.types[side].list {
		o := bundle.NewObject(bundle.Member{Key: "name", Value: t.name})
		set := func(key string, v any) { o.Set(key, v) }
		if t.kind == "INTERFACE" {
			set("isInterface", true)
			set("interfaceResolve", l.resolver(side, t))
		}
		for _, i := range t.interfaces {
			if i != everything || len(t.interfaces) == 1 && !l.datafileType(side, t) {
				set("interface", i)
				break
			}
		}
		if s := l.bound(side, t); s != "" {
			set("datafile", string(s))
		}
		fields := []any{}
		for _, f := range t.fields {
			fields = append(fields, l.conf(side, t, f))
		}
		set("fields", fields)
		list = append(list, o)
	}
	return bundle.NewObject(bundle.Member{Key: "confs", Value: list})
}

var scalars = map[string]string{"String": "string", "Int": "int", "Float": "float", "Boolean": "boolean", "JSON": "json"}

// conf describes a field.
func (l *loader) conf(side int, t *typ, f field) *bundle.Object {
	word := f.typ
	if s, ok := scalars[f.typ]; ok {
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
	flag("isSearchable", l.searchable(side, t, f.name))
	switch s, back := l.synthetic[fieldName{t.name, f.name}]; {
	case f.lists():
		o.Set("datafileSchema", string(l.schemaOf(side, f)))
	case f.typ == resourceType && len(f.args) > 0:
		flag("isResource", true)
	case f.typ == resourceType && !f.list:
		o.Set("type", "string")
		flag("isResource", true)
		flag("resolveResource", true)
	case back:
		o.Set("synthetic", bundle.NewObject(bundle.Member{Key: "schema", Value: string(s.schema)}, bundle.Member{Key: "subAttr", Value: s.attr}))
	}
	return o
}

// schemaOf returns the schema that a root field lists. Where it lists nothing,
// that is the one of the other side, or one that no datafile has.
func (l *loader) schemaOf(side int, f field) bundle.Schema {
	known := l.roots[f.name]
	for _, s := range []bundle.Schema{known[side], known[1-side]} {
		if s != "" {
			return s
		}
	}
	return bundle.Schema("unknown schema of " + f.name)
}

// searchable tells whether the lists of a type take a field as an argument.
func (l *loader) searchable(side int, t *typ, name string) bool {
	if name == "path" || name == "filter" {
		return false
	}
	for _, root := range l.types[side].query() {
		if root.typ == t.name && root.lists() && slices.Contains(root.args, name) {
			return true
		}
	}
	return false
}

// bound returns the schema that a type is bound to: that of its root field.
func (l *loader) bound(side int, t *typ) bundle.Schema {
	if !l.datafileType(side, t) {
		return ""
	}
	for _, f := range l.types[side].query() {
		if f.typ == t.name && f.lists() {
			return l.schemaOf(side, f)
		}
	}
	if l.types[side].at[everything] != nil && !l.throughInterface(side, t) {
		return bundle.Schema("unknown schema of " + t.name)
	}
	return ""
}

// throughInterface tells whether a type is one of datafiles because its own
// interface is.
func (l *loader) throughInterface(side int, t *typ) bool {
	return slices.ContainsFunc(t.interfaces, func(name string) bool {
		i := l.types[side].at[name]
		return name != everything && i != nil && slices.Contains(i.interfaces, everything)
	})
}

// datafileType tells whether a type may be bound to a schema. Where there is an
// interface of all datafiles, it tells.
func (l *loader) datafileType(side int, t *typ) bool {
	if l.types[side].at[everything] == nil {
		return true
	}
	return slices.Contains(t.interfaces, everything)
}

// ordinary are the fields of an interface that never tell the type.
var ordinary = []string{"path", "schema", "name", "description"}

// resolver describes how the type of an interface's value is found. Which key
// tells is a guess, the first text that all have and that is not an ordinary
// one; nothing is evaluated with it.
func (l *loader) resolver(side int, t *typ) *bundle.Object {
	datafiles := len(t.possible) > 0 && !slices.Contains(t.interfaces, everything)
	values := &bundle.Object{}
	for _, name := range t.possible {
		p := l.types[side].at[name]
		datafiles = datafiles && p != nil && slices.Contains(p.interfaces, everything)
		values.Set("a value of "+name, name)
	}
	if datafiles || t.name == everything {
		return bundle.NewObject(bundle.Member{Key: "strategy", Value: "schema"})
	}
	key := ""
	for _, f := range t.fields {
		if key == "" && f.typ == "String" && !f.list && !slices.Contains(ordinary, f.name) {
			key = f.name
		}
	}
	if key == "" {
		return bundle.NewObject(bundle.Member{Key: "strategy", Value: "schema"})
	}
	return bundle.NewObject(bundle.Member{Key: "strategy", Value: "fieldMap"}, bundle.Member{Key: "field", Value: key},
		bundle.Member{Key: "fieldMap", Value: values})
}
