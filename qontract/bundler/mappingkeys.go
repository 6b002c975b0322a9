package bundler

import (
	"slices"
	"strconv"
	"strings"
)

// maxPairwise is the largest number of keys for which comparing each with each is
// faster than a map.
const maxPairwise = 8

// findDuplicates calls tell for each key that occurred before.
func findDuplicates(members []member, tell func(again, first *node)) {
	if len(members) <= maxPairwise {
		for i, m := range members {
			for _, e := range members[:i] {
				if (m.key.kind == text) == (e.key.kind == text) && keyIdentity(m.key) == keyIdentity(e.key) {
					tell(m.key, e.key)
					break
				}
			}
		}
		return
	}
	first := make(map[string]*node, len(members))
	for _, m := range members {
		id := keyIdentity(m.key)
		if e, ok := first[id]; ok {
			tell(m.key, e)
			continue
		}
		first[id] = m.key
	}
}

// findUnsortable returns a key that Python cannot compare with the others, or nil.
// Keys cannot be sorted if they mix text, numbers and null.
func findUnsortable(members []member) *node {
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

// sortMembers returns the members in the order in which Python's json writes them.
func sortMembers(members []member) []member {
	byKey := func(a, b member) int {
		if a.key.kind == text {
			return strings.Compare(a.key.text, b.key.text)
		}
		x, _ := a.key.rational()
		y, _ := b.key.rational()
		return x.Cmp(y)
	}
	if slices.IsSortedFunc(members, byKey) {
		return members
	}
	out := slices.Clone(members)
	slices.SortFunc(out, byKey)
	return out
}

// addDuplicateProblem adds the problem that a key occurs twice.
func addDuplicateProblem(found []Problem, again, first *node) []Problem {
	if len(found) >= maxProblems {
		return found
	}
	return append(found, Problem{Line: int(again.line), Column: int(again.column),
		Msg: "duplicate key " + quoteShort(again.text) + ", first on line " + strconv.Itoa(int(first.line)) + ": remove one"})
}
