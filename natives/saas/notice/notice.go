package notice

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/natives/saas/ledger"
)

// A Kind says what happened: a verb of the ledger, or one of these.
type Kind string

// The kinds beside the verbs of the ledger.
const (
	Deployed   Kind = "deployed"   // a run of the commit ended well
	Failed     Kind = "failed"     // a run of the commit failed
	Verified   Kind = "verified"   // its verification found it good
	Unverified Kind = "unverified" // its verification found it bad
	Waits      Kind = "waits"      // the commit waits since now
	Outage     Kind = "outage"     // something does not answer, and targets wait for it
)

// A Notice is one thing that happened.
type Notice struct {
	ID      string    `json:"-"`
	Kind    Kind      `json:"-"`
	At      time.Time `json:"-"`
	UID     string    `json:"uid,omitempty"` // "" if it is about no single target
	Target  string    `json:"target,omitempty"`
	Commit  string    `json:"commit,omitempty"`
	Code    string    `json:"code,omitempty"` // of a wait
	Who     string    `json:"who,omitempty"`  // "" is a loop
	Number  int       `json:"merge_request,omitempty"`
	Why     string    `json:"why,omitempty"`
	Until   time.Time `json:"until,omitzero"`    // of a wait; zero if nobody knows
	Touches int       `json:"targets,omitempty"` // how many targets an outage touches
	IsOpen  bool      `json:"-"`                 // of a run that ended well: its verification did not find it good yet
}

// A Memory is what was told of a target.
type Memory struct {
	Runs    Mark     `json:"runs,omitzero"`
	Checks  Mark     `json:"checks,omitzero"`
	Entries Mark     `json:"entries,omitzero"`
	Waits   []string `json:"waits,omitempty"` // that last, by what tells them apart
}

// A Mark says up to which moment everything was told.
type Mark struct {
	At  time.Time `json:"at,omitzero"`
	IDs []string  `json:"ids,omitempty"` // of what was told of that moment itself
}

// A Wait is a commit that waits at a target, or a target that waits for what does not answer.
type Wait struct {
	UID, Target, Commit, Code, Why string
	Until                          time.Time
	Outage                         string // what does not answer; "" if the wait is none of that kind
}

// Of returns what is new in the book of a target, in the order of time, and what is to be remembered. What is
// older than what is remembered is not new.
func Of(b *ledger.Book, was Memory) ([]Notice, Memory) {
	var runs, checks, entries []Notice
	for _, r := range b.Runs {
		kind := Kind("")
		switch r.Result {
		case ledger.Good:
			kind = Deployed
		case ledger.Failed:
			kind = Failed
		case ledger.Ended: // nobody knows how
		}
		if kind != "" {
			runs = append(runs, Notice{Kind: kind, At: r.At, Commit: r.Commit, Why: r.Why,
				IsOpen: r.Check != nil && r.Check.Result != ledger.Good})
		}
		if c := r.Check; c != nil && c.Result == ledger.Good {
			checks = append(checks, Notice{Kind: Verified, At: c.Done, Commit: r.Commit})
		} else if c != nil && c.Result == ledger.Failed {
			checks = append(checks, Notice{Kind: Unverified, At: c.Done, Commit: r.Commit})
		}
	}
	for _, e := range b.Entries {
		entries = append(entries, Notice{Kind: Kind(e.Verb), At: e.At, Commit: e.Commit, Who: e.Who, Number: e.Number,
			Why: e.Why})
	}
	now := Memory{Waits: was.Waits}
	var out []Notice
	for _, of := range []struct {
		all  []Notice
		was  Mark
		mark *Mark
	}{{runs, was.Runs, &now.Runs}, {checks, was.Checks, &now.Checks}, {entries, was.Entries, &now.Entries}} {
		news, mark := of.was.after(b, of.all)
		*of.mark = mark
		out = append(out, news...)
	}
	slices.SortStableFunc(out, func(x, y Notice) int { return x.At.Compare(y.At) })
	return out, now
}

// after returns the notices that a mark does not have, and the mark that has them.
func (m Mark) after(b *ledger.Book, all []Notice) (news []Notice, now Mark) {
	now = m
	for _, n := range all {
		n.UID, n.Target = b.UID, b.Target
		n.ID = idOf(n)
		if n.At.Before(m.At) || n.At.Equal(m.At) && slices.Contains(m.IDs, n.ID) {
			continue
		}
		news = append(news, n)
		if n.At.After(now.At) {
			now = Mark{At: n.At}
		}
		if n.At.Equal(now.At) {
			now.IDs = append(slices.Clone(now.IDs), n.ID)
		}
	}
	return news, now
}

// idOf returns the id of a notice: the same for the same event, whoever tells it.
func idOf(n Notice) string {
	text := fmt.Sprintf("%q %q %q %q %q %d %q", n.UID, n.Kind, n.Commit, n.Code, n.At.UTC().Format(time.RFC3339Nano),
		n.Number, n.Who)
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// Began returns the waits of a target that began, and what is to be remembered. What waits for something that does not
// answer is told by [Outages].
func Began(waits []Wait, was Memory, now time.Time) ([]Notice, Memory) {
	var out []Notice
	var last []string
	for _, w := range waits {
		if w.Outage != "" {
			continue
		}
		key := w.key()
		last = append(last, key)
		if !slices.Contains(was.Waits, key) {
			n := Notice{Kind: Waits, At: now, UID: w.UID, Target: w.Target, Commit: w.Commit, Code: w.Code, Why: w.Why,
				Until: w.Until}
			n.ID = idOf(n)
			out = append(out, n)
		}
	}
	was.Waits = last
	return out, was
}

// key tells waits of a target apart. On a busy branch another commit soaks each time; that is no news.
func (w Wait) key() string {
	switch w.Code {
	case "rejected", "blocked", "bad", "checks":
		return w.Code + " " + w.Commit
	}
	return w.Code
}

// Outages returns one notice for each outage that began, and what is to be remembered. Also the first ones are told.
func Outages(waits []Wait, was Memory, now time.Time) ([]Notice, Memory) {
	by := map[string][]Wait{}
	var keys []string
	for _, w := range waits {
		if w.Outage == "" {
			continue
		}
		if by[w.Outage] == nil {
			keys = append(keys, w.Outage)
		}
		by[w.Outage] = append(by[w.Outage], w)
	}
	slices.Sort(keys)
	var out []Notice
	for _, key := range keys {
		if slices.Contains(was.Waits, key) {
			continue
		}
		n := Notice{Kind: Outage, At: now, Code: key, Why: by[key][0].Why, Touches: len(by[key])}
		n.ID = idOf(n)
		out = append(out, n)
	}
	was.Waits = keys
	return out, was
}

// Subject returns what a notice is about, for people and programs.
func (n Notice) Subject() string {
	if n.UID == "" {
		return strings.TrimSpace(n.Code)
	}
	return n.Target
}

// Text returns a notice in one line.
func (n Notice) Text() string {
	out := fmt.Sprintf("%s: %s", n.Subject(), n.Kind)
	if n.Kind == Waits {
		out += " for " + n.Code
	}
	if n.Commit != "" {
		out += fmt.Sprintf(" %.12s", n.Commit)
	}
	if n.Who != "" {
		out += " by " + n.Who
	}
	if n.Touches > 0 {
		out += fmt.Sprintf(", %d targets wait", n.Touches)
	}
	return out + cmp.Or(map[bool]string{true: ": " + n.Why}[n.Why != ""], "")
}

// State returns what a notice says about its commit in the word of commit statuses: success, failure or pending; "" if
// it says nothing about it.
func (n Notice) State() string {
	switch n.Kind {
	case Deployed, Verified:
		if n.IsOpen {
			return "pending"
		}
		return "success"
	case Failed, Unverified, Kind(ledger.Rejected), Kind(ledger.Undid):
		return "failure"
	case Kind(ledger.Proposed), Kind(ledger.Merged), Kind(ledger.Unrejected), Kind(ledger.Promoted):
		return "pending"
	}
	return ""
}
