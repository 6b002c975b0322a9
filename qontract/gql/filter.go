package gql

import (
	"fmt"
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
