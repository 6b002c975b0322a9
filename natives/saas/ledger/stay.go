package ledger

import (
	"slices"
	"time"
)

// A Bad says why a commit is bad at a target: it begins to soak anew when it runs well again.
type Bad string

// The reasons. NotBad is the zero value.
const (
	NotBad     Bad = ""
	FailedRun  Bad = "failed"   // its last run failed
	Undone     Bad = "undone"   // somebody went back to an older commit
	Unverified Bad = "verified" // a verification found it bad
)

// A Stay says how a commit stands at a target.
type Stay struct {
	Ran   time.Duration // since the commit began to run well
	Lasts bool          // what runs now has the commit
	Well  bool          // it ran well at some time
	Bad   Bad
	// Checking tells that its verification is under way, and Until when that ends if all goes well; zero if nobody
	// knows.
	Checking bool
	Until    time.Time
}

// An event is a moment at which something about what runs becomes known.
type event struct {
	at     time.Time
	commit string
	result Result
	why    Bad
	// pending tells that a run ended, and that its verification is under way.
	pending bool
	until   time.Time // when that ends if all goes well; zero if nobody knows
}

// Stay returns how a commit stands at the target. If own is set, the time during which newer commits ran does not
// count.
func (b *Book) Stay(commit string, order Order, now time.Time, own bool) Stay {
	order = order.with(b.Line)
	w := walk{commit: commit, order: order, own: own, before: b.Last}
	if f, ok := b.Folded[commit]; ok {
		w.Well, w.Bad, w.Ran = true, f.Bad, time.Duration(f.Seconds)*time.Second
	}
	for _, e := range b.events() {
		if e.at.After(now) {
			e.at = now // a clock went back; what is known is known
		}
		w.step(e)
	}
	if w.Lasts {
		w.Ran += max(now.Sub(w.since), 0)
	}
	return w.Stay
}

// events returns what became known, in the order in which it did.
func (b *Book) events() []event {
	var out []event
	for _, r := range b.Runs {
		e := event{at: r.At, commit: r.Commit, result: r.Result}
		if r.Result == Failed {
			e.why = FailedRun
		}
		if r.Check == nil || r.Result != Good {
			out = append(out, e)
			continue
		}
		e.pending, e.until = true, r.Check.Until()
		out = append(out, e)
		switch c := *r.Check; c.Result {
		case Good:
			out = append(out, event{at: c.Done, commit: r.Commit, result: Good})
		case Failed:
			out = append(out, event{at: c.Done, commit: r.Commit, result: Failed, why: Unverified})
		}
	}
	return out
}

// A walk goes through the events of a target with one commit in mind.
type walk struct {
	Stay
	commit string
	order  Order
	own    bool
	before string // the commit of the event before
	since  time.Time
}

// step takes one event.
func (w *walk) step(e event) {
	if w.Lasts {
		w.Ran += max(e.at.Sub(w.since), 0)
	}
	was := w.Lasts
	w.Lasts, w.since = false, e.at
	switch {
	case e.commit == w.commit:
		w.itself(e, was)
	case w.order.Newer(e.commit, w.commit):
		w.Checking = false
		w.Lasts = e.result == Good && !e.pending && w.Well && w.Bad == NotBad && !w.own
	case w.order.Newer(w.commit, e.commit):
		w.Checking = false
		if w.before == w.commit || w.order.Newer(w.before, w.commit) {
			w.Bad = Undone
		}
	default:
		w.Checking = false
	}
	w.before = e.commit
}

// itself takes an event of the commit itself.
func (w *walk) itself(e event, was bool) {
	switch {
	case e.pending:
		w.Checking, w.Until = true, e.until
		w.Lasts = was && w.before == w.commit // it was deployed again
	case e.result == Good:
		if w.Bad != NotBad {
			w.Ran = 0
		}
		w.Checking, w.Bad, w.Well, w.Lasts = false, NotBad, true, true
	case e.result == Failed:
		w.Checking, w.Bad, w.Ran = false, e.why, 0
	}
}

// well reports whether a run ended well, its verification included.
func (r Run) well() bool { return r.Result == Good && (r.Check == nil || r.Check.Result == Good) }

// Append returns a book with one more run. A run whose time lies before that of the last one ended after it all the
// same: a clock went back. One more run of what runs well already says nothing new: its stay goes on.
func (b *Book) Append(r Run) *Book {
	if n := len(b.Runs); n > 0 && b.Runs[n-1].goesOn(r) {
		return b
	}
	out := b.clone()
	r.At = r.At.UTC().Truncate(time.Microsecond)
	if n := len(out.Runs); n > 0 && r.At.Before(out.Runs[n-1].At) {
		r.At = out.Runs[n-1].At
	}
	out.Runs = append(out.Runs, r)
	return out
}

// goesOn reports whether another run only goes on with a stay.
func (r Run) goesOn(next Run) bool {
	return r.Result == Good && next.Result == Good && r.Commit == next.Commit && r.Config == next.Config &&
		r.Check == nil && next.Check == nil
}

// Together returns a book with runs that other programs noted. Those that the book can have, because they are not later
// than its last run, are left out; a book without runs takes all.
func (b *Book) Together(noted []Run, once ...string) *Book {
	out := b.clone()
	last := time.Time{}
	if n := len(out.Runs); n > 0 {
		last = out.Runs[n-1].At
	}
	for _, r := range noted {
		if len(b.Runs) == 0 || r.At.After(last) {
			out.Runs = append(out.Runs, r)
		}
	}
	for _, c := range once {
		if _, ok := out.Folded[c]; !ok && !out.Ran(c) {
			if out.Folded == nil {
				out.Folded = map[string]Fold{}
			}
			out.Folded[c] = Fold{}
		}
	}
	return out
}

// Commits returns the commits that the runs name, the latest first, each once.
func (b *Book) Commits() []string {
	var out []string
	if b == nil {
		return nil
	}
	for _, r := range slices.Backward(b.Runs) {
		if !slices.Contains(out, r.Commit) {
			out = append(out, r.Commit)
		}
	}
	return out
}

// RanAt returns the commit that ran well at a target at a moment, "" for none or if nobody knows.
func (b *Book) RanAt(at time.Time) string {
	out := ""
	for _, e := range b.events() {
		if e.at.After(at) {
			break
		}
		if out = ""; e.result == Good && !e.pending {
			out = e.commit
		}
	}
	return out
}
