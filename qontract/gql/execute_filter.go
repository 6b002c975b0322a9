package gql

import (
	"fmt"
	"math"
	"slices"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// rootArguments are the arguments of a root field that lists datafiles.
type rootArguments struct {
	keys   []bundle.Member // key and the value that it must have
	filter *filter         // nil if there is none
}

// parseRootArguments converts the arguments of a root field that lists datafiles. An
// argument that is null has no effect.
func (s *Schema) parseRootArguments(def *fieldDef, args map[string]any) (out rootArguments) {
	for _, a := range def.args {
		v, ok := args[a.name]
		switch {
		case !ok || v == nil:
		case a.name == "filter":
			out.filter = s.parseFilter(def.typ, v)
		default:
			out.keys = append(out.keys, bundle.Member{Key: a.name, Value: v})
		}
	}
	return out
}

// A filter is the value of the argument "filter". An object passes if all conditions hold.
type filter struct {
	matchesNothing bool // no object passes
	conditions     []condition
	// fault is an error of the filter as a whole, such as the first key that the type lacks; nil if there is none. It
	// comes before any condition is judged.
	fault *Error
}

// A conditionKind says how a condition compares.
type conditionKind uint8

const (
	conditionEqual  conditionKind = iota // equals a value; a missing key counts as null
	conditionList                        // equals a list, item by item
	conditionIn                          // equals any item of a list; a missing key equals none
	conditionNot                         // differs from a value
	conditionFilter                      // the object under the key, or the target of a reference, passes another filter
	conditionFault                       // an error for each object that gets there: none of an empty list does
)

// A condition is one key of a filter. A mistake in its value is a condition, too: qontract-server notices it when
// it judges an object, and only if the conditions before it hold.
type condition struct {
	key   string
	kind  conditionKind
	value any
	list  []any
	inner *filter
	fault *Error
}

// faultyCondition returns a condition that is an error.
func faultyCondition(fault *Error) condition { return condition{kind: conditionFault, fault: fault} }

// parseFilter converts a filter for values of a type.
func (s *Schema) parseFilter(t *typeDef, v any) *filter {
	f := &filter{}
	if s.isBareList {
		f.fault = internalError("Cannot read properties of undefined (reading 'find')")
		return f
	}
	var members []bundle.Member
	switch v := v.(type) {
	case *bundle.Object:
		members = jsMembers(v)
	case []any:
		for i, item := range v {
			members = append(members, bundle.Member{Key: fmt.Sprint(i), Value: item})
		}
	case nil:
		f.fault = internalError("Cannot convert undefined or null to object")
		return f
	default:
		f.matchesNothing = true
		return f
	}
	for _, m := range members {
		if s.filterField(t, m.Key, 0) == nil {
			f.fault = internalError("Field %q does not exist on type %q", m.Key, t.name)
			f.fault.Code, f.fault.GQLType = CodeFilter, t.name
			return f
		}
	}
	for _, m := range members {
		f.conditions = append(f.conditions, s.parseCondition(t, m.Key, m.Value))
	}
	return f
}

// filterField returns the field that a key of a filter names, or nil. An interface also has
// the fields of all types that it resolves to. asked counts the interfaces around this one.
func (s *Schema) filterField(t *typeDef, name string, asked int) *fieldDef {
	if t.kind == kindInterface && !t.resolver.bySchema && asked < maxInterfaces {
		for _, target := range slices.Backward(t.resolver.typeNames) {
			if object := s.types[target]; object != nil {
				if f := s.filterField(object, name, asked+1); f != nil {
					return f
				}
			}
		}
	}
	return t.field(name)
}

// parseCondition converts the condition on a field that a type has.
func (s *Schema) parseCondition(t *typeDef, key string, v any) condition {
	def := s.filterField(t, key, 0)
	c := condition{key: key, value: v}
	if list, ok := v.([]any); ok && def.isList {
		c.kind, c.list = conditionList, list
		return c
	}
	o, ok := v.(*bundle.Object)
	if !ok {
		return c
	}
	if in, ok := o.Get("in"); ok {
		list, err := jsItems(in)
		if err != nil {
			return faultyCondition(err)
		}
		c.kind, c.list = conditionIn, list
		return c
	}
	if inner, ok := o.Get("filter"); ok {
		on := s.types[def.bundleType]
		if on == nil {
			return faultyCondition(internalError("Cannot read properties of undefined (reading 'name')"))
		}
		c.kind, c.inner = conditionFilter, s.parseFilter(on, inner)
		return c
	}
	if not, ok := o.Get("ne"); ok {
		c.kind, c.value = conditionNot, not
	}
	return c
}

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

// lostNumber returns the path in a JSON scalar of a number for which JavaScript has no value, if
// the request asks for exact numbers.
func (r *run) lostNumber(kind scalarKind, v any) (path []any, isLost bool) {
	if kind != scalarJSON || !r.query.isExact {
		return nil, false
	}
	return findLost(v)
}

// findLost returns the path of the first number for which JavaScript has no value.
func findLost(v any) (path []any, isLost bool) {
	switch v := v.(type) {
	case bundle.Number:
		f := jsNumber(v)
		return nil, math.IsInf(f, 0) || math.IsNaN(f)
	case []any:
		for i, item := range v {
			if path, isLost = findLost(item); isLost {
				return append([]any{i}, path...), true
			}
		}
	case fileList:
		return findLost(v.objects())
	case *bundle.Object:
		for _, m := range v.Members() {
			if path, isLost = findLost(m.Value); isLost {
				return append([]any{m.Key}, path...), true
			}
		}
	}
	return nil, false
}

// lostError returns the error about a number at a path in the value of a field.
func (r *run) lostError(field *selectedField, at []any) *Error {
	err := r.addPlace(internalError("the number is beyond 1.8e308, and a server of JavaScript answers null"), field)
	err.Path = append(err.Path, at...)
	r.values += len(at)
	return err
}
