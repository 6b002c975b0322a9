package gql

import (
	"slices"

	"github.com/app-sre/prcheck/bundle"
)

// resolve finds the value of a field.
func (r *run) resolveField(field *selectedField, from dataValue) (dataValue, *Error) {
	if field.fault != nil {
		return dataValue{}, field.fault.clone()
	}
	if _, ok := from.value.(undefined); ok && field.def.resolver != resolveTypename && field.def.resolver != resolveIntrospection {
		if key := field.def.firstKeyRead(); key != "" {
			return dataValue{}, internalError("Cannot read properties of undefined (reading '%s')", key)
		}
	}
	switch field.def.resolver {
	case resolveTypename:
		return dataValue{value: field.parent.name}, nil
	case resolveIntrospection:
		return dataValue{value: r.query.schema.introspect(field, from.value)}, nil
	case resolveDatafiles:
		return r.selectDatafiles(field)
	case resolveResources:
		return dataValue{r.engine.selectResources(field.stringArgument("path"), field.stringArgument("schema")), true}, nil
	case resolveSynthetic:
		path, _ := property(from.value, "path")
		s, ok := path.(string)
		if !ok {
			return dataValue{value: fileList{}}, nil
		}
		return dataValue{value: r.engine.filesReferringTo(field.def.schema, field.def.subAttr, s)}, nil
	case resolveResource:
		path, _ := property(from.value, field.def.name)
		if s, ok := path.(string); ok {
			if f, ok := r.engine.bundle.Resource(bundle.Path(s)); ok {
				return dataValue{f.Object(), true}, nil
			}
		}
		return dataValue{}, nil
	}
	return r.resolveProperty(field, from)
}

// readsParent returns the first key that resolving the field reads of the
// parent, or "".
func (f *fieldDef) firstKeyRead() string {
	switch f.resolver {
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
func (r *run) resolveProperty(field *selectedField, from dataValue) (dataValue, *Error) {
	o, ok := from.value.(*bundle.Object)
	if !ok {
		return dataValue{}, nil
	}
	r.noteSchema(o, from.fromResource)
	if r.observed != nil {
		r.observed.noteField(o, field.def.name)
	}
	if field.def.name == "schema" {
		v, _ := o.Get("$schema")
		return dataValue{v, from.fromResource}, nil
	}
	v, ok := o.Get(field.def.name)
	if !ok {
		return dataValue{}, nil
	}
	out, isNull := r.engine.followReference(dataValue{v, from.fromResource})
	if isNull {
		return dataValue{}, internalError("Cannot read properties of null (reading 'constructor')")
	}
	return out, nil
}

// follow replaces a reference by its target, and a list of nothing but
// references by their targets. It tells whether the value, or an item of it, is
// an explicit null, over which qontract-server stumbles.
func (e *Engine) followReference(v dataValue) (out dataValue, isNull bool) {
	switch value := v.value.(type) {
	case nil:
		return dataValue{}, true
	case *bundle.Object:
		if target, ok := referenceTarget(value); ok {
			return dataValue{value: e.targetObject(target)}, false
		}
	case []any:
		if slices.Contains(value, nil) {
			return dataValue{}, true
		}
		if files, ok := e.referenceTargets(value); ok {
			return dataValue{value: files}, false
		}
	}
	return v, false
}

// reference returns the target of an object whose only key is $ref.
func referenceTarget(v any) (any, bool) {
	o, ok := v.(*bundle.Object)
	if !ok || o.Len() != 1 {
		return nil, false
	}
	return o.Get("$ref")
}

func (e *Engine) datafileOf(target any) *bundle.File {
	s, _ := target.(string)
	f, _ := e.bundle.Datafile(bundle.Path(s))
	return f
}

func (e *Engine) targetObject(target any) any {
	if f := e.datafileOf(target); f != nil {
		return f.Object()
	}
	return nil
}

// targets returns the targets of a list of references, when it is one.
func (e *Engine) referenceTargets(list []any) (fileList, bool) {
	if len(list) == 0 {
		return nil, false
	}
	for _, item := range list {
		if _, ok := referenceTarget(item); !ok {
			return nil, false
		}
	}
	files := make(fileList, len(list))
	for i, item := range list {
		target, _ := referenceTarget(item)
		files[i] = e.datafileOf(target)
	}
	return files, true
}

// resources returns the resource with a path, or all of a schema, or all.
func (e *Engine) selectResources(path, schema string) fileList {
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
func (s *Schema) objectType(t *typeDef, v any, field *selectedField) (*typeDef, *Error) {
	name, ok := s.typeName(t, v, 0)
	if !ok {
		return nil, internalError("Abstract type %q must resolve to an Object type at runtime for field \"%s.%s\". "+
			"Either the %q type should provide a \"resolveType\" function or each possible type should provide an \"isTypeOf\" function.",
			t.name, field.parent.name, field.def.name, t.name)
	}
	found := s.types[name]
	switch {
	case found == nil:
		return nil, internalError("Abstract type %q was resolved to a type %q that does not exist inside the schema.", t.name, name)
	case found.kind != kindObject:
		return nil, internalError("Abstract type %q was resolved to a non-object type %q.", t.name, name)
	case !found.isSubtypeOf(t):
		return nil, internalError("Runtime Object type %q is not a possible type for %q.", name, t.name)
	}
	return found, nil
}

// maxResolvers bounds how many interfaces are asked in turn.
const maxInterfaces = 10

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
	bound := s.bySchema[bundle.Schema(name)]
	switch {
	case bound == nil:
		return "", false
	case bound.kind != kindInterface:
		return bound.name, true
	case asked == maxInterfaces:
		return "", false
	}
	return s.typeName(bound, v, asked+1)
}
