package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/plan"
)

// An Origin is a place in a change that made a task run. The section is that of
// the bundle: data, resources, schemas or graphql.
type Origin struct {
	Section string
	Path    string    // in the section; "" for the GraphQL types
	Pointer string    // JSON pointer of the changed field, as the plan has it
	Kind    plan.Kind // how the file changed; "" when the plan does not tell
}

// The sections of a bundle.
const (
	inData      = "data"
	inResources = "resources"
	inSchemas   = "schemas"
	inGraphQL   = "graphql"
)

// maxOrigins bounds how many places are gathered for one integration.
const maxOrigins = 500

// changes are those of a plan, by path.
type changes struct {
	plan      *plan.Plan
	datafiles map[string]plan.Datafile
	resources map[string]plan.Resource
}

func indexChanges(p *plan.Plan) changes {
	x := changes{p, map[string]plan.Datafile{}, map[string]plan.Resource{}}
	for _, f := range p.Changes.Datafiles {
		x.datafiles[f.Path] = f
	}
	for _, f := range p.Changes.Resources {
		x.resources[f.Path] = f
	}
	return x
}

// origins returns what in the change made an integration run, as closely as the
// evidence tells: its own definition, else the changed fields that its queries
// read, else the changed files that it may read, else everything that changed.
func (x changes) origins(d plan.Decision) []Origin {
	if d.Rung == plan.RungDefinition {
		return x.defined(d)
	}
	for _, find := range []func(plan.Decision) []Origin{x.read, x.ruled, x.readable, x.everything, x.defined} {
		if found := find(d); len(found) > 0 {
			slices.SortStableFunc(found, func(a, b Origin) int { return cmp.Compare(a.gone(), b.gone()) })
			return found[:min(len(found), maxOrigins)]
		}
	}
	return nil
}

// defined returns the parts of the definition that changed, or the one that asks
// for the check.
func (x changes) defined(d plan.Decision) []Origin {
	if len(d.Evidence.Definition) == 0 {
		return nil
	}
	parts := d.Evidence.Fields
	if len(parts) == 0 {
		parts = []string{"pr_check"}
	}
	var out []Origin
	file := d.Evidence.Definition[len(d.Evidence.Definition)-1] // that of head
	for _, part := range parts {
		out = append(out, Origin{inData, file, jsonpointer.Append("", part), x.datafiles[file].Kind})
	}
	return out
}

// read returns the changed fields that queries read, and the files that only one
// side has.
func (x changes) read(d plan.Decision) []Origin {
	var out []Origin
	reached := false
	for _, q := range d.Evidence.Queries {
		reached = reached || q.Reached > 0
		for _, field := range q.Fields {
			file, pointer, _ := strings.Cut(field, "#")
			if f, ok := x.datafiles[file]; ok {
				out = append(out, fields(f, pointer)...)
			} else if r, ok := x.resources[file]; ok {
				out = append(out, Origin{inResources, file, "", r.Kind})
			}
		}
	}
	for _, file := range d.Evidence.Paths {
		f, ok := x.datafiles[file]
		if reached && ok && (f.Kind == plan.Added || f.Kind == plan.Removed) {
			out = append(out, Origin{inData, file, "", f.Kind})
		} else if r, isResource := x.resources[file]; reached && !ok && isResource {
			out = append(out, Origin{inResources, file, "", r.Kind})
		}
	}
	return distinct(out)
}

// fields returns the changed fields of a file that belong to a pointer of a
// query. Queries compare lists item by item, so the numbers of items may differ.
func fields(f plan.Datafile, pointer string) []Origin {
	var exact, near []Origin
	for _, field := range f.Fields {
		o := Origin{inData, f.Path, field, f.Kind}
		switch a, b := strings.Split(field, "/"), strings.Split(pointer, "/"); {
		case along(a, b, func(x, y string) bool { return x == y }):
			exact = append(exact, o)
		case along(a, b, func(x, y string) bool { return x == y || isNumber(x) && isNumber(y) }):
			near = append(near, o)
		}
	}
	switch {
	case len(exact) > 0:
		return exact
	case len(near) > 0:
		return near
	}
	return []Origin{{inData, f.Path, pointer, f.Kind}}
}

// along tells whether one of two pointers leads on from the other.
func along(a, b []string, same func(x, y string) bool) bool {
	n := min(len(a), len(b))
	return slices.EqualFunc(a[:n], b[:n], same)
}

func isNumber(part string) bool { return part != "" && strings.Trim(part, "0123456789") == "" }

// ruled returns the file for which a paths rule selected the integration.
func (x changes) ruled(d plan.Decision) []Origin {
	_, name, _ := strings.Cut(d.Evidence.Rule, " covers ")
	if file, ok := strings.CutPrefix(name, inResources); ok {
		if r, ok := x.resources[file]; ok {
			return []Origin{{inResources, file, "", r.Kind}}
		}
	}
	file, _ := strings.CutPrefix(name, inData)
	return x.datafile(file)
}

// readable returns the changed files that the integration may read.
func (x changes) readable(d plan.Decision) []Origin {
	var out []Origin
	for _, file := range d.Evidence.Paths {
		found := x.datafile(file)
		if r, ok := x.resources[file]; ok && len(found) == 0 {
			found = []Origin{{inResources, file, "", r.Kind}}
		}
		out = append(out, found...)
	}
	return distinct(out)
}

// datafile returns all changed fields of a file, or the whole of it.
func (x changes) datafile(file string) []Origin {
	f, ok := x.datafiles[file]
	switch {
	case !ok || f.Kind == plan.Metadata:
		return nil
	case len(f.Fields) == 0:
		return []Origin{{inData, file, "", f.Kind}}
	}
	var out []Origin
	for _, field := range f.Fields {
		out = append(out, Origin{inData, file, field, f.Kind})
	}
	return out
}

// everything returns all changes, those first that wake integrations of which
// little is known.
func (x changes) everything(plan.Decision) []Origin {
	var out []Origin
	for _, file := range x.plan.Changes.Schemas {
		out = append(out, Origin{Section: inSchemas, Path: file})
	}
	if len(x.plan.Changes.GraphQL) > 0 {
		out = append(out, Origin{Section: inGraphQL})
	}
	for _, r := range x.plan.Changes.Resources {
		out = append(out, Origin{inResources, r.Path, "", r.Kind})
	}
	for _, f := range x.plan.Changes.Datafiles {
		if len(out) < maxOrigins {
			out = append(out, x.datafile(f.Path)...)
		}
	}
	return out
}

func distinct(list []Origin) []Origin {
	seen := map[Origin]bool{}
	return slices.DeleteFunc(list, func(o Origin) bool {
		twice := seen[o]
		seen[o] = true
		return twice
	})
}

// gone is 1 for a file that head does not have: it cannot be looked at, so it
// comes last.
func (o Origin) gone() int {
	if o.Kind == plan.Removed {
		return 1
	}
	return 0
}
