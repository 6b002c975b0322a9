package note

import (
	"fmt"
	"strings"

	md "github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// The bounds of the findings that are shown, even if there is room for more.
const (
	maxFindings = 10  // of one task
	maxRemarked = 100 // lines about tasks that passed
)

// A findingsPart holds the findings of tasks that passed.
type findingsPart struct {
	title string
	rows  []string
	more  int    // lines that rows does not have
	old   string // what base has as well, in one line
}

// newFindingsPart returns the findings of tasks that passed. Its title is "" without any.
func newFindingsPart(r report.Remarked) findingsPart {
	var out findingsPart
	for _, t := range r.Tasks {
		out.rows = append(out.rows, findingLines(t, showName(t.Task)+": ")...)
	}
	if out.more = max(0, len(out.rows)-maxRemarked); out.more > 0 {
		out.rows = out.rows[:maxRemarked]
	}
	if len(r.Tasks) > 0 {
		out.title, out.old = "#### Findings of tasks that passed: "+r.Summary, r.OldNote()
	}
	return out
}

// findingLines returns the findings of a task as items of a list. Each begins with prefix.
func findingLines(t report.TaskResult, prefix string) []string {
	shown, rest := t.ShownFindings(maxFindings)
	var out []string
	for _, f := range shown {
		out = append(out, "- "+severitySign(f.Severity)+prefix+report.FindingMarkdown(f, showName))
	}
	for _, text := range rest {
		out = append(out, "- "+prefix+text)
	}
	return out
}

// severitySign returns the sign of a finding with a blank behind it.
func severitySign(s plan.Severity) string {
	switch s {
	case plan.SeverityError:
		return "❌ "
	case plan.SeverityWarning:
		return "⚠️ "
	case plan.SeverityNote:
	}
	return ""
}

// renderFindings writes the findings of tasks that passed.
func (c *content) renderFindings(p *page, q *quota) {
	f := c.findings
	rows := f.rows[:q.take(findingRows, len(f.rows))]
	if len(rows) == 0 {
		return // the list of actions has the numbers
	}
	open := rows
	if p.isOpen() {
		open = rows[:max(1, min(len(rows), maxOpenLines-p.lines()-4))]
	}
	p.writeBlock(f.title)
	p.writeBlock(open...)
	if left := rows[len(open):]; len(left) > 0 {
		p.writeFold(phrase.Count(len(left), "more line"), func() { p.writeBlock(left...) })
	}
	if more := len(f.rows) + f.more - len(rows); more > 0 {
		p.writeBlock(fmt.Sprintf("And %s; the report in JSON has them.", phrase.Count(more, "more line")))
	}
	if f.old != "" {
		p.writeBlock(md.Escape(strings.ToUpper(f.old[:1])+f.old[1:]) + ".")
	}
}
