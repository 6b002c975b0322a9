package note

import (
	"fmt"
	"strings"

	md "github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// A view is all there is to say, as Markdown. What is shown of it is a matter of
// room.
type view struct {
	title    string
	actions  []string // what to do, in short
	touched  string   // what the change touches, and how much of it is checked
	sections []section
	fixed    []string
	warnings []string
	ran      folded
	skipped  []folded
	since    folded
	ending   string
}

// A folded part has rows of a table below a summary.
type folded struct {
	summary string
	head    []string
	rows    []string
}

// look puts together what a note says. Before is the run it is compared with.
func (n Note) look(rep *report.Report, before *run) *view {
	if n.Plan == nil {
		return n.unplanned()
	}
	s := sortOut(rep, before)
	v := &view{
		title:    n.title(rep),
		actions:  s.actions(rep, before),
		touched:  touched(n.Plan, rep),
		sections: n.sections(s),
		ran:      n.ran(rep),
		skipped:  skipped(rep),
		since:    since(n.Plan, before),
		ending:   n.ending(),
	}
	for _, t := range s.fixed {
		v.fixed = append(v.fixed, name(t.Task))
	}
	for _, warning := range rep.Warnings {
		v.warnings = append(v.warnings, "- ⚠️ "+md.Escape(warning))
	}
	return v
}

// title returns the verdict in one line.
func (n Note) title(rep *report.Report) string {
	c, sign, text := rep.Counts, "✅", ""
	if rep.Verdict == report.Failed {
		sign = "❌"
	}
	if rep.Verdict == report.NotChecked {
		sign = "⚠️"
	}
	switch bad := c.Tasks - c.Passed; {
	case rep.Verdict == report.NotChecked:
		text = "not checked"
	case bad > 0 && bad == c.Tasks && rep.Verdict == report.Passed:
		text = fmt.Sprintf("not checked, %d of %s failed without blocking", bad, number(c.Tasks, "task"))
	case bad > 0 && rep.Verdict == report.Passed:
		text = fmt.Sprintf("passed, %d of %s failed without blocking", bad, number(c.Tasks, "task"))
	case bad > 0:
		text = fmt.Sprintf("%d of %s did not pass", bad, number(c.Tasks, "task"))
	case rep.Verdict == report.Failed:
		text = "the results do not fit the plan"
	case c.Tasks == 0 && c.Reused > 0:
		text = "nothing new to check, " + number(c.Reused, "task") + " passed before"
	case c.Tasks == 0:
		text = "nothing to check"
	default:
		text = number(c.Tasks, "task") + " passed"
	}
	return fmt.Sprintf("### %s %s: %s", sign, md.Escape(n.Tool), text)
}

// touched returns what the change touches, what follows from it, and how long
// that took.
func touched(p *plan.Plan, rep *report.Report) string {
	ch := p.Changes
	var parts []string
	for _, part := range []struct {
		n    int
		noun string
	}{{len(ch.Datafiles), "datafile"}, {len(ch.Resources), "resource"}, {len(ch.Schemas), "schema"}, {len(ch.GraphQL), "GraphQL type"}} {
		if part.n > 0 {
			parts = append(parts, number(part.n, part.noun))
		}
	}
	text := "This change touches no data."
	if len(parts) > 0 {
		text = "This change touches " + strings.Join(parts, ", ") + "."
	}
	c := rep.Counts
	switch {
	case c.Integrations == 0:
		text += " There are no integrations."
	case c.Run+c.Shards == 0:
		text += fmt.Sprintf(" Of %s none has to be checked; why stands below.", number(c.Integrations, "integration"))
	default:
		text += fmt.Sprintf(" Checked: %d of %s. Skipped: %d.", c.Run+c.Shards, number(c.Integrations, "integration"), c.Skip)
	}
	if c.Reused > 0 {
		text += fmt.Sprintf(" Not run again: %s that passed with the same inputs before.", number(c.Reused, "task"))
	}
	return text + took(rep)
}

// took returns how long the tasks took, from the beginning to the end and all
// together.
func took(rep *report.Report) string {
	last := 0.0
	for _, t := range rep.Results {
		for _, span := range t.Spans {
			last = max(last, span.End())
		}
	}
	wall, work := seconds(last), seconds(rep.Counts.Seconds)
	switch {
	case rep.Counts.Seconds <= 0:
		return ""
	case last == 0, wall == work:
		return fmt.Sprintf(" It took %s.", work)
	}
	return fmt.Sprintf(" It took %s for %s of work.", wall, work)
}

// ending returns where to read on.
func (n Note) ending() string {
	var parts []string
	if digest := n.digest(); digest != "" {
		parts = append(parts, "plan "+md.Code(digest))
	}
	if commits.MatchString(n.Commit) {
		parts = append(parts, "commit "+md.Code(digits(n.Commit)))
	}
	parts = append(parts, link("pipeline", n.Links.Pipeline), link("full report", n.Links.Report))
	return phrases(" · ", parts...)
}

// maxName bounds a name, in characters.
const maxName = 200

// name shows the name of a task, an integration or a file.
func name(text string) string {
	if runes := []rune(text); len(runes) > maxName {
		text = string(runes[:maxName]) + "…"
	}
	if text = md.Code(text); text != "" {
		return text
	}
	return "(a name that shows nothing)"
}
