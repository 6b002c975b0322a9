package gql

import (
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/bundle"
)

// rootArguments are the arguments of a root field that lists datafiles.
type rootArguments struct {
	keys   []bundle.Member // key and the value that it must have
	filter *filter         // nil if there is none
	fault  *Error          // error in the filter, or nil
}

// parseRootArguments converts the arguments of a root field that lists datafiles. An
// argument that is null has no effect.
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

// A filter is the value of the argument "filter". An object passes if all conditions hold.
type filter struct {
	matchesNothing bool // no object passes
	conditions     []condition
}

// A conditionKind says how a condition compares.
type conditionKind uint8

const (
	conditionEqual  conditionKind = iota // equals a value; a missing key counts as null
	conditionList                        // equals a list, item by item
	conditionIn                          // equals any item of a list; a missing key equals none
	conditionNot                         // differs from a value
	conditionFilter                      // the object under the key, or the target of a reference, passes another filter
)

// A condition is one key of a filter.
type condition struct {
	key   string
	kind  conditionKind
	value any
	list  []any
	inner *filter
}

// parseFilter converts a filter for values of a type.
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

// parseCondition converts the condition on one field.
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
