package bundle

import (
	"strconv"

	"github.com/app-sre/prcheck/internal/jsonpointer"
)

// Places returns the places of the changed fields in the new version: a map from each
// pointer of c.Fields to a pointer into c.New. They can differ because c.Fields leads into
// the old version, in which list items can have other indexes. A field that the new version
// does not have is mapped to its nearest parent. The result is nil for an added or removed
// file.
func (c Change) Places() map[string]string {
	if c.Old == nil || c.New == nil {
		return nil
	}
	p := placeFinder{}
	out := make(map[string]string, len(c.Fields))
	for _, d := range differences(c.Old, c.New, c.Kind) {
		if _, known := out[d.pointer]; !known || d.kind == Added {
			out[d.pointer] = p.find(c.Old.Object(), c.New.Object(), d)
		}
	}
	return out
}

// A placeFinder remembers how the items of lists are paired, by the pointer to the old
// list.
type placeFinder map[string][]int

// find walks through both versions along the pointer of a difference, and returns the
// pointer into the new version.
func (p placeFinder) find(old, new any, d difference) string {
	from, at := "", "" // pointers to the same place in old and new
	parts := jsonpointer.Split(d.pointer)
	for n, part := range parts {
		switch x := new.(type) {
		case *Object:
			value, ok := x.Get(part)
			if !ok {
				return at
			}
			new, at = value, jsonpointer.Append(at, part)
			if o, ok := old.(*Object); ok {
				old, _ = o.Get(part)
			}
		case []any:
			i, err := strconv.Atoi(part)
			if last := n == len(parts)-1; !last || d.kind != Added { // the pointer to an added item has its new index already
				y, _ := old.([]any)
				i = p.newIndex(from, y, x, i)
			}
			if err != nil || i < 0 || i >= len(x) {
				return at
			}
			new, at = x[i], at+"/"+strconv.Itoa(i)
			old = itemAt(old, part)
		default:
			return at
		}
		from = jsonpointer.Append(from, part)
	}
	return at
}

// newIndex returns the new index of item i of the old list at a pointer, or -1 if the item
// does not exist any more.
func (p placeFinder) newIndex(at string, old, new []any, i int) int {
	if _, known := p[at]; !known {
		p[at] = pairItems(old, new)
	}
	if i < 0 || i >= len(p[at]) {
		return -1
	}
	return p[at][i]
}

// itemAt returns the item of a list at an index that is written as text, or nil.
func itemAt(list any, index string) any {
	items, _ := list.([]any)
	if i, err := strconv.Atoi(index); err == nil && i >= 0 && i < len(items) {
		return items[i]
	}
	return nil
}
