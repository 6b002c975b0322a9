package note

import "strings"

// A page collects blocks of Markdown with an empty line between them.
type page struct {
	strings.Builder
	isInFold bool
}

// writeBlock adds lines as one block, or nothing if they are empty.
func (p *page) writeBlock(lines ...string) {
	if text := strings.Join(lines, "\n"); text != "" {
		p.WriteString("\n" + text + "\n")
	}
}

// writeFold adds a folded part with the blocks that writeInside adds. A fold in a fold is open.
func (p *page) writeFold(summary string, writeInside func()) {
	if p.isInFold {
		p.writeBlock("**" + startUpper(summary) + "**")
		writeInside()
		return
	}
	p.isInFold = true
	p.writeBlock("<details><summary>" + summary + "</summary>")
	writeInside()
	p.writeBlock("</details>")
	p.isInFold = false
}

// startUpper returns a text with a capital letter at its beginning.
func startUpper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// writeTable adds a table. The rows must come from tableRow.
func (p *page) writeTable(head []string, rows []string) {
	if len(rows) > 0 {
		p.writeBlock(tableRow(head...), strings.Repeat("| :-- ", len(head))+"|", strings.Join(rows, "\n"))
	}
}

// tableRow returns a row of a table. The cells must be Markdown.
func tableRow(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |" }

// isOpen reports whether nothing is folded yet.
func (p *page) isOpen() bool { return !strings.Contains(p.String(), "<details>") }

// lines returns the number of lines.
func (p *page) lines() int { return strings.Count(p.String(), "\n") }
