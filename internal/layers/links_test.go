package layers

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// Every link of a document leads to a file that exists, and to a heading in it.
func TestLinks(t *testing.T) {
	tree := os.DirFS("../..")
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/decisions/*.md", "testdata/*.md"} {
		names, err := fs.Glob(tree, pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: found %d documents, error %v", pattern, len(names), err)
		}
		for _, name := range names {
			for _, problem := range brokenLinks(tree, name) {
				t.Error(problem)
			}
		}
	}
}

// Every file that docs/extending.md names as an example exists.
func TestExamples(t *testing.T) {
	tree := os.DirFS("../..")
	text, err := fs.ReadFile(tree, "docs/extending.md")
	if err != nil {
		t.Fatal(err)
	}
	file := regexp.MustCompile("`([a-z_/.]+/[a-z_.]+\\.(?:go|txtar|golden))`")
	found := file.FindAllStringSubmatch(string(text), -1)
	if len(found) == 0 {
		t.Error("docs/extending.md names no file")
	}
	for _, m := range found {
		if _, err := fs.Stat(tree, m[1]); err != nil {
			t.Errorf("docs/extending.md names a file that does not exist: %v", err)
		}
	}
}

// docs/doubles.md has a row for each double.
func TestDoubles(t *testing.T) {
	tree := os.DirFS("../..")
	text, err := fs.ReadFile(tree, "docs/doubles.md")
	if err != nil {
		t.Fatal(err)
	}
	folders, err := fs.ReadDir(tree, doubles)
	if err != nil || len(folders) == 0 {
		t.Fatalf("found %d doubles, error %v", len(folders), err)
	}
	for _, folder := range folders {
		if row := "| `" + doubles + "/" + folder.Name() + "` |"; !strings.Contains(string(text), row) {
			t.Errorf("docs/doubles.md has no row %q", row)
		}
	}
}

func TestBrokenLinks(t *testing.T) {
	tree := fstest.MapFS{
		"docs/a.md": {Data: []byte("# A `b`: c\n[ok](#a-b-c) [ok](../docs) [ok](../b.md#two-words) [ok](https://example.org/x)\n[no](#d) [no](b.md) [no](../b.md#three)")},
		"b.md":      {Data: []byte("## Two words\n")},
	}
	got := brokenLinks(tree, "docs/a.md")
	want := []string{
		"docs/a.md: the link #d leads nowhere: there is no such heading",
		"docs/a.md: the link b.md leads nowhere: open docs/b.md: file does not exist",
		"docs/a.md: the link ../b.md#three leads nowhere: there is no such heading",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// brokenLinks returns a line for each link of a document that leads nowhere. Links to
// other sites are not followed.
func brokenLinks(tree fs.FS, name string) []string {
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, m := range link.FindAllStringSubmatch(string(text), -1) {
		if strings.Contains(m[1], "://") {
			continue
		}
		if err := follow(tree, name, m[1]); err != nil {
			out = append(out, fmt.Sprintf("%s: the link %s leads nowhere: %v", name, m[1], err))
		}
	}
	return out
}

// follow returns an error unless a link of a document leads to a file or folder, and to
// a heading if it names one.
func follow(tree fs.FS, document, link string) error {
	target, anchor, _ := strings.Cut(link, "#")
	if target == "" {
		target = document
	} else {
		target = path.Join(path.Dir(document), target)
	}
	if anchor == "" {
		_, err := fs.Stat(tree, target)
		return err
	}
	text, err := fs.ReadFile(tree, target)
	if err == nil && !slices.Contains(anchors(string(text)), anchor) {
		err = errors.New("there is no such heading")
	}
	return err
}

var (
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	noWord  = regexp.MustCompile(`[^\pL\pN_ -]`)
)

// anchors returns the names by which links reach the headings of a document.
func anchors(text string) []string {
	var out []string
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		words := noWord.ReplaceAllString(strings.ToLower(m[1]), "")
		out = append(out, strings.ReplaceAll(words, " ", "-"))
	}
	return out
}

// The index of the documents has a link to each of them.
func TestIndexIsComplete(t *testing.T) {
	tree := os.DirFS("../..")
	index, err := fs.ReadFile(tree, "docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(tree, "docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if name = path.Base(name); name != "README.md" && !strings.Contains(string(index), "]("+name+")") {
			t.Errorf("docs/README.md does not name %s", name)
		}
	}
}
