package classes

import (
	"slices"

	"github.com/app-sre/prcheck/natives/openapi"
)

// A side is what one body says about a property.
type side struct {
	presence Presence
	schema   *openapi.Schema
}

func rootSide(has bool, s *openapi.Schema) side {
	switch {
	case !has:
		return side{presence: NoBody}
	case s == nil:
		return side{presence: Unknown}
	}
	return side{Present, s}
}

// A step is a part of a path: a property, or any item of a list, or any value of a map.
type step struct {
	kind stepKind
	name string
}

type stepKind int

const (
	property stepKind = iota
	item
	mapValue
)

// child returns what a body says about a part of a property.
func (s side) child(st step) (side, error) {
	if s.presence != Present {
		return s, nil
	}
	c, err := s.described(st)
	if err != nil {
		return side{}, err
	}
	if c == nil && st.kind == property { // a map may have a value of this name
		if c, err = s.schema.ValuesOf(); err != nil {
			return side{}, err
		}
	}
	if c != nil {
		return side{Present, c}, nil
	}
	isOpen, err := s.schema.IsOpen()
	if err != nil {
		return side{}, err
	}
	others, err := s.schema.Keyword("additionalProperties")
	if err != nil {
		return side{}, err
	}
	if isOpen || others.Value.Is() {
		return side{presence: Unknown}, nil
	}
	return side{presence: Missing}, nil
}

func (s side) described(st step) (*openapi.Schema, error) {
	switch st.kind {
	case item:
		return s.schema.ItemsOf()
	case mapValue:
		return s.schema.ValuesOf()
	}
	return s.schema.Property(st.name)
}

// has reports whether a body is there and has a property.
func (s side) has() bool { return s.presence == Present }

// lacks reports whether a body proves that it has no such property. A body that is not there
// proves it too.
func (s side) lacks() bool { return s.presence == Missing || s.presence == NoBody }

// keyword returns a keyword of a schema, without a value if there is none.
func (s side) keyword(name string) (openapi.Place, error) { return s.schema.Keyword(name) }

// sides are the bodies of a type.
type sides struct {
	get, put, post, patch side
	distinct              []side
}

// settled returns the sides with those that differ: most bodies of a type are one definition,
// which need be read once only. The one that decides is first.
func (s sides) settled() sides {
	s.distinct = make([]side, 0, 2)
	for _, one := range [...]side{s.put, s.post, s.get, s.patch} {
		if one.has() && !slices.Contains(s.distinct, one) {
			s.distinct = append(s.distinct, one)
		}
	}
	return s
}

// requests returns the bodies that are sent, the one that decides first.
func (s sides) requests() []side { return []side{s.put, s.post, s.patch} }

func (s sides) all() []side { return s.distinct }

func (s sides) child(st step) (sides, error) {
	var out sides
	from := [...]side{s.put, s.post, s.get, s.patch}
	to := [...]*side{&out.put, &out.post, &out.get, &out.patch}
next:
	for i, one := range from {
		for j := range i {
			if from[j] == one {
				*to[i] = *to[j]
				continue next
			}
		}
		var err error
		if *to[i], err = one.child(st); err != nil {
			return out, err
		}
	}
	return out.settled(), nil
}

// describes reports whether any body describes a part of a property.
func (s sides) describes(st step) (bool, error) {
	for _, one := range s.all() {
		c, err := one.described(st)
		if err != nil || c != nil {
			return c != nil, err
		}
	}
	return false, nil
}

// first returns the first of the bodies that has a property.
func first(all ...side) side {
	for _, s := range all {
		if s.has() {
			return s
		}
	}
	return side{presence: Missing}
}

// firstKeyword returns a keyword from the first of the bodies that have it.
func firstKeyword(name string, all ...side) (openapi.Place, error) {
	for _, s := range all {
		p, err := s.keyword(name)
		if err != nil || p.Value != nil {
			return p, err
		}
	}
	return openapi.Place{}, nil
}

// steps returns the parts that the bodies describe, in the order of their names.
func (s sides) steps() ([]step, error) {
	var out []step
	seen := map[step]bool{}
	add := func(st step) {
		if !seen[st] {
			seen[st] = true
			out = append(out, st)
		}
	}
	for _, one := range s.all() {
		names, err := one.schema.Properties()
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			add(step{property, name})
		}
		if c, err := one.schema.ItemsOf(); err != nil {
			return nil, err
		} else if c != nil {
			add(step{kind: item})
		}
		if c, err := one.schema.ValuesOf(); err != nil {
			return nil, err
		} else if c != nil {
			add(step{kind: mapValue})
		}
	}
	sortSteps(out)
	return out, nil
}
