package gql

import (
	"context"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/bundle"
)

// An observation records the files and the fields that an answer was made from.
type observation struct {
	fileKinds map[string]fileKind
	fields    map[bundle.Schema]map[string]bool
}

// Observe executes a query like Execute, and also fills in the files and fields that were
// read.
func (e *Engine) Observe(ctx context.Context, q *Query) *Response {
	r := newRun(ctx, e, q)
	r.observed = &observation{map[string]fileKind{}, map[bundle.Schema]map[string]bool{}}
	res := r.answer()
	res.Datafiles = r.observed.paths(datafileKind, e.bundle.Datafile)
	res.Resources = r.observed.paths(resourceKind, e.bundle.Resource)
	res.Fields = map[bundle.Schema][]string{}
	for schema, fields := range r.observed.fields {
		res.Fields[schema] = slices.Sorted(maps.Keys(fields))
	}
	return res
}

// noteField records that a field of an object was read, if the object has a schema.
func (s *observation) noteField(o *bundle.Object, name string) {
	schema := bundle.Schema(o.String("$schema"))
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
