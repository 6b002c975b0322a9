package validate

import (
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/openapi"
)

// A shape is what the schemas of a value say about it and its parts.
type shape struct {
	wrong    []wrong
	members  map[string]part // of an object
	names    [][]string      // of all properties, by schema
	required []string        // sorted
	forms    *forms
	items    []*openapi.Schema // of a list
}

// A part is a member of an object or the item of a list.
type part struct {
	schemas []*openapi.Schema
	isKnown bool // false: no schema has it, and none takes any members
}

// shape reads schemas along a value. This is the only place that reads them.
func (t *Checker) shape(v any, rule rules.Rule, schemas []*openapi.Schema, near *nearNames) (s shape, err error) {
	if t.Lock != nil {
		defer t.Lock()()
	}
	if s.wrong, err = t.wrongs(v, rule, schemas, near); err != nil {
		return s, err
	}
	switch v := v.(type) {
	case map[string]any:
		err = s.object(t, v, schemas)
	case []any:
		err = s.list(schemas)
	}
	return s, err
}

func (s *shape) object(t *Checker, object map[string]any, schemas []*openapi.Schema) error {
	for _, one := range schemas {
		names, err := one.Properties()
		if err != nil {
			return err
		}
		s.names = append(s.names, names)
	}
	open, err := takeAny(schemas)
	if err != nil {
		return err
	}
	s.members = make(map[string]part, len(object))
	for name := range object {
		if s.members[name], err = children(schemas, open, func(o *openapi.Schema) (*openapi.Schema, error) {
			return member(o, name)
		}); err != nil {
			return err
		}
	}
	if len(schemas) == 0 {
		return nil
	}
	if s.required, err = schemas[0].Required(); err != nil {
		return err
	}
	variants, err := schemas[0].Variants()
	s.forms = t.formsOf(variants)
	return err
}

func (s *shape) list(schemas []*openapi.Schema) error {
	open, err := takeAny(schemas)
	if err != nil {
		return err
	}
	items, err := children(schemas, open, (*openapi.Schema).ItemsOf)
	s.items = items.schemas
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
// anything; open says which do.
func children(schemas []*openapi.Schema, open []bool,
	find func(*openapi.Schema) (*openapi.Schema, error)) (part, error) {
	isOpen := len(schemas) == 0
	var out part
	for i, s := range schemas {
		inner, err := find(s)
		switch {
		case err != nil:
			return part{}, err
		case inner != nil:
			out.schemas, out.isKnown = append(out.schemas, inner), true
		default:
			isOpen = isOpen || open[i]
		}
	}
	if isOpen {
		return part{isKnown: true}, nil
	}
	return out, nil
}

// takeAny reports for each schema whether it takes members that it does not name.
func takeAny(schemas []*openapi.Schema) ([]bool, error) {
	out := make([]bool, len(schemas))
	for i, s := range schemas {
		var err error
		if out[i], err = takesAny(s); err != nil {
			return nil, err
		}
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
