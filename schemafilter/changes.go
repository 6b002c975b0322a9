package schemafilter

import (
	"slices"

	"github.com/app-sre/prcheck/bundle"
)

// Changes are the differences between two bundles as the first rungs see them.
type Changes struct {
	Same   bool // both bundles have the same bytes
	Files  []File
	Types  []string // JSON schemas and GraphQL types that changed
	Unsure bool     // not all mentions of resources can be known
}

// A File is a changed datafile or resource with all schemas through which it
// can be selected. A metadata change is not among them.
type File struct {
	Path     bundle.Path
	Repo     string // its path in the repository: data/… or resources/…
	Schemas  []bundle.Schema
	Resource bool
}

// Collect gathers what the first rungs need from a comparison. mentions is
// asked only about changed resources.
func Collect(base, head *bundle.Bundle, d *bundle.Diff, mentions func() *bundle.Mentions) Changes {
	c := Changes{Same: base.SHA256() == head.SHA256()}
	for _, f := range d.Datafiles {
		if f.Kind != bundle.Metadata {
			c.Files = append(c.Files, File{Path: f.Path, Repo: "data" + string(f.Path), Schemas: f.Schemas()})
		}
	}
	for _, r := range d.Resources {
		schemas := r.Schemas()
		m := mentions()
		for _, f := range m.Of(r.Path) {
			if !slices.Contains(schemas, f.Schema) {
				schemas = append(schemas, f.Schema)
			}
		}
		slices.Sort(schemas)
		c.Unsure = c.Unsure || !m.IsComplete()
		c.Files = append(c.Files, File{Path: r.Path, Repo: "resources" + string(r.Path), Schemas: schemas, Resource: true})
	}
	for _, s := range d.Schemas {
		c.Types = append(c.Types, string(s))
	}
	c.Types = append(c.Types, d.GraphQL...)
	return c
}

// allowed returns the changed files that an integration may read, and their
// schemas as far as it may read them, sorted.
func (c Changes) allowed(allows func(bundle.Schema) bool) (files []bundle.Path, schemas []bundle.Schema) {
	for _, f := range c.Files {
		hit := false
		for _, s := range f.Schemas {
			if allows(s) {
				hit = true
				schemas = append(schemas, s)
			}
		}
		if hit {
			files = append(files, f.Path)
		}
	}
	slices.Sort(schemas)
	return files, slices.Compact(schemas)
}
