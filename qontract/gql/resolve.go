package gql

import (
	"slices"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// resolveField returns the value of a field in the data.
func (r *run) resolveField(field *selectedField, from dataValue) (dataValue, *Error) {
	if field.fault != nil {
		return dataValue{}, field.fault.clone()
	}
	if _, ok := from.value.(undefined); ok && field.def.resolver != resolveTypename &&
		field.def.resolver != resolveIntrospection {
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
		path, schema := field.stringArgument("path"), field.stringArgument("schema")
		r.observed.noteResources(path)
		return dataValue{r.engine.selectResources(path, schema), true}, nil
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

// firstKeyRead returns the first key of the parent that the resolver of qontract-server
// reads, or "". It is part of the error message if there is no parent.
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

// resolveProperty reads the value of a field from the data of its parent.
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
	out, isNull := r.data().followReference(dataValue{v, from.fromResource})
	if isNull {
		return dataValue{}, internalError("Cannot read properties of null (reading 'constructor')")
	}
	return out, nil
}

// followReference replaces a reference by its target. It replaces the items of a list by
// their targets if all of them are references. isNull reports whether the value or an item
// of it is an explicit null, which is an error in qontract-server.
func (d dataReader) followReference(v dataValue) (out dataValue, isNull bool) {
	switch value := v.value.(type) {
	case nil:
		return dataValue{}, true
	case *bundle.Object:
		if target, ok := referenceTarget(value); ok {
			return dataValue{value: d.targetObject(target)}, false
		}
	case []any:
		if slices.Contains(value, nil) {
			return dataValue{}, true
		}
		if files, ok := d.referenceTargets(value); ok {
			return dataValue{value: files}, false
		}
	}
	return v, false
}

// datafileOf returns the datafile that a reference leads to, or nil.
func (d dataReader) datafileOf(target any) *bundle.File {
	s, _ := target.(string)
	f, _ := d.engine.bundle.Datafile(bundle.Path(s))
	d.observed.noteTarget(s, f)
	return f
}

// targetObject returns the decoded datafile that a reference leads to, or nil.
func (d dataReader) targetObject(target any) any {
	if f := d.datafileOf(target); f != nil {
		return f.Object()
	}
	return nil
}

// referenceTargets returns the targets of a list. It is not ok if the list is empty or has
// an item that is not a reference.
func (d dataReader) referenceTargets(list []any) (fileList, bool) {
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
		files[i] = d.datafileOf(target)
	}
	return files, true
}

// selectResources returns the resource with a path, or else all resources of a schema, or
// else all resources.
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
