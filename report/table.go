package report

import (
	"strings"
	"unicode/utf8"
)

// A Style says how text looks. The zero value is plain.
type Style struct {
	Color bool // with terminal colours
}

// A color is the number of a terminal colour.
type color string

const (
	plain  color = ""
	bold   color = "1"
	red    color = "31"
	green  color = "32"
	yellow color = "33"
	faint  color = "2"
)

// paint colours trusted or cleaned text.
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

// num returns a cell with a number, where 0 is a dot.
func num(text string) cell {
	if text == "0" {
		return cell{"·", faint, true}
	}
	return cell{text: text, right: true}
}

// A table is a list of rows with aligned columns.
type table [][]cell

// write appends the table, each row behind the indent.
func (t table) write(out *strings.Builder, style Style, indent string) {
	var widths []int
	for _, row := range t {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
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
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c.text))
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
