package main

import (
	"io"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// Bounds of what an HTML report shows of the bundles, in bytes.
const (
	maxValue    = 4 << 10 // of one value
	maxDiff     = 32 << 10
	maxContents = 8 << 20 // together
)

// writeHTML writes the report as one file. Without both bundles it shows no
// values.
func writeHTML(name string, p *plan.Plan, results *plan.Results, base, head *bundle.Bundle) error {
	page := report.Page{Plan: p, Report: report.New(p, results)}
	if base != nil && head != nil {
		page.Contents = contents(bundle.Compare(base, head))
	}
	return cli.WriteFile(name, func(w io.Writer) error { return report.HTML(w, page) })
}

// contents returns the values of what changed, until there are too many.
func contents(d *bundle.Diff) *report.Contents {
	c := &report.Contents{Datafiles: map[string][]report.Field{}, Resources: map[string]string{}}
	size := 0
	for _, change := range d.Datafiles {
		var fields []report.Field
		for _, f := range change.FieldDiffs(maxValue) {
			fields = append(fields, report.Field{Pointer: f.Pointer, Kind: plan.Kind(f.Kind.String()), Moved: f.Moved, Old: f.Old, New: f.New})
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
