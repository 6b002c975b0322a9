package queue

import (
	"cmp"
	"slices"
	"time"
)

// Classes are the labels by which people approve, the most urgent first.
var Classes = []string{"bot/approved: critical", "bot/approved: urgent", "bot/approved: high",
	"bot/approved: progressive-delivery", "bot/approved: medium", "bot/approved: low", "bot/approved", "bot/automerge",
	"lgtm"}

// HoldLabels are the labels that hold a request back.
var HoldLabels = []string{"awaiting-approval", "blocked/bot-access", "changes-requested", "bot/hold",
	"do-not-merge/hold", "do-not-merge/pending-review", "needs-rebase"}

// ErrorLabels are the labels that say that something went wrong with a request.
var ErrorLabels = []string{"merge-error", "pipeline-error", "rebase-error"}

// A LabelEvent says that somebody added or removed a label.
type LabelEvent struct {
	Label     string
	By        string
	At        time.Time
	IsRemoval bool
}

// A Request is an open merge request as the forge has it.
type Request struct {
	Number  int
	Title   string
	Head    string // newest commit of the source branch
	IsDraft bool
	Labels  []string
	Events  []LabelEvent // in the order of time
	Status  string       // the word of the forge about whether it can be merged, "" if nobody asked
	Failed  []string     // tasks that failed in its own pipeline on this head
	Begun   time.Time    // when a delta of this head began to run; zero if none did
}

// An Approval says how urgent an approved request is, and since when it is approved.
type Approval struct {
	Class int       // index in Classes
	Since time.Time // zero if nobody knows
}

// relabelTime is how long a request may be without any label of approval until the next one is a new approval:
// programs replace one label by another in two requests.
const relabelTime = 10 * time.Minute

// Approval returns the approval of a request by its labels: since when somebody who may has approved it without a
// pause. An empty list of people lets everybody approve.
func (r Request) Approval(people []string) (Approval, bool) {
	approved := map[string]bool{} // labels of approval, by somebody who may
	seen := map[string]bool{}
	var since, left time.Time
	for _, e := range r.Events {
		if !slices.Contains(Classes, e.Label) {
			continue
		}
		seen[e.Label] = true
		isAllowed := len(people) == 0 || slices.Contains(people, e.By)
		switch {
		case e.IsRemoval && approved[e.Label]:
			if delete(approved, e.Label); len(approved) == 0 {
				left = e.At
			}
		case !e.IsRemoval && isAllowed:
			if len(approved) == 0 && (since.IsZero() || e.At.Sub(left) > relabelTime) {
				since = e.At
			}
			approved[e.Label] = true
		}
	}
	for class, label := range Classes {
		if !slices.Contains(r.Labels, label) {
			continue
		}
		if approved[label] {
			return Approval{class, since}, true
		}
		if !seen[label] && len(people) == 0 {
			return Approval{Class: class}, true // nobody knows since when
		}
	}
	return Approval{}, false
}

// How a class ages: one better for each step of waiting, and the best one after ripe.
const (
	ageStep = 30 * time.Minute
	ripe    = 4 * time.Hour
)

// Rank returns the class of an approval, aged. A clock that goes back makes nothing older.
func (a Approval) Rank(now time.Time) int {
	if a.Since.IsZero() {
		return a.Class
	}
	waited := max(now.Sub(a.Since), 0)
	if waited >= ripe {
		return 0
	}
	return max(a.Class-int(waited/ageStep), 0)
}

// A Place is a request in the line.
type Place struct {
	Request
	Approval Approval
	Rank     int
	Waits    Reason // why nothing is looked at; the zero value if nothing is in the way
}

// IsReady reports whether a request can be looked at.
func (p Place) IsReady() bool { return p.Waits.Why == "" }

// Line returns the requests in order. Those whose delta began come first, in the order in which they began: what runs
// on top of them is not begun anew because somebody more urgent comes. Those that nobody approved come last. One that
// is held keeps its place.
func Line(requests []Request, people []string, now time.Time) []Place {
	var out []Place
	for _, r := range requests {
		p := Place{Request: r, Rank: len(Classes)}
		approval, isApproved := r.Approval(people)
		if isApproved {
			p.Approval, p.Rank = approval, approval.Rank(now)
		}
		p.Waits = r.waits(isApproved)
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b Place) int {
		return cmp.Or(compareTimes(a.begun(), b.begun()), cmp.Compare(a.Rank, b.Rank),
			compareTimes(a.Approval.Since, b.Approval.Since), cmp.Compare(a.Number, b.Number))
	})
	return out
}

// begun returns when the delta of an approved request began; zero if it did not.
func (p Place) begun() time.Time {
	if p.Rank == len(Classes) {
		return time.Time{}
	}
	return p.Begun
}

// compareTimes compares two times. One that is zero, or that nobody knows, is the last.
func compareTimes(a, b time.Time) int {
	if a.IsZero() != b.IsZero() {
		if a.IsZero() {
			return 1
		}
		return -1
	}
	return a.Compare(b)
}

// waits returns why a request is not looked at.
func (r Request) waits(isApproved bool) Reason {
	has := func(labels []string) (out []string) {
		for _, label := range labels {
			if slices.Contains(r.Labels, label) {
				out = append(out, label)
			}
		}
		return out
	}
	holding, failing := has(HoldLabels), has(ErrorLabels)
	switch {
	case r.IsDraft:
		return because(IsDraft)
	case len(holding) > 0:
		return because(HeldByLabel, holding...)
	case !isApproved:
		return because(NotApproved)
	case len(failing) > 0:
		return because(ErrorLabel, failing...)
	case wordOf(r.Status) == holding405:
		return because(ForgeHolds, r.Status)
	}
	return Reason{}
}
