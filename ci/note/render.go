package note

import (
	"fmt"
	"strings"

	md "github.com/app-sre/prcheck/internal/markdown"
)

// The bounds of what is open to see even if there is room for more.
const (
	maxFixed        = 20
	maxOpenWarnings = 10
)

// all returns the cut that cuts nothing.
func (v *view) all() cut {
	c := cut{
		ranRows: len(v.ran.rows), sinceNames: len(v.since.rows), fixedNames: min(len(v.fixed), maxFixed),
		summaries: 1, warnings: len(v.warnings), actions: 1, endings: 1,
	}
	for _, f := range v.skipped {
		c[skippedRows] += len(f.rows)
	}
	for _, s := range v.sections {
		c[entries] += len(s.entries)
		c[otherRows] += len(s.others)
		for _, e := range s.entries {
			c[whyLines] += len(e.why)
			c[tailLines] = max(c[tailLines], len(e.tail))
		}
	}
	return c
}

// render writes as much as the cut leaves.
func (v *view) render(c cut) string {
	var p page
	p.block(v.title)
	if c[actions] > 0 {
		p.block(v.actions...)
	}
	if c[endings] > 0 {
		p.block(v.touched)
	}
	v.failures(&p, &c)
	if n := c[fixedNames]; n > 0 {
		p.block(fmt.Sprintf("#### Fixed (%d)", len(v.fixed)), "", strings.Join(v.fixed[:n], ", ")+more(len(v.fixed)-n))
	}
	v.warn(&p, &c)
	p.folded(v.ran, ranRows, &c)
	for _, f := range v.skipped {
		p.folded(f, skippedRows, &c)
	}
	p.folded(v.since, sinceNames, &c)
	if c[endings] > 0 {
		p.block(v.ending)
	}
	return strings.Trim(p.String(), "\n")
}

// failures writes the tasks that did not pass.
func (v *view) failures(p *page, c *cut) {
	open := openTails
	for _, s := range v.sections {
		shown := s.entries[:c.take(entries, len(s.entries))]
		if len(shown) == 0 {
			return // what to do says how many there are
		}
		p.block(s.title)
		p.block(s.intro)
		left := s.tasks
		for _, e := range shown {
			p.entry(e, open > 0, c)
			open--
			left--
		}
		if n := c.take(otherRows, len(s.others)); n > 0 {
			p.fold(number(n, "more task"), func() { p.table([]string{"task", "result", "last line", "checked because", "log"}, s.others[:n]) })
			left -= n
		}
		p.block(strings.TrimSpace(more(left)))
	}
}

// entry writes one failure, open or folded.
func (p *page) entry(e entry, open bool, c *cut) {
	p.block(e.head)
	why := e.why[:c.take(whyLines, len(e.why))]
	lines := e.tail[max(0, len(e.tail)-c[tailLines]):]
	more := func() {
		p.block(why...)
		p.block(md.Fence(strings.Join(lines, "\n")))
	}
	switch {
	case len(why)+len(lines) == 0:
	case open:
		more()
	case len(lines) == 0:
		p.fold("why it was checked", more)
	default:
		p.fold("why it was checked, and its last words", more)
	}
}

// warn writes the warnings; all but the first are folded.
func (v *view) warn(p *page, c *cut) {
	list := v.warnings[:c[warnings]]
	if len(list) == 0 {
		return
	}
	open := list[:min(len(list), maxOpenWarnings)]
	p.block("#### Warnings")
	p.block(open...)
	if rest := list[len(open):]; len(rest) > 0 {
		p.fold(number(len(rest), "more warning"), func() { p.block(rest...) })
	}
	p.block(strings.TrimSpace(more(len(v.warnings) - len(list))))
}

// folded writes a folded part with as many rows as the cut leaves, and its
// summary alone when it has none.
func (p *page) folded(f folded, what int, c *cut) {
	n := c.take(what, len(f.rows))
	switch {
	case f.summary == "" || n == 0 && c[summaries] == 0:
	case n == 0:
		p.block(f.summary + ".")
	default:
		p.fold(f.summary, func() {
			p.table(f.head, f.rows[:n])
			p.block(strings.TrimSpace(more(len(f.rows) - n)))
		})
	}
}

// more returns how many are left out.
func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}
