package jsonpath

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// maxVisits is how many values a search looks at.
const maxVisits = 2_000_000

// Find returns the values of a document that a path chooses. The document is JSON decoded with
// numbers as [json.Number]; it is not changed.
func (p *Path) Find(document any) ([]any, error) {
	s := &search{left: maxVisits}
	found, err := p.root.find(s, &datum{value: document})
	if err != nil {
		return nil, err
	}
	out := make([]any, len(found))
	for i, d := range found {
		out[i] = d.value
	}
	return out, nil
}

// A datum is a value with the one that it was found in; nil for the document.
type datum struct {
	value any
	above *datum
}

// A search counts the values that it may still look at.
type search struct{ left int }

// visit counts values.
func (s *search) visit(n int) error {
	if s.left -= n + 1; s.left < 0 {
		return fmt.Errorf("it looks at more than %d values", maxVisits)
	}
	return nil
}

// A node is a part of a path.
type node interface {
	find(s *search, d *datum) ([]*datum, error)
}

type (
	document    struct{}
	itself      struct{}
	parent      struct{}
	fields      []string // * stands for all
	positions   []int
	slice       struct{ start, end, step *int }
	filter      []condition
	child       struct{ left, right node }
	descendants struct{ left, right node }
	union       struct{ left, right node }
	where       struct {
		left, right node
		isNot       bool
	}
)

func (document) find(_ *search, d *datum) ([]*datum, error) {
	for d.above != nil {
		d = d.above
	}
	return []*datum{d}, nil
}

func (itself) find(_ *search, d *datum) ([]*datum, error) { return []*datum{d}, nil }

func (parent) find(_ *search, d *datum) ([]*datum, error) {
	if d.above == nil {
		return nil, errors.New("`parent` of the document does not exist")
	}
	return []*datum{d.above}, nil
}

func (f fields) find(s *search, d *datum) ([]*datum, error) {
	object, ok := d.value.(map[string]any)
	if !ok {
		return nil, s.visit(0)
	}
	names := []string(f)
	if slices.Contains(names, "*") {
		names = slices.Sorted(maps.Keys(object))
	}
	var out []*datum
	for _, name := range names {
		if v := object[name]; v != nil {
			out = append(out, &datum{v, d})
		}
	}
	return out, s.visit(len(names))
}

func (p positions) find(s *search, d *datum) ([]*datum, error) {
	var list []any
	n := 0
	switch v := d.value.(type) {
	case []any:
		list, n = v, len(v)
	case map[string]any:
		n = len(v)
	case string:
		for _, r := range v {
			list = append(list, string(r))
		}
		n = len(list)
	case nil:
	default:
		return nil, fmt.Errorf("%s has no positions", describe(d.value))
	}
	var out []*datum
	for _, at := range p {
		switch {
		case n == 0 || at >= n:
			continue
		case list == nil:
			return nil, errors.New("an object has no positions")
		case at < -n:
			return nil, fmt.Errorf("the position %d is before the first entry", at)
		case at < 0:
			at += n
		}
		out = append(out, &datum{list[at], d})
	}
	return out, s.visit(n)
}

func (l slice) find(s *search, d *datum) ([]*datum, error) {
	list, isList := d.value.([]any)
	of := d
	switch {
	case d.value == nil:
		return nil, s.visit(0)
	case !isList: // as if it were a list of one
		list = []any{d.value}
		of = &datum{list, d.above}
	}
	start, end, step := l.bounds(len(list))
	var out []*datum
	for i := start; step > 0 && i < end || step < 0 && i > end; i += step {
		out = append(out, &datum{list[i], of})
	}
	return out, s.visit(len(out))
}

// bounds returns the first position of a slice in a list of n, the one that is not reached, and the
// step.
func (l slice) bounds(n int) (start, end, step int) {
	step = 1
	lowest, highest := 0, n
	if l.step != nil {
		step = *l.step
	}
	start, end = lowest, highest
	if step < 0 {
		lowest, highest = -1, n-1
		start, end = highest, lowest
	}
	for _, b := range []struct {
		of   *int
		into *int
	}{{l.start, &start}, {l.end, &end}} {
		if b.of == nil {
			continue
		}
		at := *b.of
		if at < 0 {
			at += n
		}
		*b.into = min(max(at, lowest), highest)
	}
	return start, end, step
}

func (f filter) find(s *search, d *datum) ([]*datum, error) {
	if _, isObject := d.value.(map[string]any); isObject {
		return nil, errors.New("a filter must stand behind a list, not an object")
	}
	list, _ := d.value.([]any)
	var out []*datum
	for _, v := range list {
		holds, err := f.holds(s, v)
		if err != nil {
			return nil, err
		}
		if holds {
			out = append(out, &datum{v, d})
		}
	}
	return out, s.visit(len(list))
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
