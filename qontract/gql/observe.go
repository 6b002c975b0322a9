package gql

import (
	"context"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// An observation records the files and the fields that an answer was made from, and what
// else the answer depends on.
type observation struct {
	fileKinds map[string]fileKind
	fields    map[bundle.SchemaPath]map[string]bool

	targets        map[bundle.SchemaPath]bool // schemas of the datafiles that references led to
	missing        map[bundle.Path]bool       // targets of references that led nowhere
	resources      map[bundle.Path]bool       // resources that the query asks for by their path
	listsResources bool
}

func newObservation() *observation {
	return &observation{
		fileKinds: map[string]fileKind{}, fields: map[bundle.SchemaPath]map[string]bool{},
		targets: map[bundle.SchemaPath]bool{}, missing: map[bundle.Path]bool{}, resources: map[bundle.Path]bool{},
	}
}

// Observe executes a query like Execute, and also fills in the files and fields that were
// read.
func (e *Engine) Observe(ctx context.Context, q *Query) *Response {
	r := newRun(ctx, e, q)
	r.observed = newObservation()
	res := r.answer()
	res.Datafiles = r.observed.paths(datafileKind, e.bundle.Datafile)
	res.Resources = r.observed.paths(resourceKind, e.bundle.Resource)
	res.Fields = map[bundle.SchemaPath][]string{}
	for schema, fields := range r.observed.fields {
		res.Fields[schema] = slices.Sorted(maps.Keys(fields))
	}
	res.Dependence = r.observed.dependence(q)
	return res
}

// noteTarget records the datafile that a reference leads to; nil if it leads nowhere. Like
// noteResources it does nothing without an observation.
func (s *observation) noteTarget(path string, f *bundle.File) {
	switch {
	case s == nil:
	case f == nil:
		s.missing[bundle.Path(path)] = true
	default:
		s.targets[f.Schema] = true
	}
}

// noteResources records that the query asks for the resource with a path, or for a list of
// resources if the path is empty.
func (s *observation) noteResources(path string) {
	switch {
	case s == nil:
	case path == "":
		s.listsResources = true
	default:
		s.resources[bundle.Path(path)] = true
	}
}

// noteField records that a field of an object was read, if the object has a schema.
func (s *observation) noteField(o *bundle.Object, name string) {
	schema := bundle.SchemaPath(o.String("$schema"))
	if schema == "" {
		return
	}
	if s.fields[schema] == nil {
		s.fields[schema] = map[string]bool{}
	}
	s.fields[schema][name] = true
}

// paths returns the sorted paths of the files of some kinds from which fields were read. An
// object inside a file can have the key "path" too, so paths that are not in the bundle are
// left out.
func (s *observation) paths(kinds fileKind, find func(bundle.Path) (*bundle.File, bool)) []bundle.Path {
	out := []bundle.Path{}
	for path, seen := range s.fileKinds {
		if _, ok := find(bundle.Path(path)); ok && seen&kinds != 0 {
			out = append(out, bundle.Path(path))
		}
	}
	slices.Sort(out)
	return out
}
