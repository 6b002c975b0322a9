package report

import (
	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/plan"
)

// The bounds of contents, in bytes.
const (
	maxValue    = 4 << 10  // of one value
	maxDiff     = 32 << 10 // of the diff of one resource
	maxContents = 8 << 20  // of all values and diffs together
)

// NewContents returns the old and new values of changed fields and the diffs of
// changed resources. Once they exceed the bound together, the other files are left
// out.
func NewContents(d *bundle.Diff) *Contents {
	c := &Contents{Datafiles: map[string][]Field{}, Resources: map[string]string{}}
	size := 0
	for _, change := range d.Datafiles {
		var fields []Field
		for _, f := range change.FieldDiffs(maxValue) {
			fields = append(fields, Field{Pointer: f.Pointer, Kind: plan.Kind(f.Kind.String()), Moved: f.Moved, Old: f.Old, New: f.New})
			size += len(f.Old) + len(f.New)
		}
		if size > maxContents {
			return c
		}
		c.Datafiles[string(change.Path)] = fields
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
