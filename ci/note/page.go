package note

import "strings"

// A page collects blocks of Markdown with an empty line between them.
type page struct {
	strings.Builder
}

// writeBlock adds lines as one block, or nothing if they are empty.
func (p *page) writeBlock(lines ...string) {
	if text := strings.Join(lines, "\n"); text != "" {
		p.WriteString("\n" + text + "\n")
	}
}

// writeFold adds a folded part with the blocks that writeInside adds.
func (p *page) writeFold(summary string, writeInside func()) {
	p.writeBlock("<details><summary>" + summary + "</summary>")
	writeInside()
	p.writeBlock("</details>")
}

// writeTable adds a table. The rows must come from tableRow.
func (p *page) writeTable(head []string, rows []string) {
	if len(rows) > 0 {
		p.writeBlock(tableRow(head...), strings.Repeat("| :-- ", len(head))+"|", strings.Join(rows, "\n"))
	}
}

// tableRow returns a row of a table. The cells must be Markdown.
func tableRow(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |" }
