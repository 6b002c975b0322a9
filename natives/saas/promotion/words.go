package promotion

import (
	"fmt"

	"github.com/app-sre/prcheck/natives/saas/ledger"
)

// Words are what people said about the commits of a subscriber, with their order.
type words struct {
	ledger.Standing
	q     Question
	order ledger.Order
	// rejected is the newest commit that a person rejected among those that are newer than the present one.
	rejected string
}

// words returns what stands of what people said.
func (q Question) words() words {
	w := words{Standing: q.Own.Standing(), q: q, order: ledger.NewOrder(q.Branches...)}
	for _, c := range sortedKeys(w.Rejected) {
		if !w.order.Newer(c, q.Ref) {
			continue
		}
		if w.rejected == "" || w.order.Newer(c, w.rejected) {
			w.rejected = c
		}
	}
	return w
}

// verdict says whether people allow a commit. Nothing older comes in the place of one that was rejected, or below one
// from which somebody went back.
func (w words) verdict(commit string) Verdict {
	_, promoted := w.Promoted[commit]
	switch {
	case w.Hold != nil:
		return closed(Pinned, "%s holds the target since %s", w.Hold.Who, when(w.Hold.At))
	case w.Pin != nil && w.Pin.Commit != commit:
		return closed(Pinned, "%s pinned the target to %.12s at %s", w.Pin.Who, w.Pin.Commit, when(w.Pin.At))
	}
	if e, is := w.Rejected[commit]; is {
		return closed(Rejected, "%s rejected %.12s at %s%s; a person may take that back", who(e), commit, when(e.At), in(e))
	}
	switch {
	case promoted:
	case w.rejected != "" && !w.order.Newer(commit, w.rejected):
		return closed(Rejected, "%.12s is not newer than %.12s, which %s rejected", commit, w.rejected,
			who(w.Rejected[w.rejected]))
	case w.q.Pin != "" && w.isBelow(commit):
		return closed(Pinned, "pinned below %.12s, since somebody went back to %.12s", w.q.Pin, w.q.Ref)
	case w.q.Own != nil:
		return w.own(commit)
	}
	return Verdict{Open: true}
}

// isBelow reports whether a commit is not newer than the one from which somebody went back. A pin that no branch has
// holds nothing.
func (w words) isBelow(commit string) bool {
	if commit == w.q.Pin {
		return true
	}
	for _, b := range w.q.Branches {
		for _, c := range first(b) {
			if c == w.q.Pin {
				return !w.order.Newer(commit, w.q.Pin)
			}
		}
	}
	return false
}

// own says whether the target itself found a commit bad.
func (w words) own(commit string) Verdict {
	switch w.q.Own.Stay(commit, w.order, w.q.Now, false).Bad {
	case ledger.Undone:
		return closed(Bad, "the target went back from %.12s", commit)
	case ledger.Unverified:
		return closed(Bad, "%.12s was verified at the target and found bad", commit)
	case ledger.FailedRun:
		return closed(Bad, "%.12s failed at the target", commit)
	}
	return Verdict{Open: true}
}

// who returns who said something, for people.
func who(e ledger.Entry) string {
	if e.Who == "" {
		return "somebody"
	}
	return e.Who
}

// in returns where somebody said something.
func in(e ledger.Entry) string {
	if e.Number == 0 {
		return ""
	}
	return fmt.Sprintf(" in the merge request !%d", e.Number)
}
