package people

import (
	"math/big"
	"slices"
)

// A reduction is a search with many people that gets smaller: without places that others imply, and without people who
// reach nothing that another one does not.
type reduction struct {
	*search
	reach  []*big.Int // open places by person; nil for one who is left out or chosen
	places []*big.Int // people by place; nil for one that is reached
	chosen []int
}

// many returns a set that reaches every place, and how many people are needed at least. As long as reductions decide,
// the set is a smallest one; where they do not, the person who reaches the most places is chosen.
func (s *search) many() (set []int, atLeast int) {
	r := &reduction{search: s, reach: make([]*big.Int, len(s.names))}
	for person := range r.reach {
		r.reach[person] = new(big.Int)
	}
	for i, p := range s.places {
		who := new(big.Int)
		for _, person := range p {
			who.SetBit(who, person, 1)
			r.reach[person].SetBit(r.reach[person], i, 1)
		}
		r.places = append(r.places, who)
	}
	isExact := true
	for {
		r.reduce()
		if isExact {
			atLeast = len(r.chosen) + r.apart()
		}
		best := r.best()
		if best < 0 {
			return r.chosen, atLeast
		}
		isExact = false
		r.choose(best)
	}
}

// reduce chooses who alone reaches a place, and leaves out who reaches nothing of their own, until nothing changes.
func (r *reduction) reduce() {
	for isChanged := true; isChanged; {
		isChanged = false
		for _, who := range r.places {
			if who == nil {
				continue
			}
			if n := bitCount(who); n == 1 {
				r.choose(who.BitLen() - 1)
				isChanged = true
			}
		}
		for a := range r.reach {
			if r.isSuperfluous(a) {
				r.leaveOut(a)
				isChanged = true
			}
		}
		r.imply()
	}
}

// isSuperfluous reports whether somebody else reaches all that a person reaches, and is not asked later.
func (r *reduction) isSuperfluous(a int) bool {
	if r.reach[a] == nil {
		return false
	}
	if r.reach[a].Sign() == 0 {
		return true
	}
	rest := new(big.Int)
	for b, other := range r.reach {
		if a == b || other == nil || r.late[b] && !r.late[a] || rest.AndNot(r.reach[a], other).Sign() != 0 {
			continue
		}
		isSame := r.reach[a].Cmp(other) == 0 && r.late[a] == r.late[b]
		if !isSame || b < a {
			return true
		}
	}
	return false
}

// imply leaves out places that somebody reaches who reaches another one, whoever that is.
func (r *reduction) imply() {
	rest := new(big.Int)
	for i, who := range r.places {
		for j, other := range r.places {
			if i == j || who == nil || other == nil || rest.AndNot(other, who).Sign() != 0 || who.Cmp(other) == 0 && i < j {
				continue
			}
			r.close(i)
			break
		}
	}
}

func (r *reduction) leaveOut(person int) {
	r.reach[person] = nil
	for _, who := range r.places {
		if who != nil {
			who.SetBit(who, person, 0)
		}
	}
}

// close takes a place away.
func (r *reduction) close(place int) {
	r.places[place] = nil
	for _, reach := range r.reach {
		if reach != nil {
			reach.SetBit(reach, place, 0)
		}
	}
}

func (r *reduction) choose(person int) {
	reach := new(big.Int).Set(r.reach[person])
	r.chosen = append(r.chosen, person)
	for i := range r.places {
		if reach.Bit(i) == 1 {
			r.close(i)
		}
	}
	r.leaveOut(person)
}

// best returns who reaches the most open places, those who are asked last after all others; -1 if no place is open.
func (r *reduction) best() int {
	best, most := -1, 0
	for _, isLate := range []bool{false, true} {
		for person, reach := range r.reach {
			if reach == nil || r.late[person] != isLate || best >= 0 && r.late[best] != isLate {
				continue
			}
			if n := bitCount(reach); n > most {
				best, most = person, n
			}
		}
	}
	return best
}

// apart counts open places of which no two have a person in common, those with few people first.
func (r *reduction) apart() int {
	open := slices.DeleteFunc(slices.Clone(r.places), func(who *big.Int) bool { return who == nil })
	slices.SortStableFunc(open, func(a, b *big.Int) int { return r.touching(open, a) - r.touching(open, b) })
	taken, n := new(big.Int), 0
	for _, who := range open {
		if new(big.Int).And(taken, who).Sign() == 0 {
			taken.Or(taken, who)
			n++
		}
	}
	return n
}

// touching counts the places that have a person in common with one.
func (r *reduction) touching(open []*big.Int, who *big.Int) int {
	n := 0
	for _, other := range open {
		if new(big.Int).And(who, other).Sign() != 0 {
			n++
		}
	}
	return n
}

func bitCount(n *big.Int) int {
	count := 0
	for i := range n.BitLen() {
		count += int(n.Bit(i))
	}
	return count
}
