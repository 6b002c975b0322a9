package report

import (
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// The bounds of contents, in bytes.
const (
	maxValue    = 4 << 10  // of one value
	maxDiff     = 32 << 10 // of the diff of one resource
	maxContents = 8 << 20  // of all values and diffs together
)

// Hidden has the JSON pointers of the values in datafiles of base and head that no report may
// show, by path.
type Hidden struct{ Base, Head map[string][]string }

// NewContents returns the old and new values of changed fields, but for hidden ones, and the diffs
// of changed resources. Once they exceed the bound together, the other files are left
// out.
func NewContents(d *bundle.Diff, hidden Hidden) *Contents {
	c := &Contents{Datafiles: map[string][]Field{}, Resources: map[string]string{}}
	size := 0
	for _, change := range d.Datafiles {
		var fields []Field
		path := string(change.Path)
		for _, f := range change.Hide(hidden.Base[path], hidden.Head[path]).FieldDiffs(maxValue) {
			fields = append(fields, Field{Pointer: f.Pointer, Kind: plan.Kind(f.Kind.String()), Moved: f.Moved, Old: f.Old,
				New: f.New})
			size += len(f.Old) + len(f.New)
		}
		if size > maxContents {
			return c
		}
		c.Datafiles[path] = fields
	}
	for _, change := range d.Resources {
		diff := change.TextDiff(maxDiff)
		if size += len(diff); size > maxContents {
			return c
		}
		c.Resources[string(change.Path)] = diff
	}
	return c
}
