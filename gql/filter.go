package gql

import (
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/bundle"
)

// rootArgs are the arguments of a field of datafiles, read once.
type rootArgs struct {
	equal  []bundle.Member // keys that must have a value
	filter *filter         // or nil
	fault  *Error          // the filter is wrong
}

// rootArgs reads the arguments of a field of datafiles. A null argument does
// not restrict anything.
func (s *Schema) rootArgs(def *fieldDef, args map[string]any) (out rootArgs) {
	for _, a := range def.args {
		v, ok := args[a.name]
		switch {
		case !ok || v == nil || out.fault != nil:
		case a.name == "filter":
			out.filter, out.fault = s.filter(def.typ, v)
		default:
			out.equal = append(out.equal, bundle.Member{Key: a.name, Value: v})
		}
	}
	return out
}

// datafiles returns the datafiles that a field asks for. When there is none of
// the schema, qontract-server does not look at the arguments.
func (r *run) datafiles(p *pick) (source, *Error) {
	files := r.engine.bundle.BySchema(p.def.schema)
	if len(files) == 0 {
		return source{value: fileList{}}, nil
	}
	if p.roots.fault != nil {
		return source{}, p.roots.fault.clone()
	}
	list := make(fileList, 0, len(files))
	for i, f := range files {
		if i&255 == 255 && r.ctx.Err() != nil {
			return source{}, r.ended()
		}
		ok, err := r.engine.admits(p, f)
		if err != nil {
			return source{}, err
		}
		if ok {
			list = append(list, f)
		}
	}
	return source{value: list}, nil
}

// admits tells whether a datafile has what the arguments ask for.
func (e *Engine) admits(p *pick, f *bundle.File) (bool, *Error) {
	if len(p.roots.equal) == 0 && p.roots.filter == nil {
		return true, nil
	}
	for _, want := range p.roots.equal {
		if want.Key == "path" {
			if want.Value != string(f.Path) {
				return false, nil
			}
			continue
		}
		if v, _ := f.Object().Get(want.Key); !identical(v, want.Value) {
			return false, nil
		}
	}
	if p.roots.filter == nil {
		return true, nil
	}
	return p.roots.filter.matches(e, f.Object())
}

// A filter is what an argument filter asks for. All its conditions must hold.
type filter struct {
	never      bool
	conditions []condition
}

// A filterKind says how a condition compares.
type filterKind uint8

const (
	filterEqual filterKind = iota // with a value; what is missing is null
	filterList                    // with a list, item by item
	filterIn                      // with any of a list; what is missing is none
	filterNot                     // differs from a value
	filterInner                   // with a filter for what is referred to
)

// A condition is one key of a filter.
type condition struct {
	key   string
	kind  filterKind
	value any
	list  []any
	inner *filter
}

// filter reads a filter for values of a type.
func (s *Schema) filter(t *typeDef, v any) (*filter, *Error) {
	if s.bare {
		return nil, failure("Cannot read properties of undefined (reading 'find')")
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
		return nil, failure("Cannot convert undefined or null to object")
	default:
		return &filter{never: true}, nil
	}
	f := &filter{}
	for _, m := range members {
		def := s.filterField(t, m.Key, 0)
		if def == nil {
			err := failure("Field %q does not exist on type %q", m.Key, t.name)
			err.Code, err.GQLType = CodeFilter, t.name
			return nil, err
		}
		c, err := s.condition(def, m.Key, m.Value)
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
	if t.kind == kindInterface && !t.resolver.bySchema && asked < maxResolvers {
		for _, target := range slices.Backward(t.resolver.names) {
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
func (s *Schema) condition(def *fieldDef, key string, v any) (condition, *Error) {
	c := condition{key: key, value: v}
	if list, ok := v.([]any); ok && def.listed {
		c.kind, c.list = filterList, list
		return c, nil
	}
	o, ok := v.(*bundle.Object)
	if !ok {
		return c, nil
	}
	if in, ok := o.Get("in"); ok {
		list, err := iterate(in)
		c.kind, c.list = filterIn, list
		return c, err
	}
	if inner, ok := o.Get("filter"); ok {
		c.kind = filterInner
		t := s.types[def.conf]
		if t == nil {
			return c, failure("Cannot read properties of undefined (reading 'fields')")
		}
		var err *Error
		c.inner, err = s.filter(t, inner)
		return c, err
	}
	if not, ok := o.Get("ne"); ok {
		c.kind, c.value = filterNot, not
	}
	return c, nil
}

// matches tells whether a value has what the filter asks for.
func (f *filter) matches(e *Engine, v any) (bool, *Error) {
	if f.never {
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
	case filterEqual:
		found, _ := property(v, c.key)
		return identical(found, c.value), nil
	case filterList:
		found, _ := property(v, c.key)
		list, ok := found.([]any)
		return ok && slices.EqualFunc(list, c.list, identical), nil
	}
	if files, ok := v.(fileList); ok {
		v = files.values()
	}
	list, ok := v.([]any)
	if !ok {
		return c.holds(e, v)
	}
	for _, item := range list {
		if ok, err := c.holds(e, item); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// holds tells whether the condition holds for a value by itself.
func (c *condition) holds(e *Engine, v any) (bool, *Error) {
	if c.kind == filterIn {
		return c.contains(v)
	}
	if v == nil {
		return false, failure("Cannot read properties of null (reading '%s')", c.key)
	}
	found, ok := property(v, c.key)
	if c.kind == filterNot {
		return !identical(found, c.value), nil
	}
	if !ok || found == nil {
		return false, nil
	}
	target, isNull := e.follow(source{value: found})
	if isNull {
		return false, failure("Cannot read properties of null (reading 'constructor')")
	}
	if target.value == nil {
		return false, nil
	}
	return c.inner.matches(e, target.value)
}

func (c *condition) contains(v any) (bool, *Error) {
	switch v.(type) {
	case *bundle.Object, []any:
	default:
		return false, failure("Cannot use 'in' operator to search for '%s' in %s", c.key, jsText(v))
	}
	found, ok := property(v, c.key)
	return ok && slices.ContainsFunc(c.list, func(want any) bool { return identical(found, want) }), nil
}

// identical tells whether JavaScript's === holds for two values. Objects and
// lists of the query are never those of the data.
func identical(a, b any) bool {
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
		return ok && (a == b || number(a) == number(b))
	}
	return false
}
