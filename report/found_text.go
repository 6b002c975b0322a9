package report

import (
	"fmt"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

// The bounds of the findings that reports show.
const (
	maxShownFindings = 20  // of one task
	maxRemarked      = 100 // tasks that passed
)

// writeRemarked writes the findings of tasks that passed.
func (t *text) writeRemarked(r Remarked) {
	if len(r.Tasks)+r.Old == 0 {
		return
	}
	if len(r.Tasks) == 0 {
		t.printLine("\nFindings: %s", r.OldNote())
		return
	}
	t.printHeading("Findings of tasks that passed: %s", r.Summary)
	shown := r.Tasks
	if !t.style.Verbose {
		shown = shown[:min(len(shown), maxRemarked)]
	}
	for _, task := range shown {
		t.printLine("  %s", cleanLine(task.Task))
		t.writeFindings(task)
	}
	if more := len(r.Tasks) - len(shown); more > 0 {
		t.printLine("  and %s; -v shows them", phrase.Count(more, "more task"))
	}
	if note := r.OldNote(); note != "" {
		t.printLine("  %s", note)
	}
}

// writeFindings writes the findings of a task, beneath its name.
func (t *text) writeFindings(task TaskResult) {
	most := maxShownFindings
	if t.style.Verbose {
		most = len(task.Findings)
	}
	shown, _ := task.ShownFindings(most)
	for i, line := range findingLines(task, most) {
		color := faint
		if i < len(shown) {
			color = severityColor(shown[i].Severity)
		}
		t.printLine("    %s", t.style.paint(color, line))
	}
}

// severityColor returns the colour of a finding.
func severityColor(s plan.Severity) color {
	switch s {
	case plan.SeverityError:
		return red
	case plan.SeverityWarning:
		return yellow
	case plan.SeverityNote:
	}
	return plain
}

// writeRemarked writes the findings of tasks that passed.
func (m *markdown) writeRemarked(r Remarked) {
	if len(r.Tasks) > 0 {
		m.printLine("\n#### Findings of tasks that passed: %s", r.Summary)
	}
	for _, task := range r.Tasks[:min(len(r.Tasks), maxRemarked)] {
		m.printLine("\n**%s**\n", codeSpan(task.Task))
		for _, line := range markdownFindings(task) {
			m.printLine("%s", line)
		}
	}
	if more := len(r.Tasks) - maxRemarked; more > 0 {
		m.printLine("\nand %s.", phrase.Count(more, "more task"))
	}
	if note := r.OldNote(); note != "" {
		m.printLine("\n%s.", startSentence(note))
	}
}

// markdownFindings returns the findings of a task as items of a list.
func markdownFindings(t TaskResult) []string {
	shown, rest := t.ShownFindings(maxShownFindings)
	var out []string
	for _, f := range shown {
		out = append(out, "- "+FindingMarkdown(f, codeSpan))
	}
	for _, text := range rest {
		out = append(out, "- "+text)
	}
	return out
}

// FindingMarkdown returns a finding as one line of Markdown. Code and place go through show, which
// makes code of them.
func FindingMarkdown(f plan.Finding, show func(string) string) string {
	text := "finding"
	if f.Severity.IsValid() {
		text = string(f.Severity)
	}
	if f.Severity != plan.SeverityNote {
		text = boldMarkdown(text)
	}
	if f.Code != "" {
		text += " " + show(string(f.Code))
	}
	if where := f.Where(); where != "" {
		text += fmt.Sprintf(" at %s", show(where))
	}
	return text + ": " + escapeMarkdown(f.Message)
}
