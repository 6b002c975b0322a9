package promotion

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/ledger"
)

// A soaking says how long commits ran at the publishers of a subject. What ran when is read from
// the records once for all commits.
type soaking struct {
	Subject
	logs       Logs
	read       bool
	publishers []history
	order      ledger.Order
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
		left -= st.Ran
		if st.Lasts {
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
func leftOfEach(want time.Duration, stays []ledger.Stay, now time.Time) (time.Duration, time.Time, error) {
	longest, byItself := time.Duration(0), true
	for _, st := range stays {
		left := max(want-st.Ran, 0)
		longest = max(longest, left)
		byItself = byItself && (left == 0 || st.Lasts)
	}
	if !byItself {
		return longest, time.Time{}, nil
	}
	return longest, now.Add(longest), nil
}

// stays returns how a commit stands, one stay for each publisher of a subject.
func (s *soaking) stays(commit string, now time.Time) ([]ledger.Stay, error) {
	if !s.read {
		s.read, s.publishers, s.order = true, historiesOf(s.Subject, s.logs), ledger.NewOrder(s.Order...)
	}
	var out []ledger.Stay
	for _, h := range s.publishers {
		if h.err != nil {
			return nil, fmt.Errorf("the time for which %.12s ran at %s is not known: %w", commit, s.publisher(h.uid), h.err)
		}
		out = append(out, h.book.Stay(commit, s.order, now, s.Soak == saas.Own))
	}
	return out, nil
}

// Soaked returns for how long a commit ran at each publisher, in words; nothing if that is not known.
func (q Question) Soaked(commit string) []string {
	q.Order = q.Branches
	soak := &soaking{Subject: q.Subject, logs: q.Logs}
	stays, err := soak.stays(commit, q.Now)
	if err != nil {
		return nil
	}
	var out []string
	for i, st := range stays {
		if st.Ran >= time.Minute {
			out = append(out, fmt.Sprintf("%s at %s", rounded(st.Ran.Truncate(time.Minute)),
				q.publisher(soak.publishers[i].uid)))
		}
	}
	return out
}

// Commits returns the commits that a promotion brings, the newest first: those of the branches that a commit has and
// the present one has not. It is nothing if that is not known.
func (q Question) Commits(commit string) []string {
	for _, b := range q.Branches {
		from, to := slices.Index(b, commit), slices.Index(b, q.Ref)
		if 0 <= from && from < to {
			return b[from:to]
		}
	}
	return nil
}

// found says whether a publisher undid a commit, found it bad after its run, or still verifies it.
func (s *soaking) found(commit string, now time.Time) Verdict {
	stays, err := s.stays(commit, now)
	if err != nil {
		if s.SoakTime <= 0 && !s.hasBooks() {
			return Verdict{Open: true} // the record of the commit is known, and nothing else is needed
		}
		return unknown(err)
	}
	out := Verdict{Open: true}
	for i, st := range stays {
		name := s.publisher(s.publishers[i].uid)
		switch {
		case st.Bad == ledger.Undone:
			return closed(Bad, "the publisher %s went back from %.12s", name, commit)
		case st.Bad == ledger.Unverified:
			return closed(Bad, "the publisher %s verified %.12s and found it bad", name, commit)
		case st.Checking:
			v := closed(Verify, "the publisher %s still verifies %.12s", name, commit)
			if v.Opens = st.Until; out.Open || v.Opens.IsZero() || !out.Opens.IsZero() && v.Opens.After(out.Opens) {
				out = v
			}
		}
	}
	return out
}

// hasBooks reports whether ledgers of the publishers were asked for.
func (s *soaking) hasBooks() bool {
	return slices.ContainsFunc(s.places(), func(at RecordPlace) bool {
		return s.logs[at].Book != nil || s.logs[at].BookErr != nil
	})
}

// A history is what a publisher ran.
type history struct {
	uid  string
	book *ledger.Book
	err  error // why it is not known
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

// historyOf returns the history of a publisher by its ledger and its records of some channels.
func historyOf(places []RecordPlace, logs Logs) history {
	h := history{uid: places[0].UID, book: ledger.New(places[0].UID, "")}
	var runs []ledger.Run
	var once []string
	for _, at := range places {
		log := logs[at]
		if h.err = cmp.Or(log.BookErr, log.Err); h.err != nil {
			return h
		}
		for _, sha := range sortedKeys(log.Wrong) {
			h.err = fmt.Errorf("the record of %.12s: %w", sha, log.Wrong[sha])
			return h
		}
		if log.Book != nil {
			h.book = log.Book
		}
		noted, ran := log.noted()
		runs, once = append(runs, noted...), append(once, ran...)
	}
	h.book = h.book.Together(inOrder(runs), once...)
	return h
}

// noted returns the runs that the records and the timeline of a place tell, and the commits that ran well at a time
// that nobody knows. A record that says no time counts nothing and ends nothing.
func (l Log) noted() (runs []ledger.Run, once []string) {
	for _, run := range l.Runs {
		runs = append(runs, ledger.Run{Commit: run.Commit, At: run.At})
	}
	for _, sha := range sortedKeys(l.Records) {
		r := l.Records[sha]
		if since, ok := r.Since(); ok {
			result := ledger.Failed
			if r.Success {
				result = ledger.Good
			}
			run := ledger.Run{Commit: sha, At: since, Result: result}
			if r.Hash != nil {
				run.Config = *r.Hash
			}
			runs = append(runs, run)
		}
		if _, ok := r.Since(); r.Succeeded() && (!ok || !r.Success) {
			once = append(once, sha)
		}
	}
	return runs, once
}

// inOrder returns runs in order of time. Of two that tell the same, as those of two channels do, the one that knows
// the result stays.
func inOrder(runs []ledger.Run) []ledger.Run {
	slices.SortStableFunc(runs, func(a, b ledger.Run) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Commit, b.Commit), -cmp.Compare(a.Result, b.Result))
	})
	return slices.CompactFunc(runs, func(a, b ledger.Run) bool {
		return a.At.Equal(b.At) && a.Commit == b.Commit &&
			(a.Result == ledger.Ended || b.Result == ledger.Ended || a.Result == b.Result)
	})
}

// NewestRun returns the commit that a publisher ran last, by its ledger and its records, "" if it ran none.
func NewestRun(book *ledger.Book, logs Logs) string {
	var places []RecordPlace
	for at := range logs {
		places = append(places, at)
	}
	if len(places) == 0 {
		return book.Newest()
	}
	slices.SortFunc(places, func(a, b RecordPlace) int { return cmp.Compare(a.Channel, b.Channel) })
	for _, at := range places {
		log := logs[at]
		log.Book = book
		logs[at] = log
	}
	h := historyOf(places, logs)
	if h.err != nil {
		return ""
	}
	return h.book.Newest()
}

// WithBooks returns logs with the ledgers of their publishers. One that cannot be read makes its log unknown.
func WithBooks(ctx context.Context, books *ledger.Books, logs Logs) Logs {
	for at, log := range logs {
		book, err := books.Of(ctx, at.UID, "the publisher "+at.UID)
		log.Book, log.BookErr = book, err
		logs[at] = log
	}
	return logs
}
