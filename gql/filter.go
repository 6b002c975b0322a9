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
