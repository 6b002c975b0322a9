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
	maxOpenLines    = 60 // before the first fold
)

// render returns as much of the content as the quota allows.
func (c *content) render(q quota) string {
	var p page
	p.writeBlock(c.title)
	others := c.renderEffects(&p, &q)
	if q[actions] > 0 {
		p.writeBlock(c.actions...)
	}
	gaps := c.renderGaps(&p, &q)
	if q[footers] > 0 {
		p.writeBlock(c.summary)
	}
	broken := c.renderFailures(&p, &q)
	c.renderFindings(&p, &q)
	gaps()
	others()
	broken()
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

// renderFailures writes the tasks that did not pass, and last, folded, those that base breaks as well.
func (c *content) renderFailures(p *page, q *quota) (rest func()) {
	open := openEntries
	var folded []section
	for _, s := range c.sections {
		if s.isFolded {
			folded = append(folded, s)
			continue
		}
		if !p.writeSection(s, &open, q) {
			break // the list of actions tells how many there are
		}
	}
	return func() {
		for _, s := range folded {
			if q[entries] > 0 {
				p.writeFold(strings.TrimPrefix(s.title, "#### "), func() {
					s.title = ""
					p.writeSection(s, &open, q)
				})
			}
		}
	}
}

// writeSection writes a list of tasks: those for which there is no room before the first fold are folded. It returns
// false if the quota allows none.
func (p *page) writeSection(s section, open *int, q *quota) bool {
	shown := s.entries[:q.take(entries, len(s.entries))]
	if len(shown) == 0 {
		return false
	}
	p.writeBlock(s.title)
	p.writeBlock(s.intro)
	left := s.tasks - len(shown)
	for i, e := range shown {
		if i > 0 && p.isOpen() && p.lines()+e.lines(false) > maxOpenLines {
			p.writeFold(phrase.Count(len(shown)-i, "more failure"), func() {
				for _, e := range shown[i:] {
					p.writeEntry(e, true, q)
				}
			})
			break
		}
		p.writeEntry(e, *open > 0 && (!p.isOpen() || p.lines()+e.lines(true) <= maxOpenLines), q)
		*open--
	}
	if n := q.take(otherRows, len(s.others)); n > 0 {
		p.writeFold(phrase.Count(n, "more task"), func() {
			p.writeTable([]string{"task", "result", "last line", "checked because", "log"}, s.others[:n])
		})
		left -= n
	}
	p.writeBlock(strings.TrimSpace(andMore(left)))
	return true
}

// lines returns how many lines a failure takes before a fold.
func (e entry) lines(withDetails bool) int {
	n := 2 + len(e.findings) + 1
	if withDetails {
		n += len(e.why) + len(e.tail) + 4
	}
	return n
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
	if p.isOpen() {
		open = list[:max(0, min(len(open), maxOpenLines-p.lines()-4))]
	}
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
