package bundler

import (
	"slices"
	"strconv"
	"strings"
)

// few is up to how many keys comparing all is faster than a table.
const few = 8

// duplicates tells each key that occurs again.
func duplicates(members []member, tell func(again, first *node)) {
	if len(members) <= few {
		for i, m := range members {
			for _, e := range members[:i] {
				if (m.key.kind == text) == (e.key.kind == text) && identity(m.key) == identity(e.key) {
					tell(m.key, e.key)
					break
				}
			}
		}
		return
	}
	first := make(map[string]*node, len(members))
	for _, m := range members {
		id := identity(m.key)
		if e, ok := first[id]; ok {
			tell(m.key, e)
			continue
		}
		first[id] = m.key
	}
}

// unsortable finds a key that has no order with the other ones: text, numbers
// and null are not compared with each other.
func unsortable(members []member) *node {
	if len(members) < 2 {
		return nil
	}
	texts := 0
	for _, m := range members {
		if m.key.kind == text {
			texts++
		}
	}
	for _, m := range members {
		if m.key.kind != text && (texts > 0 || m.key.kind == null) {
			return m.key
		}
	}
	return nil
}

// sorted gives the members in the order in which Python's json writes them.
func sorted(members []member) []member {
	byKey := func(a, b member) int {
		if a.key.kind == text {
			return strings.Compare(a.key.text, b.key.text)
		}
		x, _ := a.key.number()
		y, _ := b.key.number()
		return x.Cmp(y)
	}
	if slices.IsSortedFunc(members, byKey) {
		return members
	}
	out := slices.Clone(members)
	slices.SortFunc(out, byKey)
	return out
}

// addDuplicate notes that a key is there again.
func addDuplicate(found []Problem, again, first *node) []Problem {
	if len(found) >= maxProblems {
		return found
	}
	return append(found, Problem{Line: int(again.line), Column: int(again.column),
		Msg: "duplicate key " + clip(again.text) + ", first on line " + strconv.Itoa(int(first.line)) + ": remove one"})
}
