package rules

import (
	"strconv"

	"github.com/app-sre/prcheck/internal/jsonpointer"
)

// A Spot is a place in a body: Exact names items of lists by their indexes, Name by their keys or else by *.
type Spot struct{ Exact, Name string }

// Places returns the places of a body that a JSON pointer names: * is any item, name=db an item by its keys, and a
// number an item by its position. The last members need not be there. Without an item that fits there is none.
func Places(r Rules, body any, pointer string) []Spot {
	all := []spot{{value: body}}
	for _, part := range jsonpointer.Split(pointer) {
		var next []spot
		for _, s := range all {
			next = append(next, s.step(r, part)...)
		}
		all = next
	}
	var out []Spot
	for _, s := range all {
		out = append(out, s.Spot)
	}
	return out
}

// A spot is a place on the way, with its pattern and what stands there.
type spot struct {
	Spot
	pattern string
	value   any
}

func (s spot) step(r Rules, part string) []spot {
	switch v := s.value.(type) {
	case nil, map[string]any:
		members, _ := v.(map[string]any)
		return []spot{{Spot{jsonpointer.Append(s.Exact, part), jsonpointer.Append(s.Name, part)},
			jsonpointer.Append(s.pattern, part), members[part]}}
	case []any:
		return s.items(r, v, part)
	}
	return nil
}

// items returns the items of a list that a part of a pointer names.
func (s spot) items(r Rules, list []any, part string) (out []spot) {
	rule := r.At(s.pattern).Keyed(r.At, s.pattern, list, nil, nil)
	for i, item := range list {
		name := "*"
		if len(rule.Keys) > 0 {
			_, name = Identify(r.At, s.pattern, rule, item)
		}
		index := strconv.Itoa(i)
		if part == "*" || part == index || part == name {
			out = append(out, spot{Spot{s.Exact + "/" + index, jsonpointer.Append(s.Name, name)}, s.pattern + "/*", item})
		}
	}
	return out
}

// Lacks reports whether the type has no property of a pattern, as far as that is known.
func Lacks(r Rules, pattern string) bool {
	switch r := r.(type) {
	case overlaid:
		return Lacks(r.Rules, pattern)
	case *cached:
		return Lacks(r.from, pattern)
	case *Classified:
		return r.lacks(pattern)
	}
	return false
}

func (c *Classified) lacks(pattern string) bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	around := ""
	for _, part := range jsonpointer.Split(pattern) {
		inner := jsonpointer.Append(around, part)
		p, err := c.classifier.Lookup(inner)
		if p == nil || err != nil {
			names, errOfNames := c.classifier.Members(around)
			return err == nil && errOfNames == nil && len(names) > 0
		}
		around = inner
	}
	return false
}
