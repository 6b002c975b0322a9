package jsonpath

import (
	"errors"
	"slices"
)

func (c child) find(s *search, d *datum) ([]*datum, error) {
	left, err := c.left.find(s, d)
	if err != nil {
		return nil, err
	}
	var out []*datum
	for _, l := range left {
		found, err := c.right.find(s, l)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, s.visit(len(out))
}

func (c descendants) find(s *search, d *datum) ([]*datum, error) {
	left, err := c.left.find(s, d)
	if err != nil {
		return nil, err
	}
	var out []*datum
	for _, l := range left {
		if l.isNothing {
			return nil, errNothing
		}
		found, err := c.below(s, l)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, s.visit(len(out))
}

// below returns what the right side chooses in a value and in all below it.
func (c descendants) below(s *search, d *datum) ([]*datum, error) {
	out, err := c.right.find(s, d)
	if err != nil {
		return nil, err
	}
	out = slices.Clone(out)
	var under node = fields{"*"}
	if _, isList := d.value.([]any); isList {
		under = slice{}
	}
	below, err := under.find(s, d)
	if err != nil {
		return nil, err
	}
	for _, next := range below {
		found, err := c.below(s, next)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

func (u union) find(s *search, d *datum) ([]*datum, error) {
	left, err := u.left.find(s, d)
	if err != nil {
		return nil, err
	}
	right, err := u.right.find(s, d)
	return append(slices.Clone(left), right...), err
}

// find fails, as that of jsonpath_ng does, which reads such a path.
func (intersection) find(*search, *datum) ([]*datum, error) {
	return nil, errors.New("& must stand behind a comparison, such as @.a = 1, and not behind a path alone")
}

func (w where) find(s *search, d *datum) ([]*datum, error) {
	left, err := w.left.find(s, d)
	if err != nil {
		return nil, err
	}
	var out []*datum
	for _, l := range left {
		found, err := w.right.find(s, l)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 != w.isNot {
			out = append(out, l)
		}
	}
	return out, s.visit(len(left))
}
