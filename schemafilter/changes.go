package schemafilter

import (
	"slices"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/state/dependence"
)

// Changes are the differences between two bundles that the first two rungs need.
type Changes struct {
	Same     bool // both bundles have the same bytes
	Files    []File
	Types    []string      // JSON schemas and GraphQL types that changed
	Backrefs []bundle.Path // resources in which only the backrefs differ
	Unsure   bool          // datafiles may mention resources in ways that are not known
}

// A File is a changed datafile or resource, with all schemas that select
// integrations for it. Files whose metadata alone changed are left out.
type File struct {
	Path     bundle.Path
	Repo     string // its path in the repository: data/… or resources/…
	Schemas  []bundle.SchemaPath
	Resource bool
}

// Collect returns the changes of a comparison. mentions is called only when a
// resource changed.
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
	for _, r := range d.Backrefs {
		c.Backrefs = append(c.Backrefs, r.Path)
	}
	for _, s := range d.Schemas {
		c.Types = append(c.Types, string(s))
	}
	c.Types = append(c.Types, d.GraphQL...)
	return c
}

// reached returns the changed files on which answers depend.
func (c Changes) reached(d dependence.Beyond) []bundle.Path {
	var out []bundle.Path
	for _, f := range c.Files {
		hasSchema := slices.ContainsFunc(f.Schemas, func(s bundle.SchemaPath) bool {
			return slices.Contains(d.Schemas, string(s))
		})
		isNamed := slices.Contains(d.Missing, string(f.Path))
		if f.Resource {
			isNamed = d.Lists || slices.Contains(d.Resources, string(f.Path))
		}
		if d.Anything || hasSchema || isNamed {
			out = append(out, f.Path)
		}
	}
	if d.Backrefs || d.Anything {
		out = append(out, c.Backrefs...)
	}
	return out
}

// allowed returns the changed files that an integration may read, and the schemas of
// these files that it may read, sorted.
func (c Changes) allowed(allows func(bundle.SchemaPath) bool) (files []bundle.Path, schemas []bundle.SchemaPath) {
	for _, f := range c.Files {
		found := false
		for _, s := range f.Schemas {
			if allows(s) {
				found = true
				schemas = append(schemas, s)
			}
		}
		if found {
			files = append(files, f.Path)
		}
	}
	slices.Sort(schemas)
	return files, slices.Compact(schemas)
}
