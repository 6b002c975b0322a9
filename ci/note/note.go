package note

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/internal/names"
	"github.com/app-sre/prcheck/plan"
)

// The bounds of a body, in characters. GitLab takes a million.
const (
	DefaultLimit = 990_000
	MinLimit     = 500
)

// A Note is the note of one tool on one merge request.
type Note struct {
	// Tool tells this note from those of other tools: lower-case letters,
	// digits and single hyphens between them, at most 40.
	Tool    string
	Plan    *plan.Plan
	Results *plan.Results // of all parts; a task without a result has failed
	// Unplanned is what was said when no plan could be made, for a note without a
	// plan: it says that nothing was checked.
	Unplanned string
	Serial    int64  // the generation: greater for a newer pipeline, never negative
	Commit    string // that was checked
	Links     Links
	Limit     int // of the body, in characters; 0 is DefaultLimit
}

// Links are the addresses a note leads to. Each may be missing; one that is not
// http or https, or holds credentials, is left out.
type Links struct {
	Pipeline string
	Report   string
	Log      func(task string) string // of one task
}

// Marker returns how the body of every note of this tool begins, and no other.
func (n Note) Marker() string { return "<!-- prcheck-note:" + n.Tool + " " }

// Generation returns the generation of a note of this tool, and whether the
// body is one.
func (n Note) Generation(body string) (int64, bool) {
	s, ok := n.read(body)
	return s.Generation, ok
}

// Body returns the body of the note. Previous is the body it replaces, or ""; of
// that only the marker is read, and one that cannot be read is taken as none.
func (n Note) Body(previous string) (string, error) {
	limit := cmp.Or(n.Limit, DefaultLimit)
	if err := n.check(limit); err != nil {
		return "", fmt.Errorf("writing the note: %w", err)
	}
	rep := n.report()
	s := n.state(rep, previous, limit)
	first := n.Marker() + s.encode() + end
	body, ok := n.look(rep, s.Before).fit(first, limit)
	if !ok {
		return "", fmt.Errorf("writing the note: not even its first line fits into %d characters", limit)
	}
	return body, nil
}

// check says what is wrong with the note itself.
func (n Note) check(limit int) error {
	switch {
	case !names.IsTool(n.Tool):
		return fmt.Errorf("the tool id is %q; it must be lower-case letters, digits and single hyphens between them, at most 40", n.Tool)
	case n.Plan == nil && strings.TrimSpace(n.Unplanned) == "":
		return errors.New("there is no plan; give the plan that was run, or what was said in its place")
	case n.Serial < 0:
		return fmt.Errorf("the generation is %d; it must not be negative", n.Serial)
	case limit < MinLimit:
		return fmt.Errorf("the limit is %d characters; it must be at least %d", limit, MinLimit)
	}
	return nil
}

// number returns "1 task" or "2 tasks".
func number(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// seconds returns "3.2s" or "2m03s".
func seconds(s float64) string {
	if s < 60 {
		return fmt.Sprintf("%.1fs", s)
	}
	whole := int(s + 0.5)
	return fmt.Sprintf("%dm%02ds", whole/60, whole%60)
}

// phrases joins parts that are not empty.
func phrases(sep string, parts ...string) string {
	var kept []string
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, sep)
}
