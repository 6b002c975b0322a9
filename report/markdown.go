package report

import (
	"fmt"
	"io"
	"strings"

	md "github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

// MaxTails is the number of failures that show their last lines in Markdown.
const MaxTails = 20

// Markdown writes a report as Markdown for a merge request. What a reviewer asks comes first: the verdict, what
// the change does, what a person must do, what is not known, and what fails. That has at most maxOpenLines lines; all
// that is longer, and all else, is folded.
func Markdown(w io.Writer, rep *Report) error {
	m := markdown{}
	sign, title := "✅", outcomeHeadline(rep)
	if rep.Verdict == plan.VerdictNotChecked {
		title = escapeMarkdown(title) // it may show what tasks wrote
	}
	title += effectsHeadline(rep, boldMarkdown)
	switch {
	case rep.Verdict == plan.VerdictFailed:
		sign = "❌"
	case rep.Verdict == plan.VerdictNotChecked, rep.Counts.Baseline > 0:
		sign = "⚠️"
	}
	m.printLine("### %s prcheck %s: %s", sign, verdictLabel(rep.Verdict), title)
	m.writeEffects(rep)
	m.writeLabels(rep.Effects.Labels)
	m.fit("What is not known", func(m *markdown) { m.writeUnknown(rep.Effects) })
	m.writeFailures(rep, rep.failedTasks())
	m.fit(uncheckedTitle, func(m *markdown) { m.writeUnchecked(rep) })
	m.fit("Findings of tasks that passed", func(m *markdown) { m.writeRemarked(rep.Remarked()) })
	m.fit("Warnings", func(m *markdown) { m.writeWarnings(rep.Warnings) })
	m.writeFolds()
	m.writeBroken(rep.brokenTasks())
	end := m.startFold("%s", selectionSummary(rep.Counts))
	m.writeFunnel(rep)
	end()
	m.writeTasks(rep)
	m.writeSkips(rep)
	m.writeTrain(rep.Train)
	m.writeSchemas(rep.Observed)
	m.writeAudit(rep.Audit)
	_, err := io.WriteString(w, m.out.String())
	return err
}

// PlanMarkdown writes a plan as Markdown for a merge request: the same parts as
// [PlanText], with the long ones folded.
func PlanMarkdown(w io.Writer, p *plan.Plan) error {
	m, rep := markdown{}, newOutline(p)
	m.printLine("### prcheck plan: %s", planHeadline(p))
	m.printLine("\n%s.\n", selectionSummary(rep.Counts))
	m.writeFunnel(rep)
	m.writeChanges(p.Changes)
	m.writeDecisions(rep)
	m.writeTrain(rep.Train)
	m.writeWarnings(rep.Warnings)
	_, err := io.WriteString(w, m.out.String())
	return err
}

// markdown collects the lines of a report in memory.
type markdown struct {
	out   strings.Builder
	folds []markdownFold // what did not fit, to be folded
}

// A markdownFold is a folded part.
type markdownFold struct{ title, text string }

// maxOpenLines is how many lines stand before the first fold.
const maxOpenLines = 60

// fit writes a part, or folds it if there would be too many lines.
func (m *markdown) fit(title string, write func(*markdown)) {
	var part markdown
	write(&part)
	text := part.out.String()
	switch {
	case text == "":
	case strings.Count(m.out.String()+text, "\n") <= maxOpenLines:
		m.out.WriteString(text)
	default:
		m.folds = append(m.folds, markdownFold{title, text})
	}
	m.folds = append(m.folds, part.folds...)
}

// writeFolds writes what did not fit.
func (m *markdown) writeFolds() {
	for _, f := range m.folds {
		end := m.startFold("%s", f.title)
		m.out.WriteString(strings.TrimLeft(f.text, "\n"))
		end()
	}
}

// printLine adds a line.
func (m *markdown) printLine(format string, args ...any) {
	fmt.Fprintf(&m.out, format+"\n", args...)
}

// writeRow writes a row of a table. The cells must be escaped.
func (m *markdown) writeRow(cells ...string) {
	m.printLine("| %s |", strings.Join(cells, " | "))
}

// startFold starts a folded part and returns the function that ends it.
func (m *markdown) startFold(format string, args ...any) (end func()) {
	m.printLine("\n<details><summary>%s</summary>\n", fmt.Sprintf(format, args...))
	return func() { m.printLine("\n</details>") }
}

func (m *markdown) writeFunnel(rep *Report) {
	m.writeRow("decided at", "run", "shards", "skip", "left")
	m.writeRow(":--", "--:", "--:", "--:", "--:")
	for _, r := range rep.shownRungs() {
		m.writeRow(string(r.Rung), fmt.Sprint(r.Run), fmt.Sprint(r.Shards), fmt.Sprint(r.Skip), fmt.Sprint(r.Left))
	}
}

// writeFailures writes tasks that did not pass, grouped by the cause of their failure. The first one is never folded.
func (m *markdown) writeFailures(rep *Report, tasks []TaskResult) {
	if len(tasks) == 0 {
		return
	}
	m.printLine("\n#### Failures (%d)", len(tasks))
	groups := GroupFailures(tasks)
	m.writeGroup(rep, groups[0], true)
	m.fit(phrase.Count(len(groups)-1, "more failure"), func(m *markdown) {
		for i, group := range groups[1:] {
			m.writeGroup(rep, group, i+1 < MaxTails)
		}
		if more := len(groups) - MaxTails; more > 0 {
			m.printLine("\n%s without their last lines here; the logs have them.", phrase.Count(more, "failure"))
		}
	})
}

// writeGroup writes a group of failures, with the last lines of the first one.
func (m *markdown) writeGroup(rep *Report, group FailureGroup, withTail bool) {
	m.writeFailure(rep.integration(group[0]), group)
	if withTail && cleanBlock(group[0].Tail) != "" {
		m.fit("Last lines of "+codeSpan(group[0].Task), func(m *markdown) { m.printLine("\n%s", fencedBlock(group[0].Tail)) })
	}
}

// writeBroken writes tasks that fail on base as well, folded, one line each.
func (m *markdown) writeBroken(tasks []TaskResult) {
	if len(tasks) == 0 {
		return
	}
	end := m.startFold("Already broken on base (%d)", len(tasks))
	for _, t := range tasks {
		line := "- " + codeSpan(t.Task) + " " + escapeMarkdown(describeResult(t))
		if t.Log != "" {
			line += " (log " + codeSpan(t.Log) + ")"
		}
		m.printLine("%s", line)
	}
	end()
}

// writeFailure writes the first task of a group, why it was checked, and the names of the
// others.
func (m *markdown) writeFailure(in Integration, group FailureGroup) {
	t := group[0]
	var details []string
	for _, detail := range describeEffort(t) {
		details = append(details, escapeMarkdown(detail))
	}
	if t.Log != "" {
		details = append(details, "log "+codeSpan(t.Log))
	}
	suffix, others := "", ""
	if len(details) > 0 {
		suffix = " (" + strings.Join(details, ", ") + ")"
	}
	if more := len(group) - 1; more > 0 {
		others = fmt.Sprintf(" and %d more", more)
	}
	m.printLine("\n**%s**%s %s%s", codeSpan(t.Task), others, escapeMarkdown(describeResult(t)), suffix)
	var lines []string
	if in.Reason != "" {
		lines = append(lines, "- checked because "+escapeMarkdown(in.Reason))
	}
	if causes := in.describeCauses(codeSpan); causes != "" {
		lines = append(lines, "- changed: "+causes)
	}
	if runs := t.OtherRuns(); len(runs) > 0 {
		lines = append(lines, "- "+escapeMarkdown(strings.Join(runs, "; ")))
	}
	if names := group.others(); len(names) > 0 {
		var same []string
		for _, name := range names[:min(len(names), maxAlike)] {
			same = append(same, codeSpan(name))
		}
		line := "- the same: " + strings.Join(same, ", ")
		if more := len(names) - len(same); more > 0 {
			line += fmt.Sprintf(" and %d more", more)
		}
		lines = append(lines, line)
	}
	if lines = append(lines, markdownFindings(t)...); len(lines) > 0 {
		m.printLine("\n%s", strings.Join(lines, "\n"))
	}
}

// writeTasks writes all tasks and why they were checked.
func (m *markdown) writeTasks(rep *Report) {
	if len(rep.Results) == 0 {
		return
	}
	end := m.startFold("%s", phrase.Count(len(rep.Results), "task"))
	m.writeRow("task", "time", "result", "last line", "decided at", "checked because")
	m.writeRow(":--", "--:", ":--", ":--", ":--", ":--")
	for _, t := range rep.Results {
		took := "-"
		if t.Attempts > 0 {
			took = formatSeconds(t.Seconds)
		}
		in := rep.integration(t)
		m.writeRow(codeSpan(t.Task), took, escapeMarkdown(describeResult(t)), escapeMarkdown(passedLastLine(t)),
			escapeMarkdown(string(in.Rung)), escapeMarkdown(in.Reason))
	}
	end()
}

func (m *markdown) writeDecisions(rep *Report) {
	if running := rep.runningIntegrations(); len(running) > 0 {
		m.printLine("\n#### To check")
		m.printLine("")
		m.writeRow("integration", "decision", "decided at", "why")
		m.writeRow(":--", ":--", ":--", ":--")
		for _, i := range running {
			decision := string(i.Decision)
			if i.Decision == plan.Shards {
				decision = phrase.Count(len(i.Tasks), "shard task")
			}
			m.writeRow(codeSpan(i.Name), escapeMarkdown(decision), escapeMarkdown(string(i.Rung)), escapeMarkdown(i.Reason))
		}
	}
	m.writeSkips(rep)
}

// writeSkips writes what is skipped and why, by rung.
func (m *markdown) writeSkips(rep *Report) {
	for _, rung := range plan.Rungs() {
		skipped := rep.skippedAt(rung)
		if len(skipped) == 0 {
			continue
		}
		end := m.startFold("%d skipped at %s", len(skipped), rung)
		m.writeRow("integration", "why")
		m.writeRow(":--", ":--")
		for _, i := range skipped {
			m.writeRow(codeSpan(i.Name), escapeMarkdown(i.Reason))
		}
		end()
	}
}

func (m *markdown) writeChanges(c plan.Changes) {
	files := len(c.Datafiles) + len(c.Resources)
	if files+len(c.Schemas)+len(c.GraphQL) == 0 {
		m.printLine("\nChanged: nothing.")
		return
	}
	end := m.startFold("Changed: %s", changesSummary(c))
	rows := min(maxChanges, files)
	if rows > 0 {
		m.writeRow("change", "file", "schema")
		m.writeRow(":--", ":--", ":--")
	}
	for i := range rows {
		if i < len(c.Datafiles) {
			d := c.Datafiles[i]
			m.writeRow(escapeMarkdown(string(d.Kind)), codeSpan(d.Path), codeSpan(d.Schema))
			continue
		}
		r := c.Resources[i-len(c.Datafiles)]
		m.writeRow(escapeMarkdown(string(r.Kind)), codeSpan(r.Path), codeSpan(r.Schema))
	}
	if more := files - rows; more > 0 {
		m.printLine("\nand %s", phrase.Count(more, "more file"))
	}
	if rows > 0 && len(c.Schemas)+len(c.GraphQL) > 0 {
		m.printLine("")
	}
	for _, schema := range c.Schemas {
		m.printLine("- schema %s", codeSpan(schema))
	}
	for _, name := range c.GraphQL {
		m.printLine("- GraphQL type %s", codeSpan(name))
	}
	end()
}

func (m *markdown) writeWarnings(warnings []string) {
	if len(warnings) == 0 {
		return
	}
	m.printLine("\n#### Warnings\n")
	for _, warning := range warnings {
		m.printLine("- ⚠ %s", escapeMarkdown(warning))
	}
}

// escapeMarkdown returns one line of an untrusted value as plain text in Markdown.
func escapeMarkdown(text string) string { return md.Escape(text) }

// codeSpan returns an untrusted value as a code span in Markdown.
func codeSpan(text string) string { return md.Code(text) }

// fencedBlock returns untrusted lines as a fenced code block in Markdown.
func fencedBlock(text string) string { return md.Fence(text) }

// writeLabels writes which labels the merge request needs.
func (m *markdown) writeLabels(labels []NeededLabel) {
	for _, l := range labels {
		m.printLine("\nA merge request **needs the label** %s: %s.", codeSpan(l.Label), l.Why)
	}
}

// countGroups returns the number of effects in some groups.
func countGroups(groups []EffectGroup) int {
	n := 0
	for _, g := range groups {
		n += g.Count
	}
	return n
}

// boldMarkdown returns text in bold. The text must be our own.
func boldMarkdown(text string) string { return "**" + text + "**" }

// startSentence returns a text with a capital letter at its beginning.
func startSentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
