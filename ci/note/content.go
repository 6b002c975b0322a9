package note

import (
	"fmt"
	"strings"

	md "github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// A content holds all parts of a note as Markdown. A note shows as much of it as
// there is room for.
type content struct {
	title    string
	actions  []string // what the author must do, in short
	summary  string   // what the change touches, and how much is checked
	sections []section
	findings findingsPart
	effects  effectsPart
	fixed    []string
	warnings []string
	ran      fold
	skipped  []fold
	since    fold
	footer   string
}

// A fold is a folded table with a summary.
type fold struct {
	summary string
	head    []string
	rows    []string
}

// newContent returns the content of a note. Before is the run that this run is
// compared with, or nil.
func (n Note) newContent(rep *report.Report, before *run) *content {
	if n.Plan == nil {
		return n.newUnplannedContent()
	}
	groups := groupTasks(rep, before)
	c := &content{
		title:    n.title(rep),
		actions:  append(n.Labels.listActions(), groups.listActions(rep, before)...),
		summary:  changeSummary(n.Plan, rep),
		sections: n.newSections(groups),
		findings: newFindingsPart(rep.Remarked()),
		effects:  n.newEffectsPart(rep.Effects),
		ran:      n.newTasksFold(rep),
		skipped:  append(newSkippedFolds(rep), newTrainFold(rep.Train)),
		since:    newSinceFold(n.Plan, before),
		footer:   n.footer(),
	}
	for _, t := range groups.fixed {
		c.fixed = append(c.fixed, showName(t.Task))
	}
	for _, warning := range rep.Warnings {
		c.warnings = append(c.warnings, "- ⚠️ "+md.Escape(warning))
	}
	if rep.Audit != nil {
		c.summary += " " + md.Escape("Audit: "+report.AuditSummary(rep.Audit)+".")
		for _, line := range report.AuditLines(rep.Audit) {
			c.warnings = append(c.warnings, "- ⚠️ "+md.Escape(line))
		}
	}
	return c
}

// newUnplannedContent returns the content of a note without a plan.
func (n Note) newUnplannedContent() *content {
	c := &content{
		title: "### ❌ " + md.Escape(n.Tool) + ": could not be planned",
		actions: []string{
			"- **Nothing was checked**, so this does not pass: no plan could be made of the change.",
			"- **Look at the last words of planner** below. If they name a temporary problem, run the pipeline again.",
		},
		footer: n.footer(),
	}
	if lines := lastLines(n.Unplanned, maxUnplannedLines); len(lines) > 0 {
		c.sections = []section{{title: "#### Last words of planner", tasks: 1, entries: []entry{{tail: lines}}}}
	}
	return c
}

// title returns the verdict and the numbers of effects in one line.
func (n Note) title(rep *report.Report) string {
	c, sign, text := rep.Counts, "✅", ""
	if n.verdict(rep) == plan.VerdictFailed {
		sign = "❌"
	}
	if rep.Verdict == plan.VerdictNotChecked {
		sign = "⚠️"
	}
	switch failed := c.Tasks - c.Passed; {
	case rep.Verdict == plan.VerdictNotChecked:
		text = "not checked"
	case failed > 0 && failed == c.Tasks && rep.Verdict == plan.VerdictPassed:
		text = fmt.Sprintf("not checked, %d of %s failed without blocking", failed, phrase.Count(c.Tasks, "task"))
	case failed > 0 && rep.Verdict == plan.VerdictPassed:
		text = fmt.Sprintf("passed, %d of %s failed without blocking", failed, phrase.Count(c.Tasks, "task"))
	case failed > 0:
		text = fmt.Sprintf("%d of %s did not pass", failed, phrase.Count(c.Tasks, "task"))
	case rep.Verdict == plan.VerdictFailed:
		text = "the results do not fit the plan"
	case c.Tasks == 0 && c.Reused > 0:
		text = "nothing new to check, " + phrase.Count(c.Reused, "task") + " passed before"
	case c.Tasks == 0:
		text = "nothing to check"
	default:
		text = phrase.Count(c.Tasks, "task") + " passed"
	}
	if rep.Verdict == plan.VerdictPassed && n.Labels.block() {
		text = "a label is needed, " + text
	}
	if effects := rep.Effects.SummaryWith(bold); effects != "" {
		text += "; " + effects
	}
	if findings := rep.Remarked().Summary; findings != "" {
		text += "; " + findings
	}
	return fmt.Sprintf("### %s %s: %s", sign, md.Escape(n.Tool), text)
}

// changeSummary returns what the change touches, how much of it is checked, and
// how long the check took.
func changeSummary(p *plan.Plan, rep *report.Report) string {
	ch := p.Changes
	var parts []string
	for _, part := range []struct {
		n    int
		noun string
	}{{len(ch.Datafiles), "datafile"}, {len(ch.Resources), "resource"}, {len(ch.Schemas), "schema"},
		{len(ch.GraphQL), "GraphQL type"}} {
		if part.n > 0 {
			parts = append(parts, phrase.Count(part.n, part.noun))
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
		text += fmt.Sprintf(" Of %s none has to be checked; the reasons are below.",
			phrase.Count(c.Integrations, "integration"))
	default:
		text += fmt.Sprintf(" Checked: %d of %s. Skipped: %d.", c.Run+c.Shards, phrase.Count(c.Integrations, "integration"),
			c.Skip)
	}
	if c.Reused > 0 {
		text += fmt.Sprintf(" Not run again: %s that passed with the same inputs before.", phrase.Count(c.Reused, "task"))
	}
	if rep.Train != nil {
		text += " Merge train: " + rep.Train.String() + "."
	}
	return text + durationSummary(rep)
}

// durationSummary returns how long the run took, and how long all tasks took together. Its words follow
// from the number of tasks, not from a clock, so that two notes on the same run are alike.
func durationSummary(rep *report.Report) string {
	last, ran, hasRun := 0.0, 0, rep.Counts.Seconds > 0
	for _, t := range rep.Results {
		if len(t.Spans) > 0 {
			hasRun, ran = true, ran+1
		}
		for _, span := range t.Spans {
			last = max(last, span.End())
		}
	}
	wall, work := formatSeconds(last), formatSeconds(rep.Counts.Seconds)
	switch {
	case !hasRun:
		return ""
	case ran < 2:
		return fmt.Sprintf(" It took %s.", work)
	}
	return fmt.Sprintf(" It took %s for %s of work.", wall, work)
}

// footer returns the plan, the commit and links to more details.
func (n Note) footer() string {
	var parts []string
	if digest := n.planDigest(); digest != "" {
		parts = append(parts, "plan "+md.Code(digest))
	}
	if commitPattern.MatchString(n.Commit) {
		parts = append(parts, "commit "+md.Code(shortHash(n.Commit)))
	}
	parts = append(parts, newLink("pipeline", n.Links.Pipeline), newLink("full report", n.Links.Report))
	return joinNonEmpty(" · ", parts...)
}
