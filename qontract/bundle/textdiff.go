package bundle

import (
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// maxTextDiff is the size in bytes up to which contents are compared line by line.
const maxTextDiff = 1 << 20

// TextDiff returns the difference between the contents of a resource as a unified diff
// without file names: "@@" lines, and lines that begin with "+", "-" or a space. It has at
// most limit bytes, plus a line that says how much is missing. If the contents are equal or
// too large to compare, it is a single line in parentheses. The time it takes grows with n
// log n.
func (c Change) TextDiff(limit int) string {
	old, now := resourceContent(c.Old), resourceContent(c.New)
	switch {
	case max(len(old), len(now)) > maxTextDiff:
		return fmt.Sprintf("(too large to compare: %d bytes on base, %d on head)", len(old), len(now))
	case old == now:
		return "(the content is the same, something else about it differs)"
	}
	text := string(diff.Diff("base", []byte(old), "head", []byte(now)))
	for range 3 { // "diff", "---" and "+++"
		_, text, _ = strings.Cut(text, "\n")
	}
	text = strings.TrimSuffix(text, "\n")
	if len(text) <= limit {
		return text
	}
	kept := text[:limit]
	if at := strings.LastIndexByte(kept, '\n'); at >= 0 {
		kept = kept[:at+1]
	} else {
		kept = strings.ToValidUTF8(kept, "") + "\n"
	}
	return kept + fmt.Sprintf("… (%d more lines)", 1+strings.Count(text[limit:], "\n"))
}

func resourceContent(f *File) string {
	if f == nil {
		return ""
	}
	return f.Object().String("content")
}
