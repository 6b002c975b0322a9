package comparison

import (
	"errors"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
)

// Heading begins the comment with the report of change-owners.
const Heading = "Change coverage report"

// A Reported place is one in the report of change-owners.
type Reported struct {
	File, Place string
	Status      string   // approved, hold, restricted, or ""
	People      []string // who may approve it, sorted, once each
}

// The columns of the table that count.
var columns = []string{"FILE", "CHANGE", "STATUS", "APPROVERS"}

// maxRows bounds the rows of a report.
const maxRows = 100_000

// Read reads the table of a report. A report without a table has no rows only if nothing differed, which nobody can
// tell: it is an error.
func Read(text string) ([]Reported, error) {
	var at map[string]int
	var out []Reported
	for line := range strings.Lines(text) {
		cells, isRow := split(line)
		switch {
		case !isRow && at != nil:
			return out, nil // the table has ended
		case !isRow:
		case at == nil:
			at = header(cells)
		case strings.Trim(cells[0], "-:") == "" && cells[0] != "":
		case len(out) == maxRows:
			return nil, fmt.Errorf("the report has more than %d places", maxRows)
		default:
			cell := func(column string) string {
				if i := at[column]; i < len(cells) {
					return cells[i]
				}
				return ""
			}
			out = append(out, Reported{File: cell("FILE"), Place: cell("CHANGE"), Status: cell("STATUS"),
				People: people(cell("APPROVERS"))})
		}
	}
	if at == nil {
		return nil, errors.New("it has no table with the columns FILE, CHANGE, STATUS and APPROVERS")
	}
	return out, nil
}

// split returns the cells of a row of a table.
func split(line string) (cells []string, isRow bool) {
	line = strings.TrimSpace(line)
	if len(line) < 2 || line[0] != '|' || line[len(line)-1] != '|' {
		return nil, false
	}
	cells = strings.Split(line[1:len(line)-1], "|")
	for i, cell := range cells {
		cells[i] = html.UnescapeString(strings.TrimSpace(cell))
	}
	return cells, true
}

// header returns the positions of the columns, nil if the row is the header of another table.
func header(cells []string) map[string]int {
	at := map[string]int{}
	for _, column := range columns {
		i := slices.Index(cells, column)
		if i < 0 {
			return nil
		}
		at[column] = i
	}
	return at
}

// responsible matches a group of approvers.
var responsible = regexp.MustCompile(`<summary>[^<]*</summary>([^<]*)</details>`)

// people returns the people of all groups.
func people(cell string) []string {
	var out []string
	for _, m := range responsible.FindAllStringSubmatch(cell, -1) {
		for _, name := range strings.Fields(m[1]) {
			out = append(out, strings.TrimPrefix(name, "@"))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
