package queue

import (
	"fmt"
	"slices"
)

// A Policy says what a walk may do beside accepting in order. The zero value tries nothing on a guess.
type Policy struct {
	// Depth is on how many undecided requests ahead another one may be tried.
	Depth int
	// Chance is how likely it must be that those ahead pass.
	Chance float64
	// Budget is how many machine minutes may start on a guess.
	Budget float64
	// Overtake lets a request that holds be accepted before undecided ones, if it takes nothing from any of them: their
	// deltas keep the very same inputs.
	Overtake bool
}

// A Standing is how a request stands after a walk.
type Standing struct {
	Place    Place
	Position int // from 1; 0 for one that nobody approved
	Decision
}

// A Start is a delta that can run.
type Start struct {
	Number  int      `json:"number"`
	Pair    Pair     `json:"pair"`
	Tree    string   `json:"tree"` // of the rebased head
	Tasks   []string `json:"tasks"`
	IsGuess bool     `json:"is_guess"`
	// On are the pairs that have to be rebased, in this order, to get the base from that of the walk.
	On []Pair `json:"on,omitempty"`
}

// An Outcome is what a walk decided.
type Outcome struct {
	Base      string // of the walk
	Standings []Standing
	Accepted  []int // in the order in which they are merged
	Starts    []Start
}

// Look returns the proof of a request on a base: a base of the walk, or the tree of a proof.
type Look func(base string, r Request) Proof

// A walk is one walk over the line.
type walk struct {
	look   Look
	policy Policy
	base   string // has all that was accepted
	on     []Pair // that were accepted
	out    Outcome
	open   []undecided
}

// An undecided is a request whose delta is not decided, or that nobody looked at since one ahead is undecided.
type undecided struct {
	at    int // in the standings
	proof Proof
}

// Walk decides about the requests of a line in their order, each on a base that has all that was accepted ahead. A
// request whose delta is open is not accepted; those behind wait for it, or are tried on a guess, which never accepts.
func Walk(base string, line []Place, look Look, policy Policy) Outcome {
	w := walk{look: look, policy: policy, base: base, out: Outcome{Base: base}}
	position := 0
	for _, p := range line {
		s := Standing{Place: p}
		if p.Rank < len(Classes) {
			position++
			s.Position = position
		}
		w.out.Standings = append(w.out.Standings, s)
		w.stand(len(w.out.Standings) - 1)
	}
	w.guess()
	return w.out
}

// stand decides about one request.
func (w *walk) stand(at int) {
	s := &w.out.Standings[at]
	switch {
	case !s.Place.IsReady():
		s.Decision = Decision{Pair: Pair{s.Place.Head, w.out.Base}, State: Waiting, Reason: s.Place.Waits}
	case len(s.Place.Failed) > 0:
		s.Decision = Decision{Pair: Pair{s.Place.Head, w.out.Base}, State: Red,
			Reason: because(OwnFailed, s.Place.Failed...)}
	case len(w.open) > 0 && !w.policy.Overtake:
		w.open = append(w.open, undecided{at, Proof{}})
	default:
		w.decide(at)
	}
}

// prove returns the proof of a request on a base, and what it says.
func (w *walk) prove(base string, r Request) (Proof, Decision) {
	p := w.look(base, r)
	return p, p.Decide(Pair{r.Head, base})
}

// decide decides about a request on all that was accepted.
func (w *walk) decide(at int) {
	s := &w.out.Standings[at]
	p, d := w.prove(w.base, s.Place.Request)
	switch {
	case d.State.MayMerge() && (len(w.open) == 0 || w.takesNothing(d.Tree)):
		w.accept(at, d)
	case d.State.isOpen():
		w.open = append(w.open, undecided{at, p})
	}
	s.Decision = d
}

// takesNothing reports whether the deltas of all undecided requests are the same on another base.
func (w *walk) takesNothing(base string) bool {
	return !slices.ContainsFunc(w.open, func(u undecided) bool {
		p, _ := w.prove(base, w.out.Standings[u.at].Place.Request)
		return !isSameDelta(u.proof, p)
	})
}

// accept puts a request on top of what was accepted. The proofs of undecided ones are then about another base.
func (w *walk) accept(at int, d Decision) {
	w.base, w.on = d.Tree, append(w.on, d.Pair)
	w.out.Accepted = append(w.out.Accepted, w.out.Standings[at].Place.Number)
	for i, u := range w.open {
		s := &w.out.Standings[u.at]
		w.open[i].proof, s.Decision = w.prove(w.base, s.Place.Request)
	}
}

// guess starts the deltas of undecided requests: that of the first one as it is, and those of some behind it on top of
// it, as if it passed.
func (w *walk) guess() {
	base, chance, cost := w.base, 1.0, 0.0
	on := slices.Clone(w.on)
	var ahead []string
	for i, u := range w.open {
		s := &w.out.Standings[u.at]
		mayGuess := i <= w.policy.Depth && chance >= w.policy.Chance && cost <= w.policy.Budget
		if i > 0 && !mayGuess {
			s.Decision = w.behind(*s, because(BehindOthers, ahead...))
			continue
		}
		p, d := w.prove(base, s.Place.Request)
		costs := p.cost(d)
		if i > 0 && !d.State.isOpen() {
			s.Decision = w.behind(*s, because(BehindOthers, ahead...)) // it may not be so if one ahead fails
			continue
		}
		if i > 0 && cost+costs > w.policy.Budget {
			s.Decision = w.behind(*s, because(NoGuess))
			cost = w.policy.Budget + 1 // nobody behind is tried
			continue
		}
		if d.State == Delta {
			w.out.Starts = append(w.out.Starts, Start{Number: s.Place.Number, Pair: d.Pair, Tree: d.Tree, Tasks: d.Delta,
				IsGuess: i > 0, On: slices.Clone(on)})
		}
		if i > 0 {
			cost += costs
			d = w.behind(Standing{Place: s.Place, Decision: d}, because(BehindOthers, ahead...))
		}
		s.Decision = d
		on = append(on, Pair{s.Place.Head, base})
		base, chance = p.Tree, chance*p.chance(d)
		ahead = append(ahead, fmt.Sprintf("!%d", s.Place.Number))
	}
}

// behind returns the decision about a request that waits for others.
func (w *walk) behind(s Standing, why Reason) Decision {
	return Decision{Pair: Pair{s.Place.Head, w.base}, State: Behind, Reason: why, Delta: s.Delta,
		Influences: s.Influences}
}
