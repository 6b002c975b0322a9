package note

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// What can be cut, in the order in which it is given up.
const (
	skippedRows = iota // integrations that are skipped
	ranRows            // tasks that ran
	sinceNames         // integrations that are checked now, or were before
	tailLines          // of each failure
	otherRows          // failures like one that is shown, or too many to show
	whyLines           // of each failure
	fixedNames
	summaries // of folds without rows
	entries   // failures
	warnings
	actions // what to do, in short
	endings // links and what the change touches
	knobs
)

// A cut says how many of each may be shown.
type cut [knobs]int

// take returns how many of n may still be shown of one kind, and counts them.
func (c *cut) take(what, n int) int {
	n = min(n, c[what])
	c[what] -= n
	return n
}

// fit renders the most that has no more than limit characters, below the first
// line.
func (v *view) fit(first string, limit int) (string, bool) {
	render := func(c cut) (string, bool) {
		body := first + "\n" + v.render(c)
		return body, utf8.RuneCountInString(body) <= limit
	}
	c := v.all()
	body, ok := render(c)
	for what := 0; what < knobs && !ok; what++ {
		full := c[what]
		if c[what] = 0; full == 0 {
			continue
		}
		if body, ok = render(c); ok {
			c[what] = sort.Search(full, func(n int) bool {
				more := c
				more[what] = n + 1
				_, fits := render(more)
				return !fits
			})
			body, ok = render(c)
		}
	}
	return body, ok
}

// A page collects blocks of Markdown with an empty line between them.
type page struct {
	strings.Builder
}

func (p *page) block(lines ...string) {
	if text := strings.Join(lines, "\n"); text != "" {
		p.WriteString("\n" + text + "\n")
	}
}

// fold writes what inside does, folded.
func (p *page) fold(summary string, inside func()) {
	p.block("<details><summary>" + summary + "</summary>")
	inside()
	p.block("</details>")
}

// table writes rows, each made by [row].
func (p *page) table(head []string, rows []string) {
	if len(rows) > 0 {
		p.block(row(head...), strings.Repeat("| :-- ", len(head))+"|", strings.Join(rows, "\n"))
	}
}

// row returns a table row of cells that are Markdown already.
func row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |" }
