package gql

import (
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/bundle"
)

// define makes the fields of a type.
func (b *builder) define(t *typeDef, conf *bundle.Object) error {
	v, _ := conf.Get("fields")
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return errors.New("it has no fields")
	}
	t.fields = make([]*fieldDef, 0, len(list))
	block := make([]fieldDef, len(list))
	if len(list) >= manyFields {
		t.index = make(map[string]*fieldDef, len(list))
	}
	for i, v := range list {
		o, ok := v.(*bundle.Object)
		if !ok {
			return fmt.Errorf("field %d: not an object", i)
		}
		f := &block[i]
		f.name = o.String("name")
		if err := b.field(f, o); err != nil {
			return fmt.Errorf("field %q: %w", f.name, err)
		}
		if truthy(o, "isSearchable") {
			b.searchable[t] = append(b.searchable[t], f.name)
		}
		t.add(f)
	}
	return nil
}

// add appends a field; one with the same name gives way to it.
func (t *typeDef) add(f *fieldDef) {
	if old := t.field(f.name); old != nil {
		*old = *f
		return
	}
	t.fields = append(t.fields, f)
	if t.index != nil {
		t.index[f.name] = f
	}
}

// field reads a field's type and where its values come from.
func (b *builder) field(f *fieldDef, o *bundle.Object) error {
	if err := checkName(f.name); err != nil {
		return err
	}
	f.conf = o.String("type")
	f.typ = b.named(f.conf, truthy(o, "isInterface"))
	if f.typ == nil {
		return fmt.Errorf("there is no %s %q", typeWord(o), f.conf)
	}
	f.listed = truthy(o, "isList")
	f.list = f.listed
	f.required = truthy(o, "isRequired")
	return b.source(f, o)
}

func typeWord(o *bundle.Object) string {
	if truthy(o, "isInterface") {
		return "interface"
	}
	return "object type"
}

// named returns the type that a field names, or nil.
func (b *builder) named(name string, isInterface bool) *typeDef {
	switch name {
	case "string":
		return b.s.scalars.text
	case "int":
		return b.s.scalars.integer
	case "float":
		return b.s.scalars.float
	case "boolean":
		return b.s.scalars.boolean
	case "json":
		return b.s.scalars.json
	}
	t := b.s.types[name]
	if t == nil || (t.kind == kindInterface) != isInterface {
		return nil
	}
	return t
}

// source reads where the values of a field come from.
func (b *builder) source(f *fieldDef, o *bundle.Object) error {
	switch {
	case truthy(o, "datafileSchema"):
		f.kind = resolveDatafiles
		f.schema = bundle.Schema(o.String("datafileSchema"))
		if f.typ.leaf() {
			return fmt.Errorf("datafiles cannot be of type %q", f.conf)
		}
	case truthy(o, "synthetic"):
		v, _ := o.Get("synthetic")
		synthetic, ok := v.(*bundle.Object)
		if !ok {
			return errors.New("synthetic is not an object")
		}
		f.kind = resolveSynthetic
		f.schema = bundle.Schema(synthetic.String("schema"))
		f.attr = synthetic.String("subAttr")
	case !truthy(o, "isResource"):
	case f.conf == "string" && truthy(o, "resolveResource"):
		f.kind = resolveResource
		f.typ, f.list, f.required = b.named("Resource_v1", false), false, false
		if f.typ == nil {
			return errors.New(`it resolves resources, but there is no object type "Resource_v1"`)
		}
	case f.conf == "Resource_v1" && f.typ.kind == kindObject:
		f.kind = resolveResources
		f.args = []*argDef{{name: "path", typ: b.s.scalars.text}, {name: "schema", typ: b.s.scalars.text}}
	}
	return nil
}

// finish makes what needs all types: arguments, possible types and the order.
func (b *builder) finish() {
	for _, t := range b.declared {
		for _, f := range t.fields {
			if f.kind == resolveDatafiles {
				f.args = b.filters(f)
			}
		}
	}
	b.arrange()
	for _, t := range b.s.order {
		if t.kind == kindObject {
			for _, i := range t.interfaces {
				i.possible = append(i.possible, t)
			}
		}
	}
}

// filters returns the arguments of a field of datafiles: its searchable fields,
// path and filter.
func (b *builder) filters(f *fieldDef) []*argDef {
	var args []*argDef
	add := func(name string, typ *typeDef) {
		if a := arg(args, name); a != nil {
			a.typ = typ
			return
		}
		args = append(args, &argDef{name: name, typ: typ})
	}
	for _, name := range b.searchable[f.typ] {
		add(name, b.s.scalars.text)
	}
	add("path", b.s.scalars.text)
	add("filter", b.s.scalars.json)
	return args
}

// arrange lists all types as graphql-js collects them: the object types as the
// bundle has them, each followed by what it names that no list has yet.
func (b *builder) arrange() {
	seen := map[*typeDef]bool{}
	for _, t := range b.declared {
		seen[t] = t.kind == kindObject
	}
	var visit func(*typeDef)
	list := func(t *typeDef) {
		seen[t] = true
		b.s.order = append(b.s.order, t)
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
	visit(b.s.scalars.boolean)
	visit(b.s.scalars.text)
	visit(b.s.scalars.root)
	b.s.types = make(map[string]*typeDef, len(b.s.order))
	for _, t := range b.s.order {
		b.s.types[t.name] = t
	}
}
