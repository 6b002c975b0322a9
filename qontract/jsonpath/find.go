package jsonpath

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// maxVisits is how many values a search looks at.
const maxVisits = 2_000_000

// Find returns the values of a document that a path chooses. The document is JSON decoded with
// numbers as [json.Number]; it is not changed.
func (p *Path) Find(document any) ([]any, error) {
	found, err := p.root.find(&search{left: maxVisits}, &datum{value: document, isBare: true})
	if err != nil {
		return nil, err
	}
	out := make([]any, len(found))
	for i, d := range found {
		if d.isNothing {
			return nil, errNothing
		}
		out[i] = d.value
	}
	return out, nil
}

// errNothing is about what stands above the document.
var errNothing = errors.New("`parent` of the document does not exist")

// A datum is a value with the one that it was found in; nil for the document. A filter may change the value,
// for everybody who holds the datum.
type datum struct {
	value     any
	above     *datum
	at        any    // its position or its name in the value above
	isBare    bool   // a value alone: every part of a path that looks at it makes a datum of its own
	isNothing bool   // what is above the document: nothing is found in it
	isMade    bool   // a list that is not in the document
	isForeign bool   // a value that is not in the document, such as a size
	sign      string // stands for the place of what is below nothing; "" for `this`
}

// wrapped returns the datum itself, or one of its own for a bare value.
func (d *datum) wrapped() *datum {
	if d.isBare || d.isNothing {
		return &datum{value: d.value, isForeign: d.isForeign}
	}
	return d
}

// A search counts the values that it may still look at.
type search struct {
	left     int
	ofPlaces bool // members that are null are there, and nothing is where a list has no position
}

// has reports whether a member counts as there.
func (s *search) has(v any, isMember bool) bool { return isMember && (v != nil || s.ofPlaces) }

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
	document     struct{}
	itself       struct{}
	parent       struct{}
	length       struct{}
	fields       []string // * stands for all
	positions    []int
	slice        struct{ start, end, step *int }
	filter       []condition
	child        struct{ left, right node }
	descendants  struct{ left, right node }
	union        struct{ left, right node }
	intersection struct{} // of paths, which jsonpath_ng reads and cannot search
	where        struct {
		left, right node
		isNot       bool
	}
)

func (document) find(_ *search, d *datum) ([]*datum, error) {
	for d.above != nil {
		d = d.above
	}
	return []*datum{{value: d.value, isMade: d.isMade, isForeign: d.isForeign, sign: "$"}}, nil
}

func (itself) find(_ *search, d *datum) ([]*datum, error) { return []*datum{d.wrapped()}, nil }

func (parent) find(_ *search, d *datum) ([]*datum, error) {
	if d.above == nil {
		return []*datum{{isNothing: true}}, nil
	}
	return []*datum{d.above}, nil
}

func (length) find(s *search, d *datum) ([]*datum, error) {
	var n int
	switch v := d.value.(type) {
	case []any:
		n = len(v)
	case map[string]any:
		for _, member := range v {
			if s.has(member, true) {
				n++
			}
		}
	case string:
		n = utf8.RuneCountInString(v)
	default:
		return nil, nil
	}
	return []*datum{{value: json.Number(strconv.Itoa(n)), isForeign: true, sign: "`len`"}}, s.visit(n)
}

func (f fields) find(s *search, d *datum) ([]*datum, error) {
	d = d.wrapped()
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
		if v, isMember := object[name]; s.has(v, isMember) {
			out = append(out, &datum{value: v, above: d, at: name})
		}
	}
	return out, s.visit(len(names))
}

func (p positions) find(s *search, d *datum) ([]*datum, error) {
	d = d.wrapped()
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
		if is, _ := number(v); !s.ofPlaces && (is == nil || is.Sign() != 0) {
			return nil, fmt.Errorf("%s has no positions", describe(v))
		}
	}
	var out []*datum
	for _, at := range p {
		switch {
		case n == 0 || at >= n:
			continue
		case s.ofPlaces && (list == nil || at < -n):
			continue
		case list == nil:
			return nil, errors.New("an object has no positions")
		case at < -n:
			return nil, fmt.Errorf("the position %d is before the first entry", at)
		case at < 0:
			at += n
		}
		out = append(out, &datum{value: list[at], above: d, at: at})
	}
	return out, s.visit(n)
}

func (l slice) find(s *search, d *datum) ([]*datum, error) {
	d = d.wrapped()
	list, isList := d.value.([]any)
	of := d
	switch {
	case d.value == nil:
		return nil, s.visit(0)
	case !isList: // as if it were a list of one
		list = []any{d.value}
		of = &datum{value: list, above: d.above, at: d.at, isMade: true, isForeign: d.isForeign, sign: d.sign}
	}
	start, end, step := l.bounds(len(list))
	var out []*datum
	for i := start; step > 0 && i < end || step < 0 && i > end; i += step {
		out = append(out, &datum{value: list[i], above: of, at: i})
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
