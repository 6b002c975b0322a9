package gql

import (
	"slices"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// selectDatafiles returns the datafiles that a root field asks for. If no datafile has the
// schema, qontract-server does not evaluate the arguments, so an error in them does not
// show.
func (r *run) selectDatafiles(field *selectedField) (dataValue, *Error) {
	files := r.engine.bundle.BySchema(field.def.schema)
	if len(files) == 0 {
		return dataValue{value: fileList{}}, nil
	}
	if f := field.rootArgs.filter; f != nil && f.fault != nil {
		return dataValue{}, f.fault.clone()
	}
	files = r.engine.candidates(field.def.schema, field.rootArgs)
	list := make(fileList, 0, len(files))
	for i, f := range files {
		if i&255 == 255 && r.ctx.Err() != nil {
			return dataValue{}, r.stopByContext()
		}
		ok, err := r.data().matchesArguments(field, f)
		if err != nil {
			return dataValue{}, err
		}
		if ok {
			list = append(list, f)
		}
	}
	return dataValue{value: list}, nil
}

// matchesArguments reports whether a datafile passes the arguments of a root field.
func (d dataReader) matchesArguments(field *selectedField, f *bundle.File) (bool, *Error) {
	if len(field.rootArgs.keys) == 0 && field.rootArgs.filter == nil {
		return true, nil
	}
	for _, want := range field.rootArgs.keys {
		if want.Key == "path" {
			if want.Value != string(f.Path) {
				return false, nil
			}
			continue
		}
		if v, _ := f.Object().Get(want.Key); !strictEqual(v, want.Value) {
			return false, nil
		}
	}
	if field.rootArgs.filter == nil {
		return true, nil
	}
	return field.rootArgs.filter.matches(d, f.Object())
}

// matches reports whether a value passes the filter.
func (f *filter) matches(d dataReader, v any) (bool, *Error) {
	switch {
	case f.fault != nil:
		return false, f.fault.clone()
	case f.matchesNothing:
		return false, nil
	}
	for i := range f.conditions {
		ok, err := f.conditions[i].matches(d, v)
		if !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// matches reports whether a value fulfills the condition. If the value is a list, every
// item must fulfill a condition that is written as an object (in, ne or filter).
func (c *condition) matches(d dataReader, v any) (bool, *Error) {
	switch c.kind {
	case conditionEqual:
		found, _ := property(v, c.key)
		return strictEqual(found, c.value), nil
	case conditionList:
		found, _ := property(v, c.key)
		list, ok := found.([]any)
		return ok && slices.EqualFunc(list, c.list, strictEqual), nil
	}
	if files, ok := v.(fileList); ok {
		v = files.objects()
	}
	list, ok := v.([]any)
	if !ok {
		return c.matchesSingle(d, v)
	}
	for _, item := range list {
		if ok, err := c.matchesSingle(d, item); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// matchesSingle reports whether a value that is not a list fulfills the condition.
func (c *condition) matchesSingle(d dataReader, v any) (bool, *Error) {
	switch c.kind {
	case conditionFault:
		return false, c.fault.clone()
	case conditionIn:
		return c.isInList(v)
	}
	if v == nil {
		return false, internalError("Cannot read properties of null (reading '%s')", c.key)
	}
	found, ok := property(v, c.key)
	if c.kind == conditionNot {
		return !strictEqual(found, c.value), nil
	}
	if !ok {
		return false, nil
	}
	if found == nil {
		return false, internalError("Cannot read properties of null (reading 'constructor')")
	}
	target, isNull := d.followReference(dataValue{value: found})
	if isNull {
		return false, internalError("Cannot read properties of null (reading 'constructor')")
	}
	if target.value == nil {
		return false, nil
	}
	return c.inner.matches(d, target.value)
}

// isInList reports whether a value fulfills a condition of kind conditionIn.
func (c *condition) isInList(v any) (bool, *Error) {
	switch v.(type) {
	case *bundle.Object, []any:
	default:
		return false, internalError("Cannot use 'in' operator to search for '%s' in %s", c.key, jsText(v))
	}
	found, ok := property(v, c.key)
	return ok && slices.ContainsFunc(c.list, func(want any) bool { return strictEqual(found, want) }), nil
}
