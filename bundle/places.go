package bundle

import (
	"strconv"

	"github.com/app-sre/prcheck/internal/jsonpointer"
)

// Places returns where in c.New the fields of c are, by their pointers in
// c.Fields. Those lead into the old version, where the items of a list may have
// had other numbers. What the new version does not have is where its nearest
// parent is. Of a file that one side lacks there are none.
func (c Change) Places() map[string]string {
	if c.Old == nil || c.New == nil {
		return nil
	}
	p := placer{}
	out := make(map[string]string, len(c.Fields))
	for _, d := range differences(c.Old, c.New, c.Kind) {
		if _, known := out[d.pointer]; !known || d.kind == Added {
			out[d.pointer] = p.place(c.Old.Object(), c.New.Object(), d)
		}
	}
	return out
}

// A placer remembers how the items of lists belong together, by the pointer to
// the list.
type placer map[string][]int

// place walks both versions along the pointer of a difference.
func (p placer) place(old, new any, d difference) string {
	from, at := "", "" // the same place in both
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
			if last := n == len(parts)-1; !last || d.kind != Added { // an added item has its new number
				y, _ := old.([]any)
				i = p.partner(from, y, x, i)
			}
			if err != nil || i < 0 || i >= len(x) {
				return at
			}
			new, at = x[i], at+"/"+strconv.Itoa(i)
			old = item(old, part)
		default:
			return at
		}
		from = jsonpointer.Append(from, part)
	}
	return at
}

// partner returns the new number of item i of the old list at a pointer, -1 when
// it is gone.
func (p placer) partner(at string, old, new []any, i int) int {
	if _, known := p[at]; !known {
		p[at] = partners(old, new)
	}
	if i < 0 || i >= len(p[at]) {
		return -1
	}
	return p[at][i]
}

func item(list any, number string) any {
	items, _ := list.([]any)
	if i, err := strconv.Atoi(number); err == nil && i >= 0 && i < len(items) {
		return items[i]
	}
	return nil
}
