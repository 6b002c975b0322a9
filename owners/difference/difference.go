package difference

import (
	"cmp"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/qontract/jsonpath"
)

// A Kind says how a place differs.
type Kind int

// The kinds of differences; the zero value is no kind.
const (
	Changed Kind = iota + 1
	Added
	Removed
	Reordered // the items of a list have another order
	Text      // the content is the same, the text is not
)

// String returns the word for a kind.
func (k Kind) String() string {
	return [...]string{"", "changed", "added", "removed", "reordered", "text"}[k]
}

// A Difference is a place at which two contents differ.
type Difference struct {
	Kind     Kind
	Base     jsonpath.Location // where it is in base; of an added value, where its parent is in base and its name
	Head     jsonpath.Location // where it is in head; of a removed value, where its parent is in head and its name
	Old, New any               // nil on the side that does not have it; for a list that is reordered both lists
}

// Place returns the place by which a difference is named: that in head, or that in base for a removed value.
func (d Difference) Place() jsonpath.Location {
	if d.Kind == Removed {
		return d.Base
	}
	return d.Head
}

// Of returns the differences of two contents, in the order of their places.
func Of(base, head any) []Difference {
	c := &comparison{}
	switch {
	case IsEmpty(base) && IsEmpty(head):
	case IsEmpty(base):
		c.add(Difference{Kind: Added, New: head})
	case IsEmpty(head):
		c.add(Difference{Kind: Removed, Old: base})
	default:
		c.values(spot{}, base, head)
	}
	slices.SortStableFunc(c.found, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.Place().String(), b.Place().String()), cmp.Compare(a.Kind, b.Kind))
	})
	return c.found
}

// IsEmpty reports whether a content says nothing: nil, and an empty object, list or text.
func IsEmpty(content any) bool {
	switch v := content.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// identifier is the key that bundlers add to objects with an identity.
const identifier = "__identifier"

// A spot is a place on both sides.
type spot struct{ base, head jsonpath.Location }

func (s spot) below(base, head jsonpath.Step) spot {
	return spot{s.base.Below(base), s.head.Below(head)}
}

// A comparison collects differences.
type comparison struct{ found []Difference }

func (c *comparison) add(d Difference) { c.found = append(c.found, d) }

// values compares two values that both sides have.
func (c *comparison) values(at spot, old, new any) {
	switch o := old.(type) {
	case map[string]any:
		if n, isObject := new.(map[string]any); isObject {
			c.objects(at, o, n)
			return
		}
	case []any:
		if n, isList := new.([]any); isList {
			c.lists(at, o, n)
			return
		}
	}
	if !Same(old, new) {
		c.add(Difference{Changed, at.base, at.head, old, new})
	}
}

// objects compares two objects key by key.
func (c *comparison) objects(at spot, old, new map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if name == identifier {
			continue
		}
		below := at.below(jsonpath.Member(name), jsonpath.Member(name))
		if n, isThere := new[name]; isThere {
			c.values(below, old[name], n)
		} else {
			c.add(Difference{Removed, below.base, below.head, old[name], nil})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(new)) {
		if _, isThere := old[name]; !isThere && name != identifier {
			below := at.below(jsonpath.Member(name), jsonpath.Member(name))
			c.add(Difference{Added, below.base, below.head, nil, new[name]})
		}
	}
}

// lists compares two lists, item by item as they are matched.
func (c *comparison) lists(at spot, old, new []any) {
	pairs := match(old, new)
	taken, last := make([]bool, len(new)), -1
	isReordered := false
	for i, j := range pairs {
		below := at.below(jsonpath.Item(i), jsonpath.Item(j))
		if j < 0 {
			c.add(Difference{Removed, below.base, at.head, old[i], nil})
			continue
		}
		taken[j] = true
		isReordered = isReordered || j < last
		last = j
		if areApart(old[i], new[j]) {
			c.add(Difference{Changed, below.base, below.head, old[i], new[j]})
		} else {
			c.values(below, old[i], new[j])
		}
	}
	for j, isTaken := range taken {
		if !isTaken {
			c.add(Difference{Added, at.base, at.head.Below(jsonpath.Item(j)), nil, new[j]})
		}
	}
	if isReordered {
		c.add(Difference{Reordered, at.base, at.head, old, new})
	}
}

// areApart reports whether two items are no versions of each other, though they are matched by their position.
func areApart(old, new any) bool { return Identity(old) != Identity(new) }
