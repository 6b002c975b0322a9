package promotion

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/app-sre/prcheck/natives/saas/ledger"
	"github.com/app-sre/prcheck/natives/saas/schedule"
)

// A Rule says which commits may be chosen.
type Rule string

// The rules. Newest is the zero value.
const (
	Newest Rule = ""     // the newest commit for which the gate is open
	Head   Rule = "head" // the head of the publishers' branch, or none, as qontract-reconcile does
)

// UnmarshalText implements [encoding.TextUnmarshaler].
func (r *Rule) UnmarshalText(text []byte) error {
	switch string(text) {
	case "newest":
		*r = Newest
	case "head":
		*r = Head
	default:
		return fmt.Errorf("must be newest or head, got %.40q", text)
	}
	return nil
}

// MaxCommits is how many commits of a branch are looked at.
const MaxCommits = 200

// A Question is what [Decide] decides on.
type Question struct {
	Subject
	// Branches are the commits of the branches that the publishers deploy, each newest first, at
	// most [MaxCommits] of each.
	Branches [][]string
	Logs     Logs
	Rule     Rule
	// Pin is the commit from which a person went back to the present one, "" for none. Only what
	// is newer counts.
	Pin    string
	Now    time.Time
	Last   time.Time     // when the last loop got through, see package schedule
	MaxGap time.Duration // 0 is [schedule.MaxGap]
	Health Health

	soak *soaking // of the commits among which one is chosen
}

// Health says how well the service runs by its objectives. The zero value is well.
type Health struct {
	Breached string // the objective that it misses, for people
	Err      error  // nobody knows
}

// A Decision says what a subscriber is to be.
type Decision struct {
	Ref  string // the commit; that of the data if nothing is promoted
	Data []Note // promotion data that the target must have
	// Candidate is the newest commit for which the gate is open, though a window or an objective
	// may hold it; "" for none.
	Candidate string
	Hold      string    // why something newer is not promoted, for people; "" if nothing is held
	Code      Code      // the same in one word
	Commit    string    // that is held, "" if nobody knows which
	Opens     time.Time // when that ends if nothing else happens; zero if nobody knows
	// Back tells that the commit is one before the present one, which a verification found bad.
	Back bool
	// Err says what is not known or wrong. Something may be promoted nevertheless.
	Err error
}

// Decide says to which commit a subscriber is to be promoted. The gate must be open for the
// commit as the target will be, the last run of each publisher must have succeeded with it, no person
// must have rejected it, and it must be newer than the present one, and than what a person rejected or went back from.
// Then a window and the objectives of the service may hold it; a hotfix is not held by objectives, and what a person
// promoted is not held by a window.
//
// Of several commits that wait, the one is told that comes first, and else the newest one that a publisher ran.
func Decide(q Question) Decision {
	q.Order = q.Branches
	keep := Decision{Ref: q.Ref}
	if d, is := q.back(); is {
		return d
	}
	commits, problem := q.newer()
	d := q.choose(commits)
	if problem != "" {
		d.Hold, d.Code, d.Commit = problem, Unknown, ""
	}
	if q.Broken != "" {
		return d
	}
	if d.Hold == "" && d.Candidate == "" {
		d = q.undone(d)
	}
	notes, err := q.notes(d.Ref)
	d.Data, d.Err = notes, errors.Join(d.Err, err)
	if !Differs(q.Ref, Notes(q.Data), d.Ref, d.Data) {
		return d
	}
	if v := q.held(d.Ref); !v.Open {
		keep.Candidate, keep.Hold, keep.Code, keep.Commit, keep.Opens = d.Candidate, v.Reason, v.Code, d.Ref, v.Opens
		keep.Err = errors.Join(d.Err, v.Err)
		return keep
	}
	return d
}

// undone tells of a commit that publishers ran and went back from, so that no branch of theirs has it any more.
func (q Question) undone(d Decision) Decision {
	soak := &soaking{Subject: q.Subject, logs: q.Logs}
	order := ledger.NewOrder(q.Order...)
	for _, h := range historiesOf(q.Subject, q.Logs) {
		if h.err != nil {
			continue // it is told where it counts
		}
		for _, c := range h.book.Newer(q.Ref, order) {
			if v := soak.found(c, q.Now); v.Code == Bad {
				d.Hold, d.Code, d.Commit = v.Reason, v.Code, c
				return d
			}
		}
	}
	return d
}

// back proposes the commit before the present one, if a verification found that bad and the settings say so.
func (q Question) back() (Decision, bool) {
	if !q.Back || q.Own == nil || q.OwnErr != nil || q.Broken != "" {
		return Decision{}, false
	}
	order := ledger.NewOrder(q.Order...)
	if q.Own.Stay(q.Ref, order, q.Now, false).Bad != ledger.Unverified {
		return Decision{}, false
	}
	for _, c := range q.Own.Commits() {
		if c == q.Ref || !q.Own.Ran(c) || q.Own.Stay(c, order, q.Now, false).Bad != ledger.NotBad {
			continue
		}
		d := Decision{Ref: c, Candidate: c, Back: true}
		word := q.Own.Standing()
		_, rejected := word.Rejected[c]
		if rejected || word.Hold != nil || slices.Contains(q.Blocked, c) {
			return Decision{}, false
		}
		d.Data, d.Err = q.notes(c)
		return d, true
	}
	return Decision{}, false
}

// Still says whether a promotion that is under way may stay as it is: to a commit that was chosen
// earlier, though a newer one may be chosen by now, and though the window is over. The decision
// has the reason if it may not.
func Still(q Question, commit string) (Decision, bool) {
	q.Order = q.Branches
	if d, is := q.back(); is {
		return d, d.Ref == commit
	}
	keep := Decision{Ref: q.Ref, Commit: commit}
	if commit != q.Ref {
		if commits, problem := q.newer(); q.Rule == Newest && !slices.Contains(commits, commit) {
			keep.Hold, keep.Code = cmp.Or(problem, fmt.Sprintf("%.12s is not newer than %.12s any more", commit, q.Ref)), Unknown
			return keep, false
		}
		if v := q.eligible(commit); !v.Open {
			keep.Hold, keep.Code, keep.Opens, keep.Err = v.Reason, v.Code, v.Opens, v.Err
			return keep, false
		}
	}
	d := Decision{Ref: commit, Candidate: commit}
	d.Data, d.Err = q.notes(commit)
	q.Schedule = ""
	if v := q.held(commit); !v.Open {
		keep.Hold, keep.Code, keep.Opens, keep.Err = v.Reason, v.Code, v.Opens, v.Err
		return keep, false
	}
	return d, q.Broken == "" && Differs(q.Ref, Notes(q.Data), d.Ref, d.Data)
}

// newer returns the commits that may be chosen, newest first, or why there are none.
func (q Question) newer() (commits []string, problem string) {
	if q.Broken != "" {
		return nil, "the target cannot be used: " + q.Broken
	}
	if len(q.Channels) == 0 || len(q.Branches) == 0 {
		return nil, "it subscribes to no channel that has a publisher"
	}
	if q.Rule == Head {
		return q.head()
	}
	found, isCut := false, false
	for _, b := range q.Branches {
		found = found || slices.Contains(first(b), q.Ref)
		isCut = isCut || len(b) >= MaxCommits
	}
	switch {
	case found:
	case isCut:
		return nil, fmt.Sprintf("more than %d commits lie between %.12s and the branch of the publishers, so it is not "+
			"promoted; set a newer one by hand", MaxCommits, q.Ref)
	default:
		return nil, fmt.Sprintf("%.12s is not an ancestor of the branch of the publishers, so nobody knows what is newer; "+
			"set a newer one by hand", q.Ref)
	}
	out := slices.Clone(first(q.Branches[0]))
	for _, b := range q.Branches {
		both := before(first(b), q.Ref)
		out = slices.DeleteFunc(out, func(c string) bool { return !slices.Contains(both, c) })
	}
	return out, ""
}

// head returns the commit that all branches begin with.
func (q Question) head() (commits []string, problem string) {
	heads := map[string]bool{}
	for _, b := range q.Branches {
		if len(b) == 0 {
			return nil, "a branch of the publishers has no commit"
		}
		heads[b[0]] = true
	}
	switch all := sortedKeys(heads); {
	case len(all) > 1:
		return nil, fmt.Sprintf("the branches of the publishers have different heads: %q", all)
	case all[0] == q.Ref || all[0] == q.Pin:
		return nil, ""
	default:
		return all, ""
	}
}

// first returns as many commits as are looked at.
func first(commits []string) []string { return commits[:min(len(commits), MaxCommits)] }

// before returns the elements before one, all if it is not there.
func before(list []string, one string) []string {
	if i := slices.Index(list, one); i >= 0 {
		return list[:i]
	}
	return list
}

// choose returns the newest commit that may be promoted. Of what may not, the commit that opens first is told, or else
// the newest one that a publisher ran, or else the newest one.
func (q Question) choose(commits []string) Decision {
	q.soak = &soaking{Subject: q.Subject, logs: q.Logs}
	words := q.words()
	out := Decision{Ref: q.Ref}
	var told Verdict
	for _, c := range commits {
		v := q.eligibleBy(words, c)
		if v.Open {
			out.Ref, out.Candidate = c, c
			out.Hold, out.Code, out.Commit, out.Opens = "", "", "", time.Time{}
			return out
		}
		if out.Commit == "" || rather(v, told) {
			told = v
			out.Hold, out.Code, out.Commit, out.Opens = v.Reason, v.Code, c, v.Opens
		}
		out.Err = errors.Join(out.Err, v.Err)
	}
	return out
}

// rather reports whether a verdict about an older commit is told rather than that about a newer one.
func rather(v, told Verdict) bool {
	switch {
	case !v.Opens.IsZero():
		return told.Opens.IsZero() || v.Opens.Before(told.Opens)
	case !told.Opens.IsZero():
		return false
	}
	return told.Code == NotRun && v.Code != NotRun
}

// eligible says whether a commit may be promoted. The gate asks whether a publisher ever ran it
// with success; here the last run must have succeeded, also for a hotfix.
func (q Question) eligible(commit string) Verdict {
	q.Order = q.Branches
	return q.eligibleBy(q.words(), commit)
}

func (q Question) eligibleBy(words words, commit string) Verdict {
	soak := q.soak
	if soak == nil {
		soak = &soaking{Subject: q.Subject, logs: q.Logs}
	}
	if slices.Contains(q.Blocked, commit) && len(q.Channels) > 0 {
		return closed(Blocked, "the commit %.12s is blocked", commit)
	}
	if v := words.verdict(commit); !v.Open {
		return v
	}
	if v := gate(q.with(commit), commit, soak, q.Now); !v.Open {
		return v
	}
	for _, c := range q.Channels {
		if v := q.published(c, commit, q.Logs); !v.Open {
			return v
		}
		for _, uid := range c.Publishers {
			if r, _ := q.Logs.record(RecordPlace{c.Name, uid}, commit); !r.Success {
				return closed(Bad, "the last run of %.12s at the publisher %s of the channel %s failed", commit, q.publisher(uid),
					c.Name)
			}
		}
	}
	return soak.found(commit, q.Now)
}

// held says whether a target may be changed now.
func (q Question) held(commit string) Verdict {
	if slices.Contains(q.Blocked, commit) {
		return closed(Blocked, "the commit %.12s is blocked", commit)
	}
	if _, promoted := q.Own.Standing().Promoted[commit]; q.Schedule != "" && !promoted {
		s, err := schedule.Parse(q.Schedule)
		if err != nil {
			v := closed(Window, "its schedule is wrong: %v", err)
			v.Err = err
			return v
		}
		gap := q.MaxGap
		if gap == 0 {
			gap = schedule.MaxGap
		}
		if open, next := s.Window(q.Now, q.Last, gap); !open {
			v := closed(Window, "the schedule %q is not open", q.Schedule)
			v.Opens = next
			return v
		}
	}
	switch isHotfix := slices.Contains(q.Hotfix, commit); {
	case isHotfix:
	case q.Health.Err != nil:
		v := closed(SLO, "it is not known whether the service meets its objectives: %v", q.Health.Err)
		v.Err = q.Health.Err
		return v
	case q.Health.Breached != "":
		return closed(SLO, "the service misses an objective: %s", q.Health.Breached)
	}
	return Verdict{Open: true}
}
