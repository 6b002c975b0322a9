package report

import (
	"fmt"
	"io"
	"slices"

	md "github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/internal/sanitize"
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
