package layers

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"
)

// The widest line, in columns, and the longest text that is kept on one line without a reason: a longer one may
// stick out, since it is found again by its words.
const (
	maxWidth = 120
	maxText  = 40
)

// No line is wider than the limit, in tests either.
func TestWidths(t *testing.T) {
	for _, areTests := range []bool{false, true} {
		sources, err := parseFiles(os.DirFS("../.."), areTests)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sources {
			for _, line := range wideLines(s) {
				t.Errorf("%s:%d: is wider than %d columns", s.name, line, maxWidth)
			}
		}
	}
}

func TestWideLines(t *testing.T) {
	wide, text := strings.Repeat("+ 1 ", 30), strings.Repeat("word ", 13)
	for name, c := range map[string]struct {
		code string
		want []int
	}{
		"code":        {"package a\n\nvar a = 1 " + wide + "\n", []int{3}},
		"a comment":   {"package a\n\n// " + text + text + "\n", []int{3}},
		"a table":     {"package a\n\n//\t" + text + text + "\n", nil},
		"a long text": {fmt.Sprintf("package a\n\nvar a = len(%q) %s\n", text, wide), nil},
		"raw text":    {"package a\n\nvar a = `\n" + text + text + "`\n", nil},
		"a short one": {"package a\n\nvar a = len(\"word\") " + wide + "\n", []int{3}},
	} {
		sources, err := parse(fstest.MapFS{"a/a.go": {Data: []byte(c.code)}})
		if err != nil {
			t.Fatal(err)
		}
		if got := wideLines(sources[0]); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// wideLines returns the numbers of the lines that are too wide without a reason. Reasons are a long text, a table
// in a comment, what an example prints, and a word to a linter.
func wideLines(s source) []int {
	excused := map[int]bool{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if of, ok := n.(*ast.BasicLit); ok && of.Kind == token.STRING && (len(of.Value) > maxText || of.Value[0] == '`') {
			for l := s.set.Position(of.Pos()).Line; l <= s.set.Position(of.End()).Line; l++ {
				excused[l] = true
			}
		}
		return true
	})
	isTest := strings.HasSuffix(s.name, "_test.go")
	var out []int
	for i, line := range bytes.Split(s.text, []byte("\n")) {
		code := bytes.TrimSpace(line)
		isOutput := isTest && bytes.HasPrefix(code, []byte("// "))
		isTable := bytes.HasPrefix(code, []byte("//\t"))
		if utf8.RuneCount(line) > maxWidth && !excused[i+1] && !isOutput && !isTable && !bytes.Contains(line, []byte("//nolint")) {
			out = append(out, i+1)
		}
	}
	return out
}
