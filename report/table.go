package report

import (
	"strings"
	"unicode/utf8"
)

// A Style says how text is decorated. The zero value is plain text.
type Style struct {
	Color   bool // use terminal colours
	Verbose bool // show what is only counted otherwise
}

// A color is the ANSI code of a terminal colour or weight.
type color string

const (
	plain  color = ""
	bold   color = "1"
	red    color = "31"
	green  color = "32"
	yellow color = "33"
	faint  color = "2"
)

// paint returns text in a colour. The text must be trusted or cleaned.
func (s Style) paint(c color, text string) string {
	if !s.Color || c == plain || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// A cell is one value of a table.
type cell struct {
	text  string
	color color
	right bool // aligned to the right
}

// numberCell returns a cell with a number. A zero is shown as a faint dot.
func numberCell(text string) cell {
	if text == "0" {
		return cell{"·", faint, true}
	}
	return cell{text: text, right: true}
}

// A table is a list of rows with aligned columns. A row of one cell is a remark: it does
// not make the first column wider.
type table [][]cell

// writeTo appends the table to out, with the indent before each row.
func (t table) writeTo(out *strings.Builder, style Style, indent string) {
	var widths []int
	for _, row := range t {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if len(row) == 1 {
				continue
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c.text))
		}
	}
	for _, row := range t {
		var cells strings.Builder
		for i, c := range row {
			if i > 0 {
				cells.WriteString("  ")
			}
			space := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(c.text)))
			if c.right {
				cells.WriteString(space)
			}
			cells.WriteString(style.paint(c.color, c.text))
			if !c.right {
				cells.WriteString(space)
			}
		}
		out.WriteString(strings.TrimRight(indent+cells.String(), " ") + "\n")
	}
}
