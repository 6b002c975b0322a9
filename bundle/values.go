package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/app-sre/prcheck/internal/jsonpointer"
)

// A FieldDiff is one field of a datafile that differs, with its values as JSON
// text for people. A text that was cut ends with a note that says so.
type FieldDiff struct {
	Pointer  string // JSON pointer, as in Change.Fields
	Kind     Kind   // Added, Removed or Modified
	Moved    bool   // a list whose items changed their order
	Old, New string // "" on a side that does not have it
}

// FieldDiffs returns every field that differs, sorted by pointer. Of an added or
// a removed datafile these are its top fields. The fields of a Modified one are
// those of c.Fields. No text is longer than limit bytes and its note. Resources
// have no fields, see [Change.TextDiff].
func (c Change) FieldDiffs(limit int) []FieldDiff {
	var found []difference
	switch {
	case c.Old == nil:
		found = members(c.New, Added)
	case c.New == nil:
		found = members(c.Old, Removed)
	default:
		found = differences(c.Old, c.New, c.Kind)
	}
	slices.SortStableFunc(found, func(a, b difference) int { return strings.Compare(a.pointer, b.pointer) })
	var out []FieldDiff
	for _, d := range found {
		f := d.show(limit)
		if last := len(out) - 1; last >= 0 && out[last].replaces(f) {
			f.Kind, f.Old, f.New = Modified, out[last].Old+f.Old, out[last].New+f.New
			out = out[:last]
		}
		out = append(out, f)
	}
	return out
}

// replaces tells whether one of the two was removed where the other was added.
func (f FieldDiff) replaces(g FieldDiff) bool {
	return f.Pointer == g.Pointer && f.Kind != g.Kind && f.Kind != Modified && g.Kind != Modified
}

// members returns the fields of a file that only one side has.
func members(f *File, kind Kind) []difference {
	var out []difference
	for _, m := range f.Object().Members() {
		switch pointer := jsonpointer.Append("", m.Key); {
		case m.Key == "path" || isMetadata(pointer):
		case kind == Added:
			out = append(out, difference{pointer: pointer, kind: kind, new: m.Value})
		default:
			out = append(out, difference{pointer: pointer, kind: kind, old: m.Value})
		}
	}
	return out
}

func (d difference) show(limit int) FieldDiff {
	f := FieldDiff{Pointer: d.pointer, Kind: d.kind}
	if d.kind != Added {
		f.Old = jsonText(d.old, limit)
	}
	if d.kind != Removed {
		f.New = jsonText(d.new, limit)
	}
	_, f.Moved = d.old.([]any)
	f.Moved = f.Moved && d.kind == Modified && isList(d.new)
	return f
}

func isList(v any) bool {
	_, ok := v.([]any)
	return ok
}

// jsonText writes a value as JSON: on one line when it is short, else indented.
func jsonText(v any, limit int) string {
	const short = 60
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(plain(v)); err != nil {
		return "" // only for types that JSON does not have
	}
	raw := bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	if len(raw) <= short || len(raw) > 4*limit { // far more than will be shown
		return cut(string(raw), limit)
	}
	var wide bytes.Buffer
	if err := json.Indent(&wide, raw, "", "  "); err != nil {
		return cut(string(raw), limit)
	}
	return cut(wide.String(), limit)
}

// cut keeps the first bytes of a text and says how many are missing.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + fmt.Sprintf("… (%d more bytes)", len(text)-limit)
}

// maxCompared bounds the contents that are compared line by line, in bytes.
const maxCompared = 1 << 20

// TextDiff returns how the content of a resource differs, as a unified diff
// without file names: "@@" lines and lines that begin with "+", "-" or a space.
// It has at most limit bytes and a line that says how much is missing. It is a
// single line in parentheses when there is nothing to show or too much to
// compare. The time it takes grows with n log n.
func (c Change) TextDiff(limit int) string {
	old, now := content(c.Old), content(c.New)
	switch {
	case max(len(old), len(now)) > maxCompared:
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

func content(f *File) string {
	if f == nil {
		return ""
	}
	return f.Object().String("content")
}
