package promotion

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/app-sre/prcheck/integrations/saas"
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

// soaked returns how much longer a commit must run at the publishers of a subject, and when that
// will be over if nothing else is deployed; a zero time means that it does not come by itself.
func soaked(s Subject, commit string, logs Logs, now time.Time) (left time.Duration, opens time.Time, err error) {
	if s.SoakTime <= 0 {
		return 0, now, nil
	}
	stays, err := staysOf(s, commit, logs, now)
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

// staysOf returns the stays of a commit, one for each publisher of a subject.
func staysOf(s Subject, commit string, logs Logs, now time.Time) ([]stay, error) {
	var uids []string
	places := map[string][]Place{}
	for _, at := range s.places() {
		if places[at.UID] == nil {
			uids = append(uids, at.UID)
		}
		places[at.UID] = append(places[at.UID], at)
	}
	var out []stay
	for _, uid := range uids {
		spans, err := spansOf(places[uid], commit, logs, now)
		if err != nil {
			return nil, err
		}
		out = append(out, total(spans))
	}
	return out, nil
}

// spansOf returns the times during which a publisher ran a commit, by its records of some
// channels: from the time of the commit's record until the time of the next record or run of
// another commit. A record that says no time counts nothing and ends nothing.
func spansOf(places []Place, commit string, logs Logs, now time.Time) ([]span, error) {
	var starts, others []time.Time
	for _, at := range places {
		log := logs[at]
		if log.Err != nil {
			return nil, fmt.Errorf("the time for which %.12s ran at %s is not known: %w", commit, at.UID, log.Err)
		}
		for _, sha := range sortedKeys(log.Wrong) {
			return nil, fmt.Errorf("the time for which %.12s ran at %s is not known: the record of %.12s: %w", commit, at.UID, sha, log.Wrong[sha])
		}
		for _, run := range log.Runs {
			if run.Commit != commit {
				others = append(others, run.At)
			}
		}
		for sha, r := range log.Records {
			since, ok := r.Since()
			switch {
			case !ok:
			case sha == commit:
				starts = append(starts, since)
			default:
				others = append(others, since)
			}
		}
	}
	var out []span
	for _, from := range starts {
		sp := span{from: from, to: now, lasts: true}
		for _, other := range others {
			if other.After(from) && other.Before(sp.to) {
				sp.to, sp.lasts = other, false
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
