package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
)

// A FieldDiff is one field of a datafile that differs, with its values as JSON text for
// people. If a text was cut, it ends with a note that says so.
type FieldDiff struct {
	Pointer  string // JSON pointer, as in Change.Fields
	Kind     Kind   // Added, Removed or Modified
	Moved    bool   // the items of a list changed their order
	Old, New string // "" if this side does not have the field
}

// FieldDiffs returns every field that differs, sorted by pointer. For a modified datafile
// these are c.Fields. For an added or removed datafile these are its top-level fields. Each
// text has at most limit bytes, plus the note if it was cut. Resources have no fields, see
// [Change.TextDiff].
func (c Change) FieldDiffs(limit int) []FieldDiff {
	var found []difference
	switch {
	case c.Old == nil:
		found = topFields(c.New, Added)
	case c.New == nil:
		found = topFields(c.Old, Removed)
	default:
		found = differences(c.Old, c.New, c.Kind)
	}
	slices.SortStableFunc(found, func(a, b difference) int { return strings.Compare(a.pointer, b.pointer) })
	var out []FieldDiff
	for _, d := range found {
		f := d.toFieldDiff(limit)
		if last := len(out) - 1; last >= 0 && out[last].replaces(f) {
			f.Kind, f.Old, f.New = Modified, out[last].Old+f.Old, out[last].New+f.New
			out = out[:last]
		}
		out = append(out, f)
	}
	return out
}

// replaces reports whether, at the same pointer, one field was removed and the other was
// added.
func (f FieldDiff) replaces(g FieldDiff) bool {
	return f.Pointer == g.Pointer && f.Kind != g.Kind && f.Kind != Modified && g.Kind != Modified
}

// topFields returns the top-level fields of a file that only one side has.
func topFields(f *File, kind Kind) []difference {
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

func (d difference) toFieldDiff(limit int) FieldDiff {
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

// jsonText writes a value as JSON: on one line if it is short, or else indented.
func jsonText(v any, limit int) string {
	const short = 60
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(plainValue(v)); err != nil {
		return "" // impossible: only for types that JSON does not have
	}
	raw := bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	if len(raw) <= short || len(raw) > 4*limit { // indenting far more than limit is a waste
		return truncate(string(raw), limit)
	}
	var wide bytes.Buffer
	if err := json.Indent(&wide, raw, "", "  "); err != nil {
		return truncate(string(raw), limit)
	}
	return truncate(wide.String(), limit)
}

// truncate cuts a text after limit bytes and says how many bytes are missing.
func truncate(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + fmt.Sprintf("… (%d more bytes)", len(text)-limit)
}
