package validate

import (
	"slices"

	"github.com/app-sre/prcheck/integrations/generic/rules"
	"github.com/app-sre/prcheck/openapi"
)

// A shape is what the schemas of a value say about it and its parts.
type shape struct {
	wrong    []wrong
	members  map[string]part // of an object
	names    []string        // of all properties
	required []string
	variants *openapi.Variants
	items    []*openapi.Schema // of a list
}

// A part is a member of an object or the item of a list.
type part struct {
	schemas []*openapi.Schema
	isKnown bool // false: no schema has it, and none takes any members
}

// shape reads schemas along a value. This is the only place that reads them.
func (t *Type) shape(v any, rule rules.Rule, schemas []*openapi.Schema) (s shape, err error) {
	if t.Lock != nil {
		defer t.Lock()()
	}
	if s.wrong, err = t.wrongs(v, rule, schemas); err != nil {
		return s, err
	}
	switch v := v.(type) {
	case map[string]any:
		err = s.object(v, schemas)
	case []any:
		var items part
		items, err = children(schemas, (*openapi.Schema).ItemsOf)
		s.items = items.schemas
	}
	return s, err
}

func (s *shape) object(object map[string]any, schemas []*openapi.Schema) (err error) {
	s.members = make(map[string]part, len(object))
	for name := range object {
		if s.members[name], err = children(schemas, func(o *openapi.Schema) (*openapi.Schema, error) { return member(o, name) }); err != nil {
			return err
		}
	}
	for _, one := range schemas {
		names, err := one.Properties()
		if err != nil {
			return err
		}
		s.names = append(s.names, names...)
	}
	if len(schemas) == 0 {
		return nil
	}
	if s.required, err = schemas[0].Required(); err != nil {
		return err
	}
	slices.Sort(s.required)
	s.required = slices.Compact(s.required)
	s.variants, err = schemas[0].Variants()
	return err
}

// member returns the schema of a member of an object: of its property, or of the values of a
// map.
func member(s *openapi.Schema, name string) (*openapi.Schema, error) {
	inner, err := s.Property(name)
	if err != nil || inner != nil {
		return inner, err
	}
	return s.ValuesOf()
}

// children returns a part of a value. If no schema describes it, one of them must take
// anything.
func children(schemas []*openapi.Schema, find func(*openapi.Schema) (*openapi.Schema, error)) (part, error) {
	isOpen := len(schemas) == 0
	var out part
	for _, s := range schemas {
		inner, err := find(s)
		if err != nil {
			return part{}, err
		}
		if inner != nil {
			out.schemas, out.isKnown = append(out.schemas, inner), true
			continue
		}
		takes, err := takesAny(s)
		if err != nil {
			return part{}, err
		}
		isOpen = isOpen || takes
	}
	if isOpen {
		return part{isKnown: true}, nil
	}
	return out, nil
}

// takesAny reports whether a schema takes members that it does not name.
func takesAny(s *openapi.Schema) (bool, error) {
	if isOpen, err := s.IsOpen(); isOpen || err != nil {
		return isOpen, err
	}
	for _, keyword := range []string{"additionalProperties", "x-kubernetes-preserve-unknown-fields"} {
		at, err := s.Keyword(keyword)
		if err != nil || at.Value.Is() {
			return err == nil, err
		}
	}
	return false, nil
}
