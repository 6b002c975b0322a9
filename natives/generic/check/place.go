package check

import (
	"slices"
	"strconv"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/validate"
)

// placeOf returns the pointer in the datafile of head of a mistake. Names cannot tell two items
// with the same keys apart; indexes can.
func (p Pair) placeOf(f validate.Violation) string {
	if f.Exact == "" {
		return p.inFile(f.Pointer)
	}
	return "/body" + f.Exact
}

// inFile returns the pointer in the datafile of head of a property of the body. Items that are
// named by their keys become indexes.
func (p Pair) inFile(path string) string {
	out, pattern, v := "/body", "", p.Head.Body
	r := p.Types[len(p.Types)-1].Rules
	for _, part := range jsonpointer.Split(path) {
		switch now := v.(type) {
		case []any:
			i := p.index(r, pattern, out, now, part)
			if i < 0 {
				return out // head has no such item
			}
			v, pattern = now[i], pattern+"/*"
			out += "/" + strconv.Itoa(i)
		default:
			object, _ := v.(map[string]any)
			v, pattern = object[part], jsonpointer.Append(pattern, part)
			out = jsonpointer.Append(out, part)
		}
	}
	return out
}

// Place returns the pointer in the datafile of an entry of a property of its body: the place of its secret, if the
// value is one. Items are named by their keys.
func Place(r *cloud.Resource, of rules.Rules, path string) string {
	for i, s := range r.Secrets {
		isHere := func(at rules.Spot) bool { return at.Name == path || at.Exact == path }
		if slices.ContainsFunc(rules.Places(of, r.Body, s.At), isHere) {
			return "/secrets/" + strconv.Itoa(i)
		}
	}
	p := Pair{Head: r, Types: []*validate.Checker{{Rules: of}}, lists: map[string]map[string]int{}}
	return p.inFile(path)
}

// index returns the index of an item that a path names by its index, its keys or its value, -1
// if it is not there. The pattern and the pointer in the file are those of the list.
func (p Pair) index(r rules.Rules, pattern, pointer string, list []any, part string) int {
	if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(list) {
		return i
	}
	known, isRead := p.lists[pointer]
	if !isRead {
		rule := r.At(pattern).Keyed(r.At, pattern, list, nil, nil)
		known = make(map[string]int, len(list))
		for i, item := range list {
			_, name := rules.Identify(r.At, pattern, rule, item)
			if _, isThere := known[name]; !isThere {
				known[name] = i
			}
		}
		p.lists[pointer] = known
	}
	if i, isThere := known[part]; isThere {
		return i
	}
	return -1
}
