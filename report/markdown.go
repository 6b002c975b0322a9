package report

import (
	"fmt"
	"io"
	"strings"

	md "github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/plan"
)

// MaxTails is how many failures show their last lines in Markdown.
const MaxTails = 20

// Markdown writes a report for a merge request: the same as [Text], with the
// long parts folded.
func Markdown(w io.Writer, rep *Report) error {
	m := markdown{}
	sign, title := "✅", headline(rep)
	if rep.Verdict == NotChecked {
		title = escape(title) // it may show what tasks wrote
	}
	switch {
	case rep.Verdict == Failed:
		sign = "❌"
	case rep.Verdict == NotChecked, rep.Counts.Baseline > 0:
		sign = "⚠️"
	}
	m.line("### %s prcheck %s: %s", sign, verdictWords(rep.Verdict), title)
	m.line("\n%s.", share(rep.Counts))
	m.funnel(rep)
	m.failures("Failures", rep.failures())
	m.unchecked(rep)
	m.failures("Already broken on base", rep.broken())
	m.tasks(rep.Results)
	m.decisions(rep)
	m.unread(rep.Observed)
	m.warnings(rep.Warnings)
	_, err := io.WriteString(w, m.out.String())
	return err
}

// PlanMarkdown writes a plan for a merge request: the same as [PlanText], with
// the long parts folded.
func PlanMarkdown(w io.Writer, p *plan.Plan) error {
	m, rep := markdown{}, outline(p)
	m.line("### prcheck plan: %s", planHeadline(p))
	m.line("\n%s.", share(rep.Counts))
	m.funnel(rep)
	m.changes(p.Changes)
	m.decisions(rep)
	m.warnings(rep.Warnings)
	_, err := io.WriteString(w, m.out.String())
	return err
}

// markdown collects lines.
type markdown struct {
	out strings.Builder
}

func (m *markdown) line(format string, args ...any) {
	fmt.Fprintf(&m.out, format+"\n", args...)
}

// row writes a table row of cells that are escaped already.
func (m *markdown) row(cells ...string) {
	m.line("| %s |", strings.Join(cells, " | "))
}

// fold starts a folded part; the function ends it.
func (m *markdown) fold(format string, args ...any) (end func()) {
	m.line("\n<details><summary>%s</summary>\n", fmt.Sprintf(format, args...))
	return func() { m.line("\n</details>") }
}

func (m *markdown) funnel(rep *Report) {
	m.line("")
	m.row("decided at", "run", "shards", "skip", "left")
	m.row(":--", "--:", "--:", "--:", "--:")
	for _, r := range rep.funnel() {
		m.row(string(r.Rung), fmt.Sprint(r.Run), fmt.Sprint(r.Shards), fmt.Sprint(r.Skip), fmt.Sprint(r.Left))
	}
}

func (m *markdown) failures(title string, tasks []Task) {
	if len(tasks) == 0 {
		return
	}
	m.line("\n#### %s", title)
	for i, t := range tasks {
		var more []string
		for _, detail := range details(t) {
			more = append(more, escape(detail))
		}
		if t.Log != "" {
			more = append(more, "log "+code(t.Log))
		}
		suffix := ""
		if len(more) > 0 {
			suffix = " (" + strings.Join(more, ", ") + ")"
		}
		m.line("\n**%s** %s%s", code(t.Task), escape(result(t)), suffix)
		if more := t.Tries(); len(more) > 0 {
			m.line("\n- %s", escape(strings.Join(more, "; ")))
		}
		if i < MaxTails && block(t.Tail) != "" {
			m.line("\n%s", fenced(t.Tail))
		}
	}
	if more := len(tasks) - MaxTails; more > 0 {
		m.line("\n%s without their last lines here; the logs have them.", number(more, "failure"))
	}
}

func (m *markdown) tasks(tasks []Task) {
	if len(tasks) == 0 {
		return
	}
	end := m.fold("%s", number(len(tasks), "task"))
	m.row("task", "time", "result", "last line")
	m.row(":--", "--:", ":--", ":--")
	for _, t := range tasks {
		took := "-"
		if t.Attempts > 0 {
			took = seconds(t.Seconds)
		}
		m.row(code(t.Task), took, escape(result(t)), escape(lastWord(t)))
	}
	end()
}

func (m *markdown) decisions(rep *Report) {
	if running := rep.running(); len(running) > 0 {
		m.line("\n#### To check")
		m.line("")
		m.row("integration", "decision", "decided at", "why")
		m.row(":--", ":--", ":--", ":--")
		for _, i := range running {
			decision := string(i.Decision)
			if i.Decision == plan.Shards {
				decision = number(len(i.Tasks), "shard task")
			}
			m.row(code(i.Name), escape(decision), escape(string(i.Rung)), escape(i.Reason))
		}
	}
	for _, rung := range plan.Rungs() {
		skipped := rep.skipped(rung)
		if len(skipped) == 0 {
			continue
		}
		end := m.fold("%d skipped at %s", len(skipped), rung)
		m.row("integration", "why")
		m.row(":--", ":--")
		for _, i := range skipped {
			m.row(code(i.Name), escape(i.Reason))
		}
		end()
	}
}

func (m *markdown) changes(c plan.Changes) {
	files := len(c.Datafiles) + len(c.Resources)
	if files+len(c.Schemas)+len(c.GraphQL) == 0 {
		m.line("\nChanged: nothing.")
		return
	}
	end := m.fold("Changed: %s", changed(c))
	rows := min(maxChanges, files)
	if rows > 0 {
		m.row("change", "file", "schema")
		m.row(":--", ":--", ":--")
	}
	for i := range rows {
		if i < len(c.Datafiles) {
			d := c.Datafiles[i]
			m.row(escape(string(d.Kind)), code(d.Path), code(d.Schema))
			continue
		}
		r := c.Resources[i-len(c.Datafiles)]
		m.row(escape(string(r.Kind)), code(r.Path), code(r.Schema))
	}
	if more := files - rows; more > 0 {
		m.line("\nand %s", number(more, "more file"))
	}
	if rows > 0 && len(c.Schemas)+len(c.GraphQL) > 0 {
		m.line("")
	}
	for _, schema := range c.Schemas {
		m.line("- schema %s", code(schema))
	}
	for _, name := range c.GraphQL {
		m.line("- GraphQL type %s", code(name))
	}
	end()
}

func (m *markdown) warnings(warnings []string) {
	if len(warnings) == 0 {
		return
	}
	m.line("\n#### Warnings\n")
	for _, warning := range warnings {
		m.line("- ⚠ %s", escape(warning))
	}
}

// escape makes plain text of one line of an untrusted value.
func escape(text string) string { return md.Escape(text) }

// code shows an untrusted value as code.
func code(text string) string { return md.Code(text) }

// fenced shows untrusted lines as they are.
func fenced(text string) string { return md.Fence(text) }
