package ledger

import (
	"slices"
	"time"
)

// A Verb is what an entry says.
type Verb string

// The verbs: what loops note, what people say, and what they said in vain.
const (
	Proposed   Verb = "proposed" // a merge request sets the commit
	Merged     Verb = "merged"
	Rejected   Verb = "rejected"   // by a command, or by closing the merge request
	Unrejected Verb = "unrejected" // by a command, by reopening, or by setting the ref by hand
	Promoted   Verb = "promoted"   // passes soak and window
	Retried    Verb = "retried"    // what failed runs once more
	Pinned     Verb = "pinned"     // no other commit is proposed
	Unpinned   Verb = "unpinned"
	Holding    Verb = "held" // nothing is proposed or run
	Released   Verb = "released"
	Undid      Verb = "undone"  // the data went back from the commit
	Back       Verb = "back"    // the commit is proposed again, since a verification found a newer one bad
	Refused    Verb = "refused" // the word of somebody who may not say it, or that makes no sense
)

// known reports whether a verb is one of ours.
func (v Verb) known() bool {
	return slices.Contains([]Verb{Proposed, Merged, Rejected, Unrejected, Promoted, Retried, Pinned, Unpinned, Holding,
		Released, Undid, Back, Refused}, v)
}

// An Entry is one thing that somebody said about a commit at the target.
type Entry struct {
	At     time.Time `json:"at"`
	Verb   Verb      `json:"verb"`
	Commit string    `json:"commit,omitempty"`
	Who    string    `json:"who,omitempty"`    // "" is a loop
	Number int       `json:"number,omitempty"` // of a merge request
	Why    string    `json:"why,omitempty"`
}

// A Standing is the words that stand.
type Standing struct {
	Rejected map[string]Entry // by commit
	Promoted map[string]Entry // by commit
	Pin      *Entry
	Hold     *Entry
	Retry    *Entry           // the last one
	Back     *Entry           // the last one
	Proposed map[string]Entry // by commit: the last proposal
	keep     map[int]bool     // positions of the entries that stand
	seat     map[string]int   // positions of rejections
	seats    map[string]int   // positions of promotions
	last     map[Verb]int     // positions of the others
}

// Standing returns the words that stand. The last word about a commit counts.
func (b *Book) Standing() Standing {
	s := Standing{Rejected: map[string]Entry{}, Promoted: map[string]Entry{}, Proposed: map[string]Entry{},
		seat: map[string]int{}, seats: map[string]int{}, last: map[Verb]int{}}
	if b == nil {
		return s
	}
	for i, e := range b.Entries {
		s.take(i, e)
	}
	s.keep = map[int]bool{}
	for c := range s.Rejected {
		s.keep[s.seat[c]] = true
	}
	for c := range s.Promoted {
		s.keep[s.seats[c]] = true
	}
	for _, of := range []struct {
		entry *Entry
		verb  Verb
	}{{s.Pin, Pinned}, {s.Hold, Holding}, {s.Retry, Retried}, {s.Back, Back}} {
		if of.entry != nil {
			s.keep[s.last[of.verb]] = true
		}
	}
	return s
}

// take takes one entry.
func (s *Standing) take(i int, e Entry) {
	s.last[e.Verb] = i
	switch e.Verb {
	case Rejected:
		s.Rejected[e.Commit], s.seat[e.Commit] = e, i
		delete(s.Promoted, e.Commit)
	case Unrejected:
		delete(s.Rejected, e.Commit)
	case Promoted:
		s.Promoted[e.Commit], s.seats[e.Commit] = e, i
		delete(s.Rejected, e.Commit)
	case Pinned:
		s.Pin = &e
	case Unpinned:
		s.Pin = nil
	case Holding:
		s.Hold = &e
	case Released:
		s.Hold = nil
	case Retried:
		s.Retry = &e
	case Back:
		s.Back = &e
	case Proposed:
		s.Proposed[e.Commit] = e
	}
}

// kept returns the entries that stand and the newest others.
func (b *Book) kept(others int) []Entry {
	keep := b.Standing().keep
	drop := len(b.Entries) - len(keep) - others
	var out []Entry
	for i, e := range b.Entries {
		if !keep[i] && drop > 0 {
			drop--
			continue
		}
		out = append(out, e)
	}
	return out
}

// Say returns a book with one more entry. The same word about the same commit, which stands, is not said twice.
func (b *Book) Say(e Entry) *Book {
	e.At = e.At.UTC().Truncate(time.Second)
	s := b.Standing()
	is := map[Verb]map[string]Entry{Rejected: s.Rejected, Promoted: s.Promoted, Proposed: s.Proposed}
	if was, ok := is[e.Verb][e.Commit]; ok && (e.Verb != Proposed || was.Number == e.Number) && was.Who == e.Who {
		return b
	}
	if n := len(b.Entries); n > 0 && e.At.Before(b.Entries[n-1].At) {
		e.At = b.Entries[n-1].At // a clock went back
	}
	out := b.clone()
	out.Entries = append(out.Entries, e)
	return out
}

// At returns a book that noted which commit the data have, and from which one somebody went back, "" for none. A person
// who set a commit that was rejected took that back.
func (b *Book) At(ref, undid string, now time.Time) *Book {
	out := b
	if _, rejected := b.Standing().Rejected[ref]; rejected {
		out = out.Say(Entry{At: now, Verb: Unrejected, Commit: ref, Who: data})
	}
	said := func(e Entry) bool { return e.Verb == Undid && e.Commit == undid }
	if undid != "" && !slices.ContainsFunc(out.Entries, said) {
		out = out.Say(Entry{At: now, Verb: Undid, Commit: undid, Who: data, Why: "back to " + ref})
	}
	return out
}

// data says something by itself: a person committed it.
const data = "the data"

// Closed returns a book that noted that a person closed a merge request with a commit of the target.
func (b *Book) Closed(number int, commit, who string, at time.Time) *Book {
	if number <= b.Heard {
		return b
	}
	out := b.Say(Entry{At: at, Verb: Rejected, Commit: commit, Who: who, Number: number}).clone()
	out.Heard = number
	return out
}

// MergedBy returns a book that noted that a merge request with a commit of the target was merged.
func (b *Book) MergedBy(number int, commit string, at time.Time) *Book {
	said := func(e Entry) bool { return e.Verb == Merged && e.Number == number && e.Commit == commit }
	if number == 0 || slices.ContainsFunc(b.Entries, said) {
		return b
	}
	return b.Say(Entry{At: at, Verb: Merged, Commit: commit, Number: number})
}

// Open returns a book that noted that a merge request is open. If its closing rejected the commit, somebody opened it
// again.
func (b *Book) Open(number int, commit string, now time.Time) *Book {
	if e, rejected := b.Standing().Rejected[commit]; !rejected || e.Number != number {
		return b
	}
	out := b.Say(Entry{At: now, Verb: Unrejected, Commit: commit, Number: number, Why: "somebody opened it again"}).clone()
	out.Heard = min(out.Heard, number-1) // it may be closed again
	return out
}

// Forbids reports whether the closing of a merge request stands against a commit: nobody noted it, or nobody took it
// back.
func (b *Book) Forbids(number int, commit string) bool {
	if b == nil || number > b.Heard {
		return true
	}
	_, rejected := b.Standing().Rejected[commit]
	return rejected
}
