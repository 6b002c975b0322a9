package promotion

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

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
	Opens     time.Time // when that ends if nothing else happens; zero if nobody knows
	// Err says what is not known or wrong. Something may be promoted nevertheless.
	Err error
}

// Decide says to which commit a subscriber is to be promoted. The gate must be open for the
// commit as the target will be, the last run of each publisher must have succeeded with it, and
// it must be newer than the present one. Then a window and the objectives of the service may hold
// it; a hotfix is not held by objectives.
func Decide(q Question) Decision {
	keep := Decision{Ref: q.Ref}
	commits, problem := q.newer()
	d := q.choose(commits)
	switch {
	case problem != "":
		d.Hold = problem
	case d.Candidate == "" && q.Pin != "":
		d.Hold = fmt.Sprintf("pinned below %.12s, since somebody went back to %.12s", q.Pin, q.Ref) + after(d.Hold)
	}
	if q.Broken != "" {
		return d
	}
	notes, err := q.notes(d.Ref)
	d.Data, d.Err = notes, errors.Join(d.Err, err)
	if !Differs(q.Ref, Notes(q.Data), d.Ref, d.Data) {
		return d
	}
	if hold, opens, err := q.held(d.Ref); hold != "" {
		keep.Candidate, keep.Hold, keep.Opens, keep.Err = d.Candidate, hold, opens, errors.Join(d.Err, err)
		return keep
	}
	return d
}

// Still says whether a promotion that is under way may stay as it is: to a commit that was chosen
// earlier, though a newer one may be chosen by now, and though the window is over. The decision
// has the reason if it may not.
func Still(q Question, commit string) (Decision, bool) {
	keep := Decision{Ref: q.Ref}
	if commit != q.Ref {
		if commits, problem := q.newer(); q.Rule == Newest && !slices.Contains(commits, commit) {
			keep.Hold = cmp.Or(problem, fmt.Sprintf("%.12s is not newer than %.12s any more", commit, q.Ref))
			return keep, false
		}
		if v := q.eligible(commit); !v.Open {
			keep.Hold, keep.Opens, keep.Err = v.Reason, v.Opens, v.Err
			return keep, false
		}
	}
	d := Decision{Ref: commit, Candidate: commit}
	d.Data, d.Err = q.notes(commit)
	q.Schedule = ""
	if keep.Hold, keep.Opens, keep.Err = q.held(commit); keep.Hold != "" {
		return keep, false
	}
	return d, q.Broken == "" && Differs(q.Ref, Notes(q.Data), d.Ref, d.Data)
}

// after returns a reason that follows another one.
func after(hold string) string {
	if hold == "" {
		return ""
	}
	return "; " + hold
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
		both := before(before(first(b), q.Ref), q.Pin)
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

// choose returns the newest commit that may be promoted. The reason of the hold is that of the
// newest commit which may not, and the time is that of the first commit that will.
func (q Question) choose(commits []string) Decision {
	q.soak = &soaking{Subject: q.Subject, logs: q.Logs}
	out := Decision{Ref: q.Ref}
	for _, c := range commits {
		v := q.eligible(c)
		if v.Open {
			out.Ref, out.Candidate = c, c
			out.Hold, out.Opens = "", time.Time{}
			return out
		}
		if out.Hold == "" {
			out.Hold = v.Reason
		}
		if out.Opens.IsZero() || !v.Opens.IsZero() && v.Opens.Before(out.Opens) {
			out.Opens = v.Opens
		}
		out.Err = errors.Join(out.Err, v.Err)
	}
	return out
}

// eligible says whether a commit may be promoted. The gate asks whether a publisher ever ran it
// with success; here the last run must have succeeded, also for a hotfix.
func (q Question) eligible(commit string) Verdict {
	soak := q.soak
	if soak == nil {
		soak = &soaking{Subject: q.Subject, logs: q.Logs}
	}
	if v := gate(q.with(commit), commit, soak, q.Now); !v.Open {
		return v
	}
	for _, c := range q.Channels {
		if v := published(c, commit, q.Logs); !v.Open {
			return v
		}
		for _, uid := range c.Publishers {
			if r, _ := q.Logs.record(RecordPlace{c.Name, uid}, commit); !r.Success {
				return closed("the last run of %.12s at the publisher %s of the channel %s failed", commit, uid, c.Name)
			}
		}
	}
	return Verdict{Open: true}
}

// held returns why a target must not be changed now, although it should be.
func (q Question) held(commit string) (hold string, opens time.Time, err error) {
	if slices.Contains(q.Blocked, commit) {
		return fmt.Sprintf("the commit %.12s is blocked", commit), time.Time{}, nil
	}
	if q.Schedule != "" {
		s, err := schedule.Parse(q.Schedule)
		if err != nil {
			return "its schedule is wrong: " + err.Error(), time.Time{}, err
		}
		gap := q.MaxGap
		if gap == 0 {
			gap = schedule.MaxGap
		}
		if open, next := s.Window(q.Now, q.Last, gap); !open {
			return fmt.Sprintf("the schedule %q is not open", q.Schedule), next, nil
		}
	}
	switch isHotfix := slices.Contains(q.Hotfix, commit); {
	case isHotfix:
		return "", time.Time{}, nil
	case q.Health.Err != nil:
		return "it is not known whether the service meets its objectives: " + q.Health.Err.Error(), time.Time{}, q.Health.Err
	case q.Health.Breached != "":
		return "the service misses an objective: " + q.Health.Breached, time.Time{}, nil
	}
	return "", time.Time{}, nil
}
