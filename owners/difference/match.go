package difference

import (
	"cmp"
	"slices"
)

// Identity returns what makes a list item the same on both sides, or "" if it has no identity.
func Identity(item any) string {
	o, isObject := item.(map[string]any)
	if !isObject {
		return ""
	}
	if id, isText := o[identifier].(string); isText && id != "" {
		return "id " + id
	}
	if ref, isText := o["$ref"].(string); isText && ref != "" && len(o) == 1 {
		return "ref " + ref
	}
	return ""
}

// maxPairs is how many pairs of items without identity are tried for equal keys. Beyond it only items at the same
// position are tried.
const maxPairs = 1 << 20

// match returns for each old item the position of the new item that it is, or -1.
func match(old, new []any) []int {
	m := &matching{old: old, new: new, to: slices.Repeat([]int{-1}, len(old)), taken: make([]bool, len(new))}
	m.ends()
	m.byKey(Identity)
	m.byKey(func(item any) string {
		if Identity(item) != "" {
			return ""
		}
		return Canonical(item)
	})
	m.byKey(func(item any) string {
		if Identity(item) != "" {
			return ""
		}
		return loose(item)
	})
	m.bySimilarity()
	m.byPosition()
	return m.to
}

// A matching pairs the items of two lists.
type matching struct {
	old, new []any
	to       []int // the new position by the old one, or -1
	taken    []bool
}

func (m *matching) pair(i, j int) { m.to[i], m.taken[j] = j, true }

// ends pairs what is equal at the front, and then at the back.
func (m *matching) ends() {
	n := min(len(m.old), len(m.new))
	front := 0
	for front < n && isSameItem(m.old[front], m.new[front]) {
		m.pair(front, front)
		front++
	}
	for back := 1; back <= n-front && isSameItem(m.old[len(m.old)-back], m.new[len(m.new)-back]); back++ {
		m.pair(len(m.old)-back, len(m.new)-back)
	}
}

// isSameItem reports whether two items are equal, whatever the order of items with identity in them.
func isSameItem(old, new any) bool {
	return Identity(old) == Identity(new) && (Same(old, new) || loose(old) == loose(new))
}

// byKey pairs the items with equal keys, in order; items with the key "" stay alone.
func (m *matching) byKey(key func(any) string) {
	free := map[string][]int{}
	for j, item := range m.new {
		if !m.taken[j] {
			if k := key(item); k != "" {
				free[k] = append(free[k], j)
			}
		}
	}
	for i, item := range m.old {
		if m.to[i] >= 0 || len(free) == 0 {
			continue
		}
		k := key(item)
		if js := free[k]; k != "" && len(js) > 0 {
			m.pair(i, js[0])
			free[k] = js[1:]
		}
	}
}

// bySimilarity pairs the objects without identity that have the most keys with equal values.
func (m *matching) bySimilarity() {
	type candidate struct{ i, j, equal int }
	olds, news := m.alone()
	isMany := len(olds)*len(news) > maxPairs
	was, is := members(m.old, olds), members(m.new, news)
	var all []candidate
	for a, i := range olds {
		for b, j := range news {
			if isMany && i != j {
				continue
			}
			if n := equalKeys(was[a], is[b]); n > 0 {
				all = append(all, candidate{i, j, n})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.equal, a.equal) })
	for _, c := range all {
		if m.to[c.i] < 0 && !m.taken[c.j] {
			m.pair(c.i, c.j)
		}
	}
}

// alone returns the positions of the objects without identity that have no partner, on both sides.
func (m *matching) alone() (olds, news []int) {
	isObject := func(item any) bool {
		_, is := item.(map[string]any)
		return is && Identity(item) == ""
	}
	for i, item := range m.old {
		if m.to[i] < 0 && isObject(item) {
			olds = append(olds, i)
		}
	}
	for j, item := range m.new {
		if !m.taken[j] && isObject(item) {
			news = append(news, j)
		}
	}
	return olds, news
}

// members returns the members of objects as texts that are the same for equal values, whatever the order of items with
// identity.
func members(list []any, at []int) []map[string]string {
	out := make([]map[string]string, len(at))
	for i, n := range at {
		out[i] = map[string]string{}
		for name, v := range list[n].(map[string]any) {
			if name != identifier {
				out[i][name] = loose(v)
			}
		}
	}
	return out
}

// equalKeys counts the keys that have equal values in two objects.
func equalKeys(old, new map[string]string) int {
	n := 0
	for name, v := range old {
		if other, isThere := new[name]; isThere && v == other {
			n++
		}
	}
	return n
}

// byPosition pairs what is left at the same position. Two objects with an identity each, or with none, are never
// versions of each other there.
func (m *matching) byPosition() {
	for i := range min(len(m.old), len(m.new)) {
		if m.to[i] >= 0 || m.taken[i] {
			continue
		}
		_, wasObject := m.old[i].(map[string]any)
		_, isObject := m.new[i].(map[string]any)
		hadOne, hasOne := Identity(m.old[i]) != "", Identity(m.new[i]) != ""
		if !wasObject || !isObject || hadOne != hasOne {
			m.pair(i, i)
		}
	}
}
