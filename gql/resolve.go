package gql

import (
	"slices"

	"github.com/app-sre/prcheck/bundle"
)

// resolve finds the value of a field.
func (r *run) resolve(p *pick, from source) (source, *Error) {
	if p.fault != nil {
		return source{}, p.fault.clone()
	}
	if _, ok := from.value.(undefined); ok && p.def.kind != resolveTypename && p.def.kind != resolveMeta {
		if key := p.def.readsParent(); key != "" {
			return source{}, failure("Cannot read properties of undefined (reading '%s')", key)
		}
	}
	switch p.def.kind {
	case resolveTypename:
		return source{value: p.parent.name}, nil
	case resolveMeta:
		return source{value: r.query.schema.meta(p, from.value)}, nil
	case resolveDatafiles:
		return r.datafiles(p)
	case resolveResources:
		return source{r.engine.resources(p.text("path"), p.text("schema")), true}, nil
	case resolveSynthetic:
		path, _ := property(from.value, "path")
		s, ok := path.(string)
		if !ok {
			return source{value: fileList{}}, nil
		}
		return source{value: r.engine.referring(p.def.schema, p.def.attr, s)}, nil
	case resolveResource:
		path, _ := property(from.value, p.def.name)
		if s, ok := path.(string); ok {
			if f, ok := r.engine.bundle.Resource(bundle.Path(s)); ok {
				return source{f.Object(), true}, nil
			}
		}
		return source{}, nil
	}
	return r.read(p, from)
}

// readsParent returns the first key that resolving the field reads of the
// parent, or "".
func (f *fieldDef) readsParent() string {
	switch f.kind {
	case resolveDefault:
		return "$schema"
	case resolveSynthetic:
		return "path"
	case resolveResource:
		return f.name
	}
	return ""
}

// property returns what a value has under a key. Only objects have something.
func property(v any, key string) (any, bool) {
	if o, ok := v.(*bundle.Object); ok {
		return o.Get(key)
	}
	return nil, false
}

// read takes the value of a field from the parent's data.
func (r *run) read(p *pick, from source) (source, *Error) {
	o, ok := from.value.(*bundle.Object)
	if !ok {
		return source{}, nil
	}
	r.touch(o, from.resource)
	if r.seen != nil {
		r.seen.field(o, p.def.name)
	}
	if p.def.name == "schema" {
		v, _ := o.Get("$schema")
		return source{v, from.resource}, nil
	}
	v, ok := o.Get(p.def.name)
	if !ok {
		return source{}, nil
	}
	out, isNull := r.engine.follow(source{v, from.resource})
	if isNull {
		return source{}, failure("Cannot read properties of null (reading 'constructor')")
	}
	return out, nil
}

// follow replaces a reference by its target, and a list of nothing but
// references by their targets. It tells whether the value, or an item of it, is
// an explicit null, over which qontract-server stumbles.
func (e *Engine) follow(v source) (out source, isNull bool) {
	switch value := v.value.(type) {
	case nil:
		return source{}, true
	case *bundle.Object:
		if target, ok := reference(value); ok {
			return source{value: e.target(target)}, false
		}
	case []any:
		if slices.Contains(value, nil) {
			return source{}, true
		}
		if files, ok := e.targets(value); ok {
			return source{value: files}, false
		}
	}
	return v, false
}

// reference returns the target of an object whose only key is $ref.
func reference(v any) (any, bool) {
	o, ok := v.(*bundle.Object)
	if !ok || o.Len() != 1 {
		return nil, false
	}
	return o.Get("$ref")
}

func (e *Engine) file(target any) *bundle.File {
	s, _ := target.(string)
	f, _ := e.bundle.Datafile(bundle.Path(s))
	return f
}

func (e *Engine) target(target any) any {
	if f := e.file(target); f != nil {
		return f.Object()
	}
	return nil
}

// targets returns the targets of a list of references, when it is one.
func (e *Engine) targets(list []any) (fileList, bool) {
	if len(list) == 0 {
		return nil, false
	}
	for _, item := range list {
		if _, ok := reference(item); !ok {
			return nil, false
		}
	}
	files := make(fileList, len(list))
	for i, item := range list {
		target, _ := reference(item)
		files[i] = e.file(target)
	}
	return files, true
}

// resources returns the resource with a path, or all of a schema, or all.
func (e *Engine) resources(path, schema string) fileList {
	if path != "" {
		f, _ := e.bundle.Resource(bundle.Path(path))
		return fileList{f}
	}
	all := e.bundle.Resources()
	list := make(fileList, 0, len(all))
	for _, f := range all {
		if schema == "" || string(f.Schema) == schema {
			list = append(list, f)
		}
	}
	return list
}

// objectType finds the object type of a value of an interface.
func (s *Schema) objectType(t *typeDef, v any, p *pick) (*typeDef, *Error) {
	name, ok := s.typeName(t, v, 0)
	if !ok {
		return nil, failure("Abstract type %q must resolve to an Object type at runtime for field \"%s.%s\". "+
			"Either the %q type should provide a \"resolveType\" function or each possible type should provide an \"isTypeOf\" function.",
			t.name, p.parent.name, p.def.name, t.name)
	}
	found := s.types[name]
	switch {
	case found == nil:
		return nil, failure("Abstract type %q was resolved to a type %q that does not exist inside the schema.", t.name, name)
	case found.kind != kindObject:
		return nil, failure("Abstract type %q was resolved to a non-object type %q.", t.name, name)
	case !found.is(t):
		return nil, failure("Runtime Object type %q is not a possible type for %q.", name, t.name)
	}
	return found, nil
}

// maxResolvers bounds how many interfaces are asked in turn.
const maxResolvers = 10

// typeName asks an interface for the name of a value's type. When the schema of
// the value is bound to an interface, that one is asked.
func (s *Schema) typeName(t *typeDef, v any, asked int) (string, bool) {
	if !t.resolver.bySchema {
		value, ok := property(v, t.resolver.field)
		key := "undefined"
		if ok {
			key = jsText(value)
		}
		name, ok := t.resolver.types[key]
		return name, ok
	}
	schema, _ := property(v, "$schema")
	name, _ := schema.(string)
	bound := s.bound[bundle.Schema(name)]
	switch {
	case bound == nil:
		return "", false
	case bound.kind != kindInterface:
		return bound.name, true
	case asked == maxResolvers:
		return "", false
	}
	return s.typeName(bound, v, asked+1)
}
