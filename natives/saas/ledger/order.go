package ledger

import (
	"maps"
	"slices"
)

// An Order says which commits contain which: it has the commits of branches, each newest first.
type Order struct{ places []map[string]int }

// NewOrder returns the order of the commits of branches, each newest first.
func NewOrder(branches ...[]string) Order {
	var out Order
	for _, b := range branches {
		at := make(map[string]int, len(b))
		for i, c := range b {
			if _, twice := at[c]; !twice {
				at[c] = i
			}
		}
		out.places = append(out.places, at)
	}
	return out
}

// Newer reports whether a commit is newer than another one and contains it. Of what nobody knows neither of two is
// newer.
func (o Order) Newer(a, b string) bool {
	for _, at := range o.places {
		i, hasA := at[a]
		j, hasB := at[b]
		if hasA && hasB {
			return i < j
		}
	}
	return false
}

// with returns the order with that of a line, oldest first, for commits that the branches do not have.
func (o Order) with(line []string) Order {
	if len(line) == 0 {
		return o
	}
	newest := slices.Clone(line)
	slices.Reverse(newest)
	return Order{append(slices.Clone(o.places), NewOrder(newest).places...)}
}

// Along returns a book whose line has all commits of its runs whose order is known.
func (b *Book) Along(branches ...[]string) *Book {
	order := NewOrder(branches...).with(b.Line)
	known := b.named()
	line := slices.Clone(b.Line)
	line = slices.DeleteFunc(line, func(c string) bool { return !slices.Contains(known, c) })
	for _, c := range known {
		if slices.Contains(line, c) {
			continue
		}
		if at, ok := place(line, c, known, order); ok {
			line = slices.Insert(line, at, c)
		}
	}
	if slices.Equal(line, b.Line) {
		return b
	}
	out := b.clone()
	out.Line = line
	return out
}

// Newer returns the commits of the book that are newer than another one, the newest first.
func (b *Book) Newer(than string, order Order) []string {
	order = order.with(b.Line)
	out := slices.DeleteFunc(b.named(), func(c string) bool { return !order.Newer(c, than) })
	slices.SortStableFunc(out, func(x, y string) int {
		switch {
		case order.Newer(x, y):
			return -1
		case order.Newer(y, x):
			return 1
		}
		return 0
	})
	return out
}

// named returns the commits that the book has times of, those of the runs first.
func (b *Book) named() []string {
	out := b.Commits()
	for _, c := range slices.Sorted(maps.Keys(b.Folded)) {
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// place returns where a commit goes in a line, oldest first. It goes nowhere if its order to one that is there is not
// known.
func place(line []string, c string, known []string, order Order) (int, bool) {
	at := 0
	for _, other := range line {
		switch {
		case order.Newer(c, other):
			at++
		case !order.Newer(other, c):
			return 0, false
		}
	}
	if len(line) > 0 {
		return at, true
	}
	isKnown := slices.ContainsFunc(known, func(k string) bool { return order.Newer(c, k) || order.Newer(k, c) })
	return 0, isKnown
}
