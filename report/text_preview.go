package report

import (
	"fmt"
	"io"
	"slices"

	md "github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
)

// A Preview says what the merge of a change would start, as a native integration says it.
type Preview struct {
	Integration string
	Lines       []string
	Problem     string // why it is not known, "" if it is
}

// maxPreview is how many lines of a preview are shown.
const maxPreview = 50

// shown returns the lines to show, made safe, the last one with how many are left out.
func (p Preview) shown() []string {
	if p.Problem != "" {
		return []string{"it is not known: " + sanitize.Line(p.Problem)}
	}
	var out []string
	for _, l := range p.Lines[:min(len(p.Lines), maxPreview)] {
		out = append(out, sanitize.Line(l))
	}
	if more := len(p.Lines) - maxPreview; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return out
}

// PreviewText writes previews as text for a terminal, below [PlanText].
func PreviewText(w io.Writer, previews []Preview, style Style) error {
	t := text{style: style}
	for _, p := range previews {
		t.printHeading("The merge starts, says %s", sanitize.Line(p.Integration))
		for _, l := range p.shown() {
			t.printLine("  %s", l)
		}
	}
	return t.writeTo(w)
}

// PreviewMarkdown writes previews as Markdown, below [PlanMarkdown].
func PreviewMarkdown(w io.Writer, previews []Preview) error {
	m := markdown{}
	for _, p := range previews {
		m.printLine("\n#### The merge starts, says %s\n", md.Code(p.Integration))
		for l := range slices.Values(p.shown()) {
			m.printLine("- %s", escapeMarkdown(l))
		}
	}
	_, err := io.WriteString(w, m.out.String())
	return err
}

// maxAudited is how many units of an audit are shown, beside the wrong skips.
const maxAudited = 20

// AuditSummary says in one line how an audit ended, and what is known of all audits.
func AuditSummary(a *plan.Audit) string {
	total, when := a.Count(), ""
	if plan.Sum(a.Total) != (plan.AuditCount{}) {
		total, when = a.Total, "in the last year "
	}
	out := thisAudit(a)
	if all := plan.Sum(total); all != (plan.AuditCount{}) {
		out += "; " + when + all.String()
	}
	return out
}

// thisAudit says how an audit ended.
func thisAudit(a *plan.Audit) string {
	now := plan.Sum(a.Count())
	ran := now.Audited() + now.Unclear
	var out string
	switch {
	case a.Skipped == 0:
		return "the plan leaves out nothing that can run on both sides"
	case len(a.Units) == 0:
		return fmt.Sprintf("none of the %s that the plan leaves out came into the sample", phrase.Count(a.Skipped, "unit"))
	case a.Skipped == 1:
		out = fmt.Sprintf("%d of 1 unit that the plan leaves out was audited", ran)
	default:
		out = fmt.Sprintf("%d of %d units that the plan leaves out were audited", ran, a.Skipped)
	}
	if now.Wrong > 0 {
		out += fmt.Sprintf(", and %s wrong", countSkips(now.Wrong))
	}
	if left := len(a.Units) - ran; left > 0 {
		out += fmt.Sprintf("; for %d more the time was up", left)
	}
	return out
}

func countSkips(n int) string {
	if n == 1 {
		return "1 skip is"
	}
	return fmt.Sprintf("%d skips are", n)
}

// AuditLines describes the wrong skips of an audit, and then the units that could not be
// compared, one line each. The texts are those of tasks and names from the change.
func AuditLines(a *plan.Audit) []string {
	var wrong, unclear []string
	for _, u := range a.Units {
		text := fmt.Sprintf("%s, skipped at %s: %s", u.Task, u.Rung, phrase.CutRunes(u.Finding, maxFinding))
		switch u.Outcome {
		case plan.AuditWrong:
			text = "wrong skip: " + text
			if u.Remedy != "" {
				text += "; to avoid it, " + u.Remedy
			}
			if len(u.Logs) > 0 {
				text += "; log " + u.Logs[0]
			}
			wrong = append(wrong, text)
		case plan.AuditUnclear:
			unclear = append(unclear, "could not be compared: "+text)
		case plan.AuditRight, plan.AuditLeft:
		}
	}
	if more := len(unclear) - maxAudited; more > 0 {
		unclear = append(unclear[:maxAudited], fmt.Sprintf("and %d more", more))
	}
	return append(wrong, unclear...)
}

// maxFinding is how many characters are shown of a finding.
const maxFinding = 160

// writeAudit writes how an audit ended.
func (t *text) writeAudit(a *plan.Audit) {
	if a == nil {
		return
	}
	t.printHeading("Audit")
	t.printLine("  %s", cleanLine(AuditSummary(a)))
	for i, line := range AuditLines(a) {
		color := yellow
		if i < plan.Sum(a.Count()).Wrong {
			color = red
		}
		t.printLine("  %s", t.style.paint(color, cleanLine(line)))
	}
}

// writeAudit writes how an audit ended.
func (m *markdown) writeAudit(a *plan.Audit) {
	if a == nil {
		return
	}
	m.printLine("\n#### Audit\n\n%s", escapeMarkdown(AuditSummary(a)))
	for i, line := range AuditLines(a) {
		if i == 0 {
			m.printLine("")
		}
		m.printLine("- ⚠ %s", escapeMarkdown(line))
	}
}

// An auditView is what the page shows of an audit.
type auditView struct {
	Summary string
	Lines   []string
}

// newAuditView returns what the page shows of an audit, nil without one.
func newAuditView(a *plan.Audit) *auditView {
	if a == nil {
		return nil
	}
	return &auditView{cleanLine(AuditSummary(a)), cleanLines(AuditLines(a))}
}

// writeAudit writes how many skips audits found to be right and wrong.
func (m *metrics) writeAudit(a *plan.Audit) {
	if a == nil {
		return
	}
	m.startFamily("prcheck_audited_skips", "gauge", "", "Skips that this run audited, by the rung that decided and the "+
		"outcome.")
	counts := a.Count()
	for _, rung := range plan.Rungs() {
		if c, ok := counts[rung]; ok {
			m.writeSample(float64(c.Right), "outcome", string(plan.AuditRight), "rung", string(rung))
			m.writeSample(float64(c.Wrong), "outcome", string(plan.AuditWrong), "rung", string(rung))
			m.writeSample(float64(c.Unclear), "outcome", string(plan.AuditUnclear), "rung", string(rung))
		}
	}
	if total := plan.Sum(a.Total); total.Audited() > 0 {
		m.startFamily("prcheck_wrong_skips_bound", "gauge", "",
			"Upper bound (95 %) on the share of skips that are wrong, by the audits of the last year.")
		m.writeSample(total.UpperBound())
	}
}

// writeTrain writes which results of the merge request's own pipeline hold in its merge train,
// and why the others do not.
func (t *text) writeTrain(train *plan.Train) {
	if train == nil {
		return
	}
	t.printHeading("Merge train: %s", train)
	var rows table
	for _, m := range train.Moved {
		rows = append(rows, []cell{{text: cleanLine(m.Name())}, {text: cleanLine(m.Reason)}})
	}
	rows.writeTo(&t.out, t.style, "  ")
	if more := train.More(); more > 0 {
		t.printLine("  and %d more", more)
	}
}

// writeTrain writes the same as Markdown, with the list folded.
func (m *markdown) writeTrain(train *plan.Train) {
	if train == nil {
		return
	}
	m.printLine("\nMerge train: %s.", train)
	if len(train.Moved) == 0 {
		return
	}
	end := m.startFold("results that do not hold: %d", train.Results-train.Hold)
	m.writeRow("task", "why")
	m.writeRow(":--", ":--")
	for _, moved := range train.Moved {
		m.writeRow(codeSpan(moved.Name()), escapeMarkdown(moved.Reason))
	}
	if more := train.More(); more > 0 {
		m.printLine("\nand %d more", more)
	}
	end()
}

// A trainView is a [plan.Train] as HTML shows it.
type trainView struct {
	Summary string
	Moved   []movedView
	More    int
}

// A movedView is a result that does not hold.
type movedView struct{ Name, Reason string }

func newTrainView(train *plan.Train) *trainView {
	if train == nil {
		return nil
	}
	v := &trainView{Summary: train.String(), More: train.More()}
	for _, m := range train.Moved {
		v.Moved = append(v.Moved, movedView{cleanLine(m.Name()), cleanLine(m.Reason)})
	}
	return v
}
