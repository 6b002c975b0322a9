package check

import (
	"slices"
	"strconv"

	"github.com/app-sre/prcheck/integrations/generic/rules"
	"github.com/app-sre/prcheck/integrations/generic/validate"
	"github.com/app-sre/prcheck/internal/jsonpointer"
)

// placeOf returns the pointer in the datafile of head of a mistake. Names cannot tell two items
// with the same keys apart; indexes can.
func (p Pair) placeOf(f validate.Finding) string {
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
			i := index(r, pattern, now, part)
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

// index returns the index of an item that a path names by its index, its keys or its value, -1
// if it is not there. The pattern is that of the list.
func index(r rules.Rules, pattern string, list []any, part string) int {
	if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(list) {
		return i
	}
	rule := r.At(pattern)
	return slices.IndexFunc(list, func(item any) bool {
		_, name := rules.Identify(r.At, pattern, rule, item)
		return name == part
	})
}
