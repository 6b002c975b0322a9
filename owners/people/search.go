package people

import (
	"cmp"
	"math/bits"
	"slices"
)

// A search looks for sets of people. People and places are numbers in it.
type search struct {
	names  []string // in the order in which to ask them
	late   []bool   // who are asked last
	places [][]int  // the people of each place, sorted; no place needs more than another one does
}

// newSearch numbers people. Places that others imply are left out: who approves {a}, approves {a, b} as well.
func newSearch(open [][]string, q Question) *search {
	s := &search{}
	isLate := func(name string) bool { return name == q.Author || slices.Contains(q.Absent, name) }
	s.names = slices.Concat(open...)
	slices.SortFunc(s.names, func(a, b string) int {
		if isLate(a) != isLate(b) {
			if isLate(a) {
				return 1
			}
			return -1
		}
		return cmp.Compare(a, b)
	})
	s.names = slices.Compact(s.names)
	number := map[string]int{}
	for i, name := range s.names {
		number[name] = i
		s.late = append(s.late, isLate(name))
	}
	for _, who := range open {
		var set []int
		for _, name := range who {
			set = append(set, number[name])
		}
		slices.Sort(set)
		s.places = append(s.places, slices.Compact(set))
	}
	slices.SortFunc(s.places, func(a, b []int) int { return cmp.Or(cmp.Compare(len(a), len(b)), slices.Compare(a, b)) })
	var needed [][]int
	for _, p := range s.places {
		if !slices.ContainsFunc(needed, func(other []int) bool { return isSubset(other, p) }) {
			needed = append(needed, p)
		}
	}
	s.places = needed
	return s
}

// isSubset reports whether all of a sorted list are in another one.
func isSubset(a, b []int) bool {
	i := 0
	for _, x := range b {
		if i < len(a) && a[i] == x {
			i++
		}
	}
	return i == len(a)
}

func (s *search) named(set []int) []string {
	out := make([]string, len(set))
	for i, n := range set {
		out[i] = s.names[n]
	}
	slices.Sort(out)
	return out
}

// exact returns the first of the smallest sets: those without people who are asked last come first, then by names.
func (s *search) exact(show int) [][]string {
	masks := make([]uint32, len(s.places))
	for i, p := range s.places {
		for _, n := range p {
			masks[i] |= 1 << n
		}
	}
	var all []uint32
	for size := s.bound(); len(all) == 0; size++ {
		all = choose(masks, 0, 0, size, map[uint32]bool{})
	}
	lateOnes := func(set uint32) int {
		n := 0
		for i, isLate := range s.late {
			if isLate && set&(1<<i) != 0 {
				n++
			}
		}
		return n
	}
	sets := make([][]string, 0, len(all))
	slices.SortFunc(all, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(lateOnes(a), lateOnes(b)), slices.Compare(s.named(members(a)), s.named(members(b))))
	})
	for _, set := range all[:min(show, len(all))] {
		sets = append(sets, s.named(members(set)))
	}
	return sets
}

// choose returns all sets that reach every place and have a number of people more than the chosen ones.
func choose(places []uint32, chosen, refused uint32, more int, seen map[uint32]bool) []uint32 {
	at := slices.IndexFunc(places, func(p uint32) bool { return p&chosen == 0 })
	if at < 0 {
		if more > 0 || seen[chosen] {
			return nil // a set of fewer people would have been found before
		}
		seen[chosen] = true
		return []uint32{chosen}
	}
	if more == 0 || apart(places, chosen, refused) > more {
		return nil
	}
	var out []uint32
	for left := places[at] &^ refused; left != 0; left &= left - 1 {
		one := left & -left
		out = append(out, choose(places, chosen|one, refused, more-1, seen)...)
		refused |= one
	}
	return out
}

// apart counts open places of which no two have a person in common: each needs a person of its own.
func apart(places []uint32, chosen, refused uint32) int {
	n, taken := 0, uint32(0)
	for _, p := range places {
		if p&chosen == 0 && p&^refused&taken == 0 {
			taken |= p &^ refused
			n++
		}
	}
	return n
}

func members(set uint32) []int {
	var out []int
	for ; set != 0; set &= set - 1 {
		out = append(out, bits.TrailingZeros32(set))
	}
	return out
}

// bound returns how many people are needed at least: places of which no two have a person in common.
func (s *search) bound() int {
	taken := make([]bool, len(s.names))
	n := 0
	for _, p := range s.places {
		if !slices.ContainsFunc(p, func(person int) bool { return taken[person] }) {
			n++
			for _, person := range p {
				taken[person] = true
			}
		}
	}
	return n
}
