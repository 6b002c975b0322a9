package jsonpath

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
)

// A condition holds for a value if the path chooses anything in it that compares as it says.
type condition struct {
	path     node
	operator string // "" if it is enough that there is anything
	value    any    // string, bool, *big.Int or float64
	pattern  *regexp.Regexp
}

// filter reads conditions with & between them.
func (p *parser) filter() (node, error) {
	var out filter
	for isFirst := true; isFirst || p.next().kind == "&"; isFirst = false {
		if !isFirst {
			p.take("&")
		}
		of, err := p.conditions()
		if err != nil {
			return nil, err
		}
		out = append(out, of...)
	}
	return out, nil
}

// conditions reads one condition, or several in parentheses. A parenthesis around a path alone
// belongs to the path.
func (p *parser) conditions() ([]condition, error) {
	if _, ok := p.take("("); !ok {
		path, err := p.path(0)
		if err != nil {
			return nil, err
		}
		return p.compared(path)
	}
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return nil, errors.New("it is nested too deeply")
	}
	inner, err := p.filter()
	if err == nil {
		err = p.need(")")
	}
	if err != nil {
		return nil, err
	}
	all := inner.(filter)
	if all[0].operator != "" {
		return all, nil
	}
	path, err := p.rest(all[0].path, 0)
	if err != nil {
		return nil, err
	}
	return p.compared(path)
}

// compared reads what a path is compared with, if anything.
func (p *parser) compared(path node) ([]condition, error) {
	c := condition{path: path}
	operator, ok := p.take(operatorToken)
	if !ok {
		return []condition{c}, nil
	}
	t := p.next()
	switch t.kind {
	case nameToken:
		c.value = t.text
	case truthToken:
		c.value = t.text == "true"
	case numberToken:
		c.value, _ = new(big.Int).SetString(t.text, 10)
	case decimalToken:
		f, _ := new(big.Float).SetString(t.text)
		c.value, _ = f.Float64()
	default:
		return nil, fmt.Errorf("a text, a number, true or false must follow on %s: %w", operator.text, p.unexpected())
	}
	p.take(t.kind)
	c.operator = operator.text
	if text, isText := c.value.(string); isText && c.operator == "=~" {
		var err error
		if c.pattern, err = regexp.Compile(text); err != nil {
			return nil, fmt.Errorf("at %d: the pattern of =~ cannot be used: %w", t.at, err)
		}
	}
	return []condition{c}, nil
}

func (f filter) find(s *search, d *datum) ([]*datum, error) {
	d = d.wrapped()
	object, isObject := d.value.(map[string]any)
	switch {
	case isObject && s.ofPlaces && d.above != nil && !d.above.isMade: // the document stays as it is
		of := *d
		of.value, of.isMade = s.members(object), true
		d = &of
	case isObject:
		if err := d.spread(s.members(object)); err != nil {
			return nil, err
		}
	}
	list, _ := d.value.([]any)
	var out []*datum
	for i, v := range list {
		holds, err := f.holds(s, v)
		if err != nil {
			return nil, err
		}
		if holds {
			out = append(out, &datum{value: v, above: d, at: i})
		}
	}
	return out, s.visit(len(list))
}

// spread makes an object the list of its members, as a filter of jsonpath_ng does: also for those who look at
// the same datum later. A list above that is not in the document then has the first member in the place of the
// object, and the others are left. A change of the document is an error.
func (d *datum) spread(all []any) error {
	if d.above != nil && !d.above.isMade {
		return errors.New("a filter must stand behind a list, not an object")
	}
	if d.above != nil {
		list, _ := d.above.value.([]any)
		at, isPosition := d.at.(int)
		switch {
		case isPosition && len(all) == 0 || slices.Contains(list, d.at):
			return errors.New("a filter must not stand behind this object")
		case isPosition:
			list[at], all = all[0], all[1:]
		}
	}
	d.value, d.isMade = all, true
	return nil
}

// members returns the members of an object that count as there, by their names.
func (s *search) members(object map[string]any) []any {
	out := []any{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if v := object[name]; s.has(v, true) {
			out = append(out, v)
		}
	}
	return out
}

// holds reports whether all conditions hold for a value. All are looked at, so that a mistake in
// one of them is told whatever the others say.
func (f filter) holds(s *search, v any) (bool, error) {
	all := true
	for _, c := range f {
		found, err := c.path.find(s, &datum{value: v})
		if err != nil {
			return false, err
		}
		isOne := c.operator == "" && len(found) > 0
		for _, d := range found {
			if c.operator == "" {
				break
			}
			if d.isNothing {
				return false, errNothing
			}
			holds, err := c.holds(d.value)
			if err != nil {
				return false, err
			}
			isOne = isOne || holds
		}
		all = all && isOne
	}
	return all, nil
}
