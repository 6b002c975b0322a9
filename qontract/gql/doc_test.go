package gql_test

import (
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFileTable checks that the table in doc.go lists every file of the package exactly once.
func TestFileTable(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(file.Doc.Text(), "# Files\n")
	if !found {
		t.Fatal("doc.go has no section Files")
	}
	listed := regexp.MustCompile(`\w+\.go\b`).FindAllString(table, -1)
	slices.Sort(listed)
	var existing []string
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			existing = append(existing, name)
		}
	}
	for _, name := range existing {
		if !slices.Contains(listed, name) {
			t.Errorf("%s is missing in the table of doc.go", name)
		}
	}
	for i, name := range listed {
		switch {
		case i > 0 && listed[i-1] == name:
			t.Errorf("%s is listed twice in the table of doc.go", name)
		case !slices.Contains(existing, name):
			t.Errorf("%s is listed in the table of doc.go but does not exist", name)
		}
	}
}
