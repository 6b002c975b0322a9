package gql

import (
	"context"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/bundle"
)

// An observation is what an answer was made from.
type observation struct {
	fileKinds map[string]fileKind
	fields    map[bundle.Schema]map[string]bool
}

// Observe is Execute that notes the files and fields that were read.
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

// field notes that a field of an object was read, when it is a datafile.
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

// paths returns the files of which fields were read. A part of a file can have
// a path too, so only those that the bundle has count.
func (s *observation) paths(at fileKind, find func(bundle.Path) (*bundle.File, bool)) []bundle.Path {
	out := []bundle.Path{}
	for path, places := range s.fileKinds {
		if _, ok := find(bundle.Path(path)); ok && places&at != 0 {
			out = append(out, bundle.Path(path))
		}
	}
	slices.Sort(out)
	return out
}
