package promotion

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/app-sre/prcheck/natives/saas"
)

// A span is a time during which a commit ran. One that lasts has no end yet.
type span struct {
	from, to time.Time
	lasts    bool
}

// A stay is for how long a publisher ran a commit, and whether it still does.
type stay struct {
	ran   time.Duration
	lasts bool
}

// A soaking says how long commits ran at the publishers of a subject. What ran when is read from
// the records once for all commits.
type soaking struct {
	Subject
	logs       Logs
	read       bool
	publishers []history
}

// left returns how much longer a commit must run at the publishers of a subject, and when that
// will be over if nothing else is deployed; a zero time means that it does not come by itself.
func (s *soaking) left(commit string, now time.Time) (left time.Duration, opens time.Time, err error) {
	if s.SoakTime <= 0 {
		return 0, now, nil
	}
	stays, err := s.stays(commit, now)
	if err != nil {
		return 0, time.Time{}, err
	}
	if s.Soak == saas.Each {
		return leftOfEach(s.SoakTime, stays, now)
	}
	left, running := s.SoakTime, 0
	for _, st := range stays {
		left -= st.ran
		if st.lasts {
			running++
		}
	}
	switch {
	case left <= 0:
		return 0, now, nil
	case running == 0:
		return left, time.Time{}, nil
	}
	wait := (left + time.Duration(running) - 1) / time.Duration(running) // rounded up
	return left, now.Add(wait), nil
}

// leftOfEach returns the longest time that is left at one of the publishers.
func leftOfEach(want time.Duration, stays []stay, now time.Time) (time.Duration, time.Time, error) {
	longest, byItself := time.Duration(0), true
	for _, st := range stays {
		left := max(want-st.ran, 0)
		longest = max(longest, left)
		byItself = byItself && (left == 0 || st.lasts)
	}
	if !byItself {
		return longest, time.Time{}, nil
	}
	return longest, now.Add(longest), nil
}

// stays returns the stays of a commit, one for each publisher of a subject.
func (s *soaking) stays(commit string, now time.Time) ([]stay, error) {
	if !s.read {
		s.read, s.publishers = true, historiesOf(s.Subject, s.logs)
	}
	var out []stay
	for _, h := range s.publishers {
		spans, err := h.spans(commit, now)
		if err != nil {
			return nil, err
		}
		out = append(out, total(spans))
	}
	return out, nil
}

// A history is what a publisher ran, in order of time.
type history struct {
	uid     string
	moments []moment
	err     error // why it is not known
}

// A moment is when a commit began to run. One that a run tells and no record only ends others.
type moment struct {
	at       time.Time
	commit   string
	isRecord bool
}

// historiesOf returns the histories of all publishers of a subject.
func historiesOf(s Subject, logs Logs) []history {
	var uids []string
	places := map[string][]RecordPlace{}
	for _, at := range s.places() {
		if places[at.UID] == nil {
			uids = append(uids, at.UID)
		}
		places[at.UID] = append(places[at.UID], at)
	}
	var out []history
	for _, uid := range uids {
		out = append(out, historyOf(places[uid], logs))
	}
	return out
}

// historyOf returns the history of a publisher by its records of some channels. A record that says
// no time counts nothing and ends nothing.
func historyOf(places []RecordPlace, logs Logs) history {
	h := history{uid: places[0].UID}
	for _, at := range places {
		log := logs[at]
		if h.err = log.Err; h.err != nil {
			return h
		}
		for _, sha := range sortedKeys(log.Wrong) {
			h.err = fmt.Errorf("the record of %.12s: %w", sha, log.Wrong[sha])
			return h
		}
		for _, run := range log.Runs {
			h.moments = append(h.moments, moment{at: run.At, commit: run.Commit})
		}
		for sha, r := range log.Records {
			if since, ok := r.Since(); ok {
				h.moments = append(h.moments, moment{since, sha, true})
			}
		}
	}
	slices.SortFunc(h.moments, func(a, b moment) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.commit, b.commit))
	})
	return h
}

// spans returns the times during which the publisher ran a commit: from the time of the commit's
// record until the time of the next record or run of another commit.
func (h history) spans(commit string, now time.Time) ([]span, error) {
	if h.err != nil {
		return nil, fmt.Errorf("the time for which %.12s ran at %s is not known: %w", commit, h.uid, h.err)
	}
	var out []span
	for i, m := range h.moments {
		if m.commit != commit || !m.isRecord {
			continue
		}
		sp := span{from: m.at, to: now, lasts: true}
		for _, other := range h.moments[i+1:] {
			if other.commit != commit && other.at.After(m.at) {
				if other.at.Before(now) {
					sp.to, sp.lasts = other.at, false
				}
				break
			}
		}
		if sp.to.After(sp.from) {
			out = append(out, sp)
		}
	}
	return out, nil
}

// total returns the length of all spans together. What spans have in common counts once.
func total(spans []span) stay {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(a.from.Compare(b.from), a.to.Compare(b.to)) })
	var out stay
	var end time.Time
	for _, sp := range spans {
		from := sp.from
		if from.Before(end) {
			from = end
		}
		if sp.to.After(from) {
			out.ran += sp.to.Sub(from)
			end = sp.to
		}
		out.lasts = out.lasts || sp.lasts
	}
	return out
}
