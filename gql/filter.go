package gql

import (
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/bundle"
)

// rootArgs are the arguments of a field of datafiles, read once.
type rootArguments struct {
	keys   []bundle.Member // keys that must have a value
	filter *filter         // or nil
	fault  *Error          // the filter is wrong
}

// rootArgs reads the arguments of a field of datafiles. A null argument does
// not restrict anything.
func (s *Schema) parseRootArguments(def *fieldDef, args map[string]any) (out rootArguments) {
	for _, a := range def.args {
		v, ok := args[a.name]
		switch {
		case !ok || v == nil || out.fault != nil:
		case a.name == "filter":
			out.filter, out.fault = s.parseFilter(def.typ, v)
		default:
			out.keys = append(out.keys, bundle.Member{Key: a.name, Value: v})
		}
	}
	return out
}

// datafiles returns the datafiles that a field asks for. When there is none of
// the schema, qontract-server does not look at the arguments.
func (r *run) selectDatafiles(field *selectedField) (dataValue, *Error) {
	files := r.engine.bundle.BySchema(field.def.schema)
	if len(files) == 0 {
		return dataValue{value: fileList{}}, nil
	}
	if field.rootArgs.fault != nil {
		return dataValue{}, field.rootArgs.fault.clone()
	}
	list := make(fileList, 0, len(files))
	for i, f := range files {
		if i&255 == 255 && r.ctx.Err() != nil {
			return dataValue{}, r.stopByContext()
		}
		ok, err := r.engine.matchesArguments(field, f)
		if err != nil {
			return dataValue{}, err
		}
		if ok {
			list = append(list, f)
		}
	}
	return dataValue{value: list}, nil
}

// admits tells whether a datafile has what the arguments ask for.
func (e *Engine) matchesArguments(field *selectedField, f *bundle.File) (bool, *Error) {
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
	return field.rootArgs.filter.matches(e, f.Object())
}

// A filter is what an argument filter asks for. All its conditions must hold.
type filter struct {
	matchesNothing bool
	conditions     []condition
}

// A filterKind says how a condition compares.
type conditionKind uint8

const (
	conditionEqual  conditionKind = iota // with a value; what is missing is null
	conditionList                        // with a list, item by item
	conditionIn                          // with any of a list; what is missing is none
	conditionNot                         // differs from a value
	conditionFilter                      // with a filter for what is referred to
)

// A condition is one key of a filter.
type condition struct {
	key   string
	kind  conditionKind
	value any
	list  []any
	inner *filter
}

// filter reads a filter for values of a type.
func (s *Schema) parseFilter(t *typeDef, v any) (*filter, *Error) {
	if s.isBareList {
		return nil, internalError("Cannot read properties of undefined (reading 'find')")
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
		return nil, internalError("Cannot convert undefined or null to object")
	default:
		return &filter{matchesNothing: true}, nil
	}
	f := &filter{}
	for _, m := range members {
		def := s.filterField(t, m.Key, 0)
		if def == nil {
			err := internalError("Field %q does not exist on type %q", m.Key, t.name)
			err.Code, err.GQLType = CodeFilter, t.name
			return nil, err
		}
		c, err := s.parseCondition(def, m.Key, m.Value)
		if err != nil {
			return nil, err
		}
		f.conditions = append(f.conditions, c)
	}
	return f, nil
}

// filterField returns the field that a filter names. The fields of all types
// that an interface maps to count as its own.
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

// condition reads the condition on one field.
func (s *Schema) parseCondition(def *fieldDef, key string, v any) (condition, *Error) {
	c := condition{key: key, value: v}
	if list, ok := v.([]any); ok && def.isList {
		c.kind, c.list = conditionList, list
		return c, nil
	}
	o, ok := v.(*bundle.Object)
	if !ok {
		return c, nil
	}
	if in, ok := o.Get("in"); ok {
		list, err := jsItems(in)
		c.kind, c.list = conditionIn, list
		return c, err
	}
	if inner, ok := o.Get("filter"); ok {
		c.kind = conditionFilter
		t := s.types[def.bundleType]
		if t == nil {
			return c, internalError("Cannot read properties of undefined (reading 'fields')")
		}
		var err *Error
		c.inner, err = s.parseFilter(t, inner)
		return c, err
	}
	if not, ok := o.Get("ne"); ok {
		c.kind, c.value = conditionNot, not
	}
	return c, nil
}

// matches tells whether a value has what the filter asks for.
func (f *filter) matches(e *Engine, v any) (bool, *Error) {
	if f.matchesNothing {
		return false, nil
	}
	for i := range f.conditions {
		ok, err := f.conditions[i].matches(e, v)
		if !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// matches tells whether the condition holds. Those that are written as an
// object must hold for every item when the value is a list.
func (c *condition) matches(e *Engine, v any) (bool, *Error) {
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
		return c.matchesSingle(e, v)
	}
	for _, item := range list {
		if ok, err := c.matchesSingle(e, item); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// holds tells whether the condition holds for a value by itself.
func (c *condition) matchesSingle(e *Engine, v any) (bool, *Error) {
	if c.kind == conditionIn {
		return c.isInList(v)
	}
	if v == nil {
		return false, internalError("Cannot read properties of null (reading '%s')", c.key)
	}
	found, ok := property(v, c.key)
	if c.kind == conditionNot {
		return !strictEqual(found, c.value), nil
	}
	if !ok || found == nil {
		return false, nil
	}
	target, isNull := e.followReference(dataValue{value: found})
	if isNull {
		return false, internalError("Cannot read properties of null (reading 'constructor')")
	}
	if target.value == nil {
		return false, nil
	}
	return c.inner.matches(e, target.value)
}

func (c *condition) isInList(v any) (bool, *Error) {
	switch v.(type) {
	case *bundle.Object, []any:
	default:
		return false, internalError("Cannot use 'in' operator to search for '%s' in %s", c.key, jsText(v))
	}
	found, ok := property(v, c.key)
	return ok && slices.ContainsFunc(c.list, func(want any) bool { return strictEqual(found, want) }), nil
}

// identical tells whether JavaScript's === holds for two values. Objects and
// lists of the query are never those of the data.
func strictEqual(a, b any) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case bool:
		b, ok := b.(bool)
		return ok && a == b
	case string:
		b, ok := b.(string)
		return ok && a == b
	case bundle.Number:
		b, ok := b.(bundle.Number)
		return ok && (a == b || jsNumber(a) == jsNumber(b))
	}
	return false
}
