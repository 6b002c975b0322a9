package peer

import (
	"cmp"
	"slices"
	"time"

	"github.com/app-sre/prcheck/queue"
)

// A waiting is a merge request that stands in the queue of the peer.
type waiting struct {
	*Listed
	class      int
	approvedAt time.Time
	isError    bool
}

// A Line is the queue of the peer, by numbers.
type Line struct {
	Queue   []int
	Errors  []int // those of the queue that are passed over
	Actions []Action
}

// Queue returns the queue of the peer, and what it does to labels while it makes it.
func Queue(s Snapshot) Line {
	l := begin(s)
	var out Line
	for _, w := range l.line(s.MustPass, s.TakeConflicts) {
		out.Queue = append(out.Queue, w.Number)
		if w.isError {
			out.Errors = append(out.Errors, w.Number)
		}
	}
	out.Actions = l.round.Actions
	return out
}

// line returns the queue: by class, then by the last label of approval.
func (l *loop) line(mustPass []string, takeConflicts bool) []waiting {
	var out []waiting
	var approvedAt time.Time // of the last one that was looked at, if this one has no event: as the peer does
	for _, m := range l.in("opened", "") {
		isConflict := m.MergeStatus == "cannot_be_merged" || m.MergeStatus == "cannot_be_merged_recheck"
		switch {
		case isConflict && !takeConflicts, m.IsDraft, m.IsEmpty, !m.passes(mustPass), len(m.Labels) == 0:
			continue
		case m.has(lgtm) && (m.has("saas-file-update") || m.has("self-serviceable")):
			l.remove(m, lgtm)
			continue
		}
		good, bad := l.labelers(m)
		for _, e := range slices.Backward(m.Events) {
			if !e.IsRemoval && slices.Contains(queue.Classes, e.Label) && l.mayLabel(e.By) {
				approvedAt = e.At
				break
			}
		}
		for _, label := range bad {
			if !slices.Contains(good, label) {
				l.remove(m, label)
			}
		}
		if m.isGood() {
			class := slices.IndexFunc(queue.Classes, m.has)
			out = append(out, waiting{m, class, approvedAt, m.isError()})
		}
	}
	slices.SortStableFunc(out, func(a, b waiting) int {
		return cmp.Or(cmp.Compare(a.class, b.class), a.approvedAt.Compare(b.approvedAt))
	})
	return out
}

// passes reports whether the statuses of the head that must be green are.
func (m *Listed) passes(mustPass []string) bool {
	if len(mustPass) == 0 {
		return true
	}
	return !slices.ContainsFunc(m.Pipelines, isRunning) &&
		!slices.ContainsFunc(mustPass, func(name string) bool { return m.Statuses[name] != success })
}

func (l *loop) mayLabel(person string) bool {
	return len(l.People) == 0 || person == l.Bot || slices.Contains(l.People, person)
}

// labelers returns the labels that somebody added who may, and those that somebody else added, sorted.
func (l *loop) labelers(m *Listed) (good, bad []string) {
	for _, e := range m.Events {
		switch {
		case e.IsRemoval:
		case l.mayLabel(e.By):
			good = append(good, e.Label)
		default:
			bad = append(bad, e.Label)
		}
	}
	slices.Sort(bad)
	return good, slices.Compact(bad)
}
