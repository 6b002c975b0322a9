package note

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/internal/names"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// The bounds of the limit of a body, in characters. GitLab accepts a million.
const (
	DefaultLimit = 990_000
	MinLimit     = 500
)

// A Note is the note of one tool on one merge request.
type Note struct {
	// Tool identifies the tool, so that its note is not mistaken for the note of
	// another tool. It has at most 40 lower-case letters, digits and single
	// hyphens between them.
	Tool    string
	Plan    *plan.Plan
	Results *plan.Results // of all parts of the plan; a task without a result has failed
	// Unplanned is the output of the planner when no plan could be made. It is
	// set in place of Plan; the note then says that nothing was checked.
	Unplanned string
	Serial    int64  // the generation of the note: greater for a newer pipeline, never negative
	Commit    string // the commit that was checked
	Links     Links
	Labels    Labels         // that the effects need
	Locator   report.Locator // finds the lines of findings; nil if the files are not at hand
	Limit     int            // largest size of the body in characters; 0 means DefaultLimit
}

// Labels are the labels that the effects of a change need.
type Labels struct {
	Needed  []report.NeededLabel
	Missing []report.NeededLabel // those that the merge request does not have
	Asked   bool                 // whether this is the job of a merge request, whose labels count
	Known   bool                 // whether it is known which labels the merge request has
}

// Links are the addresses that a note links to. Each of them may be missing. An
// address is left out if it is not http or https or contains credentials.
type Links struct {
	Pipeline string
	Report   string
	Log      func(task string) string // returns the address of the log of a task
}

// Marker returns the beginning of the body of every note of this tool. No other
// note begins with it.
func (n Note) Marker() string { return "<!-- prcheck-note:" + n.Tool + " " }

// Generation returns the generation of a note from its body, and whether the body
// is a note of this tool.
func (n Note) Generation(body string) (int64, bool) {
	s, ok := n.readState(body)
	return s.Generation, ok
}

// Body returns the body of the note. Previous is the body that it replaces, or "".
// Only the marker of previous is read, and ignored if it is damaged.
func (n Note) Body(previous string) (string, error) {
	limit := cmp.Or(n.Limit, DefaultLimit)
	if err := n.validate(limit); err != nil {
		return "", fmt.Errorf("writing the note: %w", err)
	}
	rep := n.newReport()
	s := n.newState(rep, previous, limit)
	first := n.Marker() + s.encode() + markerEnd
	body, ok := n.newContent(rep, s.Before).renderWithin(first, limit)
	if !ok {
		return "", fmt.Errorf("writing the note: not even its first line fits into %d characters", limit)
	}
	return body, nil
}

// validate returns an error if the fields of the note are wrong.
func (n Note) validate(limit int) error {
	switch {
	case !names.IsTool(n.Tool):
		return fmt.Errorf("the tool id is %q; it must be lower-case letters, digits and single hyphens between them, at "+
			"most 40", n.Tool)
	case n.Plan == nil && strings.TrimSpace(n.Unplanned) == "":
		return errors.New("there is no plan; give the plan that was run, or the output of the planner that could not " +
			"make one")
	case n.Serial < 0:
		return fmt.Errorf("the generation is %d; it must not be negative", n.Serial)
	case limit < MinLimit:
		return fmt.Errorf("the limit is %d characters; it must be at least %d", limit, MinLimit)
	}
	return nil
}

// newReport returns the report that the note shows. Without a plan this is an empty
// report that failed.
func (n Note) newReport() *report.Report {
	if n.Plan == nil {
		return &report.Report{Verdict: plan.VerdictFailed}
	}
	rep := report.New(n.Plan, n.Results)
	if n.Locator != nil {
		rep.Locate(n.Locator)
	}
	return rep
}
