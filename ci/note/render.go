package note

import (
	"fmt"
	"strings"

	md "github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/internal/phrase"
)

// The bounds of what is shown outside of folds, even if there is room for more.
const (
	maxFixed        = 20
	maxOpenWarnings = 10
)

// render returns as much of the content as the quota allows.
func (c *content) render(q quota) string {
	var p page
	p.writeBlock(c.title)
	if q[actions] > 0 {
		p.writeBlock(c.actions...)
	}
	if q[footers] > 0 {
		p.writeBlock(c.summary)
	}
	c.renderFailures(&p, &q)
	c.renderFindings(&p, &q)
	c.renderEffects(&p, &q)
	if n := q[fixedNames]; n > 0 {
		p.writeBlock(fmt.Sprintf("#### Fixed (%d)", len(c.fixed)), "",
			strings.Join(c.fixed[:n], ", ")+andMore(len(c.fixed)-n))
	}
	c.renderWarnings(&p, &q)
	p.writeFoldedTable(c.ran, ranRows, &q)
	for _, f := range c.skipped {
		p.writeFoldedTable(f, skippedRows, &q)
	}
	p.writeFoldedTable(c.since, sinceRows, &q)
	if q[footers] > 0 {
		p.writeBlock(c.footer)
	}
	return strings.Trim(p.String(), "\n")
}

// renderFailures writes the tasks that did not pass.
func (c *content) renderFailures(p *page, q *quota) {
	open := openEntries
	for _, s := range c.sections {
		shown := s.entries[:q.take(entries, len(s.entries))]
		if len(shown) == 0 {
			return // the list of actions tells how many there are
		}
		p.writeBlock(s.title)
		p.writeBlock(s.intro)
		left := s.tasks
		for _, e := range shown {
			p.writeEntry(e, open > 0, q)
			open--
			left--
		}
		if n := q.take(otherRows, len(s.others)); n > 0 {
			p.writeFold(phrase.Count(n, "more task"), func() {
				p.writeTable([]string{"task", "result", "last line", "checked because", "log"}, s.others[:n])
			})
			left -= n
		}
		p.writeBlock(strings.TrimSpace(andMore(left)))
	}
}

// writeEntry writes one failure, with its details open or folded.
func (p *page) writeEntry(e entry, open bool, q *quota) {
	p.writeBlock(e.head)
	p.writeBlock(e.findings[:q.take(findingRows, len(e.findings))]...)
	why := e.why[:q.take(whyLines, len(e.why))]
	lines := e.tail[max(0, len(e.tail)-q[tailLines]):]
	writeDetails := func() {
		p.writeBlock(why...)
		p.writeBlock(md.Fence(strings.Join(lines, "\n")))
	}
	switch {
	case len(why)+len(lines) == 0:
	case open:
		writeDetails()
	case len(lines) == 0:
		p.writeFold("why it was checked", writeDetails)
	default:
		p.writeFold("why it was checked, and its last words", writeDetails)
	}
}

// renderWarnings writes the warnings: the first ones open, the others folded.
func (c *content) renderWarnings(p *page, q *quota) {
	list := c.warnings[:q[warnings]]
	if len(list) == 0 {
		return
	}
	open := list[:min(len(list), maxOpenWarnings)]
	p.writeBlock("#### Warnings")
	p.writeBlock(open...)
	if rest := list[len(open):]; len(rest) > 0 {
		p.writeFold(phrase.Count(len(rest), "more warning"), func() { p.writeBlock(rest...) })
	}
	p.writeBlock(strings.TrimSpace(andMore(len(c.warnings) - len(list))))
}

// writeFoldedTable writes a fold with as many rows as the quota of a kind allows.
// Without any row, only the summary is written.
func (p *page) writeFoldedTable(f fold, kind int, q *quota) {
	n := q.take(kind, len(f.rows))
	switch {
	case f.summary == "" || n == 0 && q[summaries] == 0:
	case n == 0:
		p.writeBlock(f.summary + ".")
	default:
		p.writeFold(f.summary, func() {
			p.writeTable(f.head, f.rows[:n])
			p.writeBlock(strings.TrimSpace(andMore(len(f.rows) - n)))
		})
	}
}

// andMore returns " and 3 more" for 3, and "" for 0.
func andMore(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}
