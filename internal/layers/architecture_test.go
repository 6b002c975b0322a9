package layers

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The page of each house lists its packages, each on its floor, and no other package. The packages beside the houses
// stand in docs/ARCHITECTURE.md.
func TestArchitecture(t *testing.T) {
	tree := os.DirFS("../..")
	wanted := map[string]map[string]string{"docs/ARCHITECTURE.md": {}}
	for _, pkg := range side {
		wanted["docs/ARCHITECTURE.md"][pkg] = "beside"
	}
	for _, h := range houses {
		if wanted[h.page] == nil {
			wanted[h.page] = map[string]string{}
		}
	}
	for _, pkg := range packages(t, tree) {
		if at, h := floor(pkg); at >= 0 {
			wanted[h.page][pkg] = strconv.Itoa(at)
		}
	}
	for page, want := range wanted {
		text, err := fs.ReadFile(tree, page)
		if err != nil {
			t.Fatal(err)
		}
		got := documentedFloors(string(text))
		for _, pkg := range slices.Sorted(maps.Keys(want)) {
			if got[pkg] != want[pkg] {
				t.Errorf("%s has %s on floor %q, want %q", page, pkg, got[pkg], want[pkg])
			}
		}
		for _, pkg := range slices.Sorted(maps.Keys(got)) {
			if want[pkg] == "" {
				t.Errorf("%s lists %s, which is not in the table of internal/layers", page, pkg)
			}
		}
	}
}

// packages returns the folders with files of Go.
func packages(t *testing.T, tree fs.FS) []string {
	t.Helper()
	found := map[string]bool{}
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (base == "testdata" || strings.HasPrefix(base, ".")):
			return fs.SkipDir
		case path.Ext(name) == ".go":
			found[path.Dir(name)] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(found))
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
