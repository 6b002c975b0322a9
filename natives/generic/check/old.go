package check

import (
	"hash/maphash"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/validate"
)

// seen are the mistakes of base: how often each one is there, by the hash of what it is.
type seen struct {
	seed   maphash.Seed
	counts map[uint64]int
}

func newSeen() seen { return seen{maphash.MakeSeed(), map[uint64]int{}} }

// add adds a mistake of base.
func (s seen) add(f validate.Violation) {
	exactly, anywhere := s.keys(f)
	s.counts[exactly]++
	s.counts[anywhere]++
}

// has reports whether base has a mistake: at the same place, or in a list as often as head has
// it, for its items may have moved.
func (s seen) has(f validate.Violation) bool {
	exactly, anywhere := s.keys(f)
	if s.counts[exactly] > 0 {
		s.counts[exactly]--
		s.counts[anywhere]--
		return true
	}
	if f.Pointer == f.Pattern || s.counts[anywhere] <= 0 {
		return false
	}
	s.counts[anywhere]--
	return true
}

// keys returns what stands for a mistake at its place, and for one of any item of its lists.
func (s seen) keys(f validate.Violation) (exactly, anywhere uint64) {
	what := " " + string(f.Code) + " " + string(f.Severity) + " " + body.Canonical(f.Value)
	return s.hash("at ", f.Pointer, what), s.hash("in ", f.Pattern, what)
}

func (s seen) hash(parts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	for _, part := range parts {
		_, _ = h.WriteString(part) // a hash takes everything
	}
	return h.Sum64()
}
