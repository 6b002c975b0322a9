package board

import (
	"fmt"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state/audits"
	"github.com/app-sre/prcheck/state/checks"
	"github.com/app-sre/prcheck/state/loops"
	"github.com/app-sre/prcheck/state/tally"
)

// Version is the version of the JSON form. Fields may be added, never renamed.
const Version = "prcheck-board/v1"

// An Input is what a board is made from.
type Input struct {
	Now    time.Time
	Of     string // the name of the repository, "" if nobody knows it
	Forge  string // the address of the forge, for links to merge requests; "" for none
	Checks []checks.Check
	Loops  []loops.Loop
	Days   []tally.Day // of the last [Weeks] weeks, the oldest first
	// Audits count the skips that were audited in these weeks, and Misses are the wrong ones.
	Audits  map[plan.Rung]plan.AuditCount
	Misses  []audits.Miss
	Unknown []string // what could not be read
	// Texts says that reasons are shown, which may name targets and quote services.
	Texts bool
}

// Weeks is how many weeks a board looks back.
const Weeks = 12

// A Board says how a whole repository stands.
type Board struct {
	Made       time.Time
	Of         string
	Title      string
	IsGood     bool // nothing waits, fails or is unknown
	Tasks      []Task
	Checks     []CheckRow
	Flows      []integration.Flow
	Fleets     []Fleet
	Resources  []Resources
	Audits     plan.AuditCount
	Rungs      map[plan.Rung]plan.AuditCount
	Misses     []audits.Miss
	Weeks      []Week
	Unknown    []string
	IsEmpty    bool // the state has nothing to show
	HasReasons bool
}

// A Task is something that stays as it is until a person acts.
type Task struct {
	Kind  string    `json:"kind"` // fails, late, waits, unknown
	What  string    `json:"what"`
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"` // it ends by itself
	Do    string    `json:"do"`
}

// A CheckRow is how the check of a merge request stands.
type CheckRow struct {
	checks.Check
	Status checks.Status `json:"status"`
	Counts checks.Part   `json:"counts"`
	Link   string        `json:"link,omitempty"`
	Does   string        `json:"does"` // in words
}

// New returns the board of an input.
func New(in Input) *Board {
	b := &Board{Made: in.Now.UTC().Truncate(time.Second), Of: in.Of, Unknown: in.Unknown, HasReasons: in.Texts,
		Rungs: in.Audits, Audits: plan.Sum(in.Audits), Misses: in.Misses}
	if !in.Texts {
		in = in.withoutReasons()
	}
	for _, c := range in.Checks {
		row := CheckRow{Check: c, Status: c.Status(), Counts: c.Sum(), Link: link(in.Forge, c.MergeRequest)}
		row.Does = does(row)
		b.Checks = append(b.Checks, row)
	}
	for _, l := range in.Loops {
		b.Flows = append(b.Flows, l.Flows...)
	}
	b.Fleets, b.Resources = fleets(in.Loops, in.Now), resources(in.Loops)
	b.Weeks = weeks(in.Days, in.Now)
	b.Tasks = tasks(b, in)
	b.IsEmpty = len(in.Checks)+len(in.Loops)+len(in.Days)+len(in.Unknown) == 0
	b.Title = b.title()
	return b
}

// withoutReasons returns an input without texts that may name targets or quote services.
func (in Input) withoutReasons() Input {
	all := make([]loops.Loop, len(in.Loops))
	for i, l := range in.Loops {
		l.Errors = nil
		units := make([]integration.Standing, len(l.Units))
		for j, u := range l.Units {
			u.Hold = ""
			units[j] = u
		}
		flows := make([]integration.Flow, len(l.Flows))
		for j, f := range l.Flows {
			flows[j] = flowWithoutReasons(f)
		}
		l.Units, l.Flows = units, flows
		all[i] = l
	}
	in.Loops = all
	return in
}

func flowWithoutReasons(f integration.Flow) integration.Flow {
	commits := make([]integration.Commit, len(f.Commits))
	for i, c := range f.Commits {
		passes := make([]integration.Passage, len(c.Passes))
		for j, p := range c.Passes {
			p.Why = ""
			passes[j] = p
		}
		commits[i] = integration.Commit{SHA: c.SHA, Passes: passes}
	}
	f.Commits = commits
	return f
}

// title returns the headline: what needs somebody, or that nothing is known to do so.
func (b *Board) title() string {
	counts := map[string]int{}
	for _, t := range b.Tasks {
		counts[t.Kind]++
	}
	var parts []string
	if n := counts[kindFails]; n > 0 {
		parts = append(parts, phrase.Count(n, "thing")+verb(n, " fails", " fail"))
	}
	if n := counts[kindLate]; n > 0 {
		parts = append(parts, phrase.Count(n, "loop")+verb(n, " is late", " are late"))
	}
	if n := counts[kindWaits]; n > 0 {
		parts = append(parts, phrase.Count(n, "thing")+verb(n, " waits", " wait"))
	}
	if n := len(b.Unknown) + counts[kindUnknown]; n > 0 {
		parts = append(parts, phrase.Count(n, "thing")+verb(n, " is not known", " are not known"))
	}
	switch {
	case b.IsEmpty:
		return "Nothing is known yet"
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	}
	b.IsGood = true
	return "Nothing waits, and nothing is known to fail"
}

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// link returns the address of a merge request, "" if nobody knows it.
func link(forge, name string) string {
	project, number, ok := strings.Cut(name, "!")
	if forge == "" || !ok || strings.Trim(number, "0123456789") != "" || !isPath(project) {
		return ""
	}
	return strings.TrimSuffix(forge, "/") + "/" + project + "/-/merge_requests/" + number
}

// isPath reports whether a text is a path of a project.
func isPath(project string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./"
	return project != "" && strings.Trim(project, letters) == "" && !strings.Contains(project, "..") &&
		!strings.Contains(project, "//")
}

// does says what a change does, in words, and what nobody knows of it.
func does(c CheckRow) string {
	var parts []string
	for _, of := range []struct {
		n    int
		verb string
	}{{c.Counts.Delete, "delete"}, {c.Counts.Create, "create"}, {c.Counts.Change, "change"}} {
		if of.n > 0 {
			parts = append(parts, fmt.Sprintf("%d to %s", of.n, of.verb))
		}
	}
	if c.Counts.Other > 0 {
		parts = append(parts, fmt.Sprintf("%d other", c.Counts.Other))
	}
	out := strings.Join(parts, ", ")
	if out == "" {
		out = "no new effect is known"
	}
	if c.Counts.Uncompared > 0 {
		out += " (not compared with main)"
	}
	if n := c.Counts.Unknown; n > 0 {
		out += fmt.Sprintf("; of %s it is not known", phrase.Count(n, "task"))
	}
	if c.Tasks == 0 {
		out = "nothing has to run"
	}
	return out
}
