package peer

import (
	"slices"
	"strings"
	"time"
)

// Health does what the peer does with the labels of errors.
func Health(s Snapshot) []Action {
	l := begin(s)
	for _, m := range l.in("opened", "") {
		if !m.IsDraft && m.isGood() {
			l.health(m)
		}
	}
	return l.round.Actions
}

// health adds and removes the labels of errors of one merge request.
func (l *loop) health(m *Listed) {
	isBroken := strings.Contains(m.MergeError, "Rebase failed")
	if isBroken && !m.has(RebaseError) {
		l.add(m, RebaseError)
		return
	}
	if !isBroken {
		l.remove(m, RebaseError)
	}
	ended := m.newest(func(p Pipeline) bool {
		return !slices.Contains([]string{success, failed, canceled, skipped}, p.Status)
	})
	if len(ended) == 0 && !l.IsCareful {
		return // also the label of a refused merge stays
	}
	last := ended[:min(len(ended), l.FailureLimit)]
	isFailing := len(last) == l.FailureLimit &&
		!slices.ContainsFunc(last, func(p Pipeline) bool { return p.Status != failed })
	switch {
	case len(ended) == 0: // nothing is known
	case isFailing:
		l.add(m, pipelineErr)
	default:
		l.remove(m, pipelineErr)
	}
	if m.has(MergeError) && m.saidSince(MergeError) {
		l.remove(m, MergeError)
	}
}

// saidSince reports whether somebody said something since a label was added last.
func (m *Listed) saidSince(label string) bool {
	for _, e := range slices.Backward(m.Events) {
		if !e.IsRemoval && e.Label == label {
			return slices.ContainsFunc(m.Notes, func(n Said) bool { return n.At.After(e.At) })
		}
	}
	return false
}

// Stale does what the peer does with merge requests that nobody touched for some days.
func Stale(s Snapshot) []Action {
	l := begin(s)
	for _, m := range l.in("opened", "") {
		l.stale(m)
	}
	return l.round.Actions
}

// stale labels or closes one merge request.
func (l *loop) stale(m *Listed) {
	if m.has(autoMerge) && m.MergeStatus == "cannot_be_merged" {
		l.close(m)
	}
	switch isOld := l.days(m.UpdatedAt) > l.Days; {
	case isOld && m.has(stale):
		l.close(m)
	case isOld:
		l.add(m, stale)
	case m.has(stale):
		var last time.Time
		for _, n := range m.Notes {
			if n.Body == "/stale cancel" && n.UpdatedAt.After(last) {
				last = n.UpdatedAt
			}
		}
		if !last.IsZero() && l.days(last) <= l.Days {
			l.remove(m, stale)
		}
	}
}

func (l *loop) close(m *Listed) {
	if l.Closing {
		l.act(Close, m.Number)
	}
}

// days returns how many days of the calendar lie between a time and now.
func (l *loop) days(at time.Time) int {
	day := func(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
	return int(day(l.Now).Sub(day(at)) / (24 * time.Hour))
}
