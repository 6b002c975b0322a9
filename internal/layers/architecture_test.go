package layers

import (
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// The table of docs/ARCHITECTURE.md lists the packages of floors and side that exist,
// each on its floor, and no other package.
func TestArchitecture(t *testing.T) {
	tree := os.DirFS("../..")
	text, err := fs.ReadFile(tree, "docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	got := documentedFloors(string(text))
	want := map[string]string{}
	for i, row := range floors {
		for _, name := range row {
			folders, err := fs.Glob(tree, name)
			if err != nil {
				t.Fatal(err)
			}
			for _, pkg := range folders {
				want[pkg] = strconv.Itoa(i)
			}
		}
	}
	for _, pkg := range side {
		want[pkg] = "beside"
	}
	for _, pkg := range slices.Sorted(maps.Keys(want)) {
		if got[pkg] != want[pkg] {
			t.Errorf("docs/ARCHITECTURE.md has %s on floor %q, want %q", pkg, got[pkg], want[pkg])
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(got)) {
		if want[pkg] == "" {
			t.Errorf("docs/ARCHITECTURE.md lists %s, which is not in the table of internal/layers", pkg)
		}
	}
}

var (
	floorRow = regexp.MustCompile(`(?m)^\| (\d+|beside) \| ([^|]*) \|`)
	quoted   = regexp.MustCompile("`([^`]+)`")
)

// documentedFloors returns the floor of each package in a table with rows such as
// "| 0 | `bundle`, `plan` | … |".
func documentedFloors(text string) map[string]string {
	out := map[string]string{}
	for _, row := range floorRow.FindAllStringSubmatch(text, -1) {
		for _, pkg := range quoted.FindAllStringSubmatch(row[2], -1) {
			out[pkg[1]] = row[1]
		}
	}
	return out
}

func TestDocumentedFloors(t *testing.T) {
	got := documentedFloors("| floor | package |\n| 0 | `a`, `b/c` | x `y` |\n| beside | `internal/z` | |\n| `d` | 1 |\n")
	want := map[string]string{"a": "0", "b/c": "0", "internal/z": "beside"}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
