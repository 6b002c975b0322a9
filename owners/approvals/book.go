package approvals

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/owners/coverage"
	"github.com/app-sre/prcheck/owners/decision"
)

// A Version is a state of a change as the server has it.
type Version struct {
	Head     string    // the commit
	PushedAt time.Time // by the server, never by the commit
}

// unread is how long before a word a push may not have been read by who wrote the word.
const unread = 10 * time.Second

// About returns the version about which a word was said. isSure is false if the version came so shortly before the word
// that somebody may have read the one before. It is not ok if there was no such version.
func About(w decision.Word, versions []Version) (v Version, isSure, ok bool) {
	versions = slices.SortedStableFunc(slices.Values(versions), func(a, b Version) int {
		return a.PushedAt.Compare(b.PushedAt)
	})
	if w.Commit != "" {
		i := slices.IndexFunc(versions, func(v Version) bool { return strings.HasPrefix(v.Head, w.Commit) })
		if i < 0 || versions[i].PushedAt.After(w.At) {
			return Version{}, false, false
		}
		return versions[i], true, true
	}
	for i, of := range slices.Backward(versions) {
		if !of.PushedAt.After(w.At) {
			return of, i == 0 || w.At.Sub(of.PushedAt) >= unread, true
		}
	}
	return Version{}, false, false
}

// A Book has the entries of a change.
type Book struct{ Entries []Entry }

// Enter adds the entries of a word about the files of the version that stood when it was said. before are the files of
// the version before it, if who wrote the word may have read that one; places that differ between both are left out.
func (b *Book) Enter(w decision.Word, v Version, files []*coverage.File, before []*coverage.File) {
	if w.Command != decision.Approve && w.Command != decision.OKToTest {
		return
	}
	read := map[Subject]bool{}
	each(before, func(s Subject, _ *coverage.CoveredPlace) { read[s] = true })
	known := map[Entry]bool{}
	for _, e := range b.Entries {
		known[e.key()] = true
	}
	each(files, func(s Subject, p *coverage.CoveredPlace) {
		e := Entry{Subject: s, Person: w.By, Command: w.Command, At: w.At, Version: v.Head, Could: mayApprove(p, w.By)}
		if (before == nil || read[s]) && !known[e.key()] {
			known[e.key()] = true
			b.Entries = append(b.Entries, e)
		}
	})
}

// Knows reports whether a word was entered already. What it is about never changes.
func (b *Book) Knows(w decision.Word) bool {
	return slices.ContainsFunc(b.Entries, func(e Entry) bool {
		return e.Person == w.By && e.Command == w.Command && e.At.Equal(w.At)
	})
}

// key returns what makes an entry the same: who said what about what, and when.
func (e Entry) key() Entry {
	return Entry{Subject: e.Subject, Person: e.Person, Command: e.Command, At: e.At.UTC()}
}

// each calls yield for each place of files that differs, and for all parts of it.
func each(files []*coverage.File, yield func(Subject, *coverage.CoveredPlace)) {
	for _, f := range files {
		var walk func(all []*coverage.CoveredPlace)
		walk = func(all []*coverage.CoveredPlace) {
			for _, p := range all {
				yield(Of(f, p), p)
				walk(p.Parts)
			}
		}
		walk(f.Roots)
	}
}

// Holds reports whether a word holds for a place: it has an entry about the same place with the same content.
func (b *Book) Holds(w decision.Word, f *coverage.File, p *coverage.CoveredPlace) bool {
	s := Of(f, p)
	return slices.ContainsFunc(b.Entries, func(e Entry) bool {
		return e.Subject == s && e.Person == w.By && e.Command == w.Command && e.At.Equal(w.At)
	})
}

// A Reason says why no approval holds for a place.
type Reason string

// The reasons.
const (
	New          Reason = "new"           // nobody was asked about it yet
	Gone         Reason = "gone"          // it no longer differs
	Changed      Reason = "changed"       // the change makes another value of it
	BaseChanged  Reason = "base_changed"  // base has another value
	ApproverLost Reason = "approver_lost" // who approved it may no longer do so
	NotCovered   Reason = "not_covered"   // no change type allows it any more
)

// A Loss is a place for which no approval holds, and why.
type Loss struct {
	File, Place string
	Reason      Reason
	People      []string // whose approval was lost, sorted
}

// Compare says for which places of a change approvals hold, and why not for others. Both are sorted.
func (b *Book) Compare(files []*coverage.File) (holding []Subject, lost []Loss) {
	var now []Subject
	for _, f := range files {
		for _, p := range f.Places() {
			s := Of(f, p)
			now = append(now, s)
			if reason, people := b.judge(s, p); reason == "" {
				holding = append(holding, s)
			} else {
				lost = append(lost, Loss{s.File, s.Place, reason, people})
			}
		}
	}
	lost = append(lost, b.gone(now)...)
	slices.SortFunc(holding, func(a, b Subject) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Place, b.Place))
	})
	slices.SortFunc(lost, func(a, b Loss) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Place, b.Place))
	})
	return holding, lost
}

// judge returns why no approval of a place holds, "" if one does.
func (b *Book) judge(s Subject, p *coverage.CoveredPlace) (Reason, []string) {
	var about, others []Entry
	for _, e := range b.Entries {
		switch {
		case e.Command != decision.Approve || e.Kind != s.Kind || e.File != s.File || e.Place != s.Place ||
			!e.Could && !mayApprove(p, e.Person):
		case e.Subject == s:
			about = append(about, e)
		default:
			others = append(others, e)
		}
	}
	if slices.ContainsFunc(about, func(e Entry) bool { return mayApprove(p, e.Person) }) {
		return "", nil
	}
	switch {
	case len(about) > 0 && !p.IsDirect():
		return NotCovered, names(about)
	case len(about) > 0:
		return ApproverLost, names(about)
	case len(others) == 0:
		return New, nil
	case others[len(others)-1].Base != s.Base:
		return BaseChanged, names(others)
	}
	return Changed, names(others)
}

func mayApprove(p *coverage.CoveredPlace, person string) bool {
	return slices.ContainsFunc(p.Covers, func(c coverage.Cover) bool {
		return !c.Context.IsDisabled() && c.Context.Has(person)
	})
}

func names(entries []Entry) []string {
	var out []string
	for _, e := range entries {
		out = append(out, e.Person)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// positions matches the positions of list items in a place.
var positions = regexp.MustCompile(`\[\d+\]`)

// gone returns the approved places that no longer differ. A place whose very difference stands at another position of a
// list is told there, as new.
func (b *Book) gone(now []Subject) []Loss {
	var out []Loss
	for i, e := range b.Entries {
		isNow := func(s Subject) bool {
			if s.Kind != e.Kind || s.File != e.File {
				return false
			}
			isMoved := s.Base == e.Base && s.Head == e.Head &&
				positions.ReplaceAllString(s.Place, "[]") == positions.ReplaceAllString(e.Place, "[]")
			return s.Place == e.Place || isMoved
		}
		isTold := func(other Entry) bool { return other.File == e.File && other.Place == e.Place }
		if e.Command == decision.Approve && e.Could && !slices.ContainsFunc(now, isNow) &&
			!slices.ContainsFunc(b.Entries[:i], isTold) {
			out = append(out, Loss{e.File, e.Place, Gone, []string{e.Person}})
		}
	}
	return out
}
