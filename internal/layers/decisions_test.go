package layers

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	decisionTitle = regexp.MustCompile(`^# (\d+)\. (.+)\n\n(.*\n.*)`)
	decisionRow   = regexp.MustCompile(`(?m)^\| \[(\d+)\]\((\S+)\) \| (.+) \| (check|qontract|natives|all) \| (.+) \|$`)
	decisionLink  = regexp.MustCompile(`\[\d+\]\(\d{4}-\S+?\.md\)`)
)

// The index of decisions has each record once, in order, with its title, a house and a status: that of its first lines.
func TestDecisions(t *testing.T) {
	folder := os.DirFS("../../docs/decisions")
	files, err := fs.Glob(folder, "0*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d records, error %v", len(files), err)
	}
	index, err := fs.ReadFile(folder, "README.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, m := range decisionRow.FindAllStringSubmatch(string(index), -1) {
		rows = append(rows, fmt.Sprintf("%s %s: %s (%s)", m[2], m[1], m[3], m[5]))
	}
	var want []string
	for _, file := range files {
		text, err := fs.ReadFile(folder, file)
		if err != nil {
			t.Fatal(err)
		}
		m := decisionTitle.FindStringSubmatch(string(text))
		if m == nil || strings.TrimLeft(file[:4], "0") != m[1] {
			t.Errorf("%s: the first line is not the number of the file and a title", file)
			continue
		}
		want = append(want, fmt.Sprintf("%s %s: %s (%s)", file, m[1], m[2], statusOf(m[3])))
	}
	if !slices.Equal(rows, want) {
		t.Errorf("the rows of docs/decisions/README.md are\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
}

// statusOf returns the status of a record by its first lines.
func statusOf(lines string) string {
	by := strings.Join(decisionLink.FindAllString(lines, -1), ", ")
	switch first, _, _ := strings.Cut(lines, "\n"); {
	case strings.HasPrefix(first, "Replaced by") && !strings.Contains(first, " for "):
		return "replaced by " + by
	case strings.HasPrefix(first, "Replaced by"), strings.HasPrefix(first, "Since ["):
		return "in part replaced by " + by
	}
	return "holds"
}
