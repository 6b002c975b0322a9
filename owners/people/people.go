package people

import (
	"cmp"
	"maps"
	"slices"
)

// A Question is who may approve what.
type Question struct {
	Needs        map[string][]string // places, each with the people who may approve it
	Approved     map[string][]string // places, each with who approved it already
	Author       string
	AuthorCounts bool     // the author's own word counts
	Absent       []string // who are asked last
	Show         int      // how many sets to propose; 0 is three
}

// A Proposal proposes whom to ask.
type Proposal struct {
	Sets    [][]string // in the order in which to try them
	Size    int        // of each set
	AtLeast int        // how many people are needed at least; Size if the sets are the smallest
	Nobody  []string   // places that nobody may approve, sorted
}

// IsSmallest reports whether no smaller set exists.
func (a Proposal) IsSmallest() bool { return a.AtLeast == a.Size }

// maxExact is up to how many people the smallest sets are found.
const maxExact = 20

// Find finds the smallest sets of people who may approve all places that nobody approved yet.
func Find(q Question) Proposal {
	show := cmp.Or(q.Show, 3)
	open, nobody := q.open()
	out := Proposal{Nobody: nobody}
	if len(open) == 0 {
		return out
	}
	s := newSearch(open, q)
	if len(s.names) <= maxExact {
		out.Sets = s.exact(show)
		out.Size = len(out.Sets[0])
		out.AtLeast = out.Size
		return out
	}
	set, atLeast := s.many()
	out.Sets, out.Size, out.AtLeast = [][]string{s.named(set)}, len(set), atLeast
	return out
}

// open returns the people of each open place, and the places that nobody may approve.
func (q Question) open() (open [][]string, nobody []string) {
	for _, place := range slices.Sorted(maps.Keys(q.Needs)) {
		if len(q.Approved[place]) > 0 {
			continue
		}
		who := slices.DeleteFunc(slices.Clone(q.Needs[place]), func(name string) bool {
			return name == q.Author && !q.AuthorCounts
		})
		if len(who) == 0 {
			nobody = append(nobody, place)
			continue
		}
		open = append(open, who)
	}
	return open, nobody
}
