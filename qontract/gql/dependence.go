package gql

import (
	"maps"
	"slices"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// A Dependence tells on what of a bundle an answer depends. The answer can depend on a
// datafile of which no field is read: on whether a reference leads to it, on whether it
// passes a filter, or on whether it is in a list. A query has the same answer on every bundle
// that has the same types, the same datafiles of these schemas and at these paths, and the
// same resources.
type Dependence struct {
	// Schemas are the schemas of datafiles, sorted: those that the query can reach as far as
	// its types tell, and those that it did reach.
	Schemas []bundle.SchemaPath
	// Missing are the sorted paths of datafiles that references lead to and that do not
	// exist.
	Missing []bundle.Path
	// Resources are the sorted paths of resources that the query asks for, whether they exist
	// or not. A resource that a field of a datafile leads to is not among them.
	Resources []bundle.Path
	// ListsResources tells that the query asks for a list of resources.
	ListsResources bool
	// Backrefs tells that the query reads which datafiles mention a resource.
	Backrefs bool
}

// dependence returns what the answer to the query depends on.
func (s *observation) dependence(q *Query) Dependence {
	static := q.analysis()
	schemas := append(slices.Collect(maps.Keys(s.targets)), static.depends...)
	slices.Sort(schemas)
	return Dependence{
		Schemas:        slices.DeleteFunc(slices.Compact(schemas), func(s bundle.SchemaPath) bool { return s == "" }),
		Missing:        slices.Sorted(maps.Keys(s.missing)),
		Resources:      slices.Sorted(maps.Keys(s.resources)),
		ListsResources: s.listsResources,
		Backrefs:       static.backrefs,
	}
}
