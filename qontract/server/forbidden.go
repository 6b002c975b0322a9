package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// A ForbiddenError lists what a task read although it may not.
type ForbiddenError struct {
	Integration string
	Schemas     []bundle.SchemaPath // schemas of datafiles that it read
	Depends     []bundle.SchemaPath // schemas of datafiles that its answers depend on; only if the endpoint is strict
	Backrefs    bool                // it read which datafiles mention a resource; only if the endpoint is strict
	Resources   []bundle.Path       // resources that it asked for
	Lists       bool                // it asked for a list of resources
}

// Error returns a message that says how to allow what was read.
func (e *ForbiddenError) Error() string {
	var out []string
	if len(e.Schemas) > 0 {
		out = append(out, fmt.Sprintf("%s reads %s, which its definition does not allow; add it to its schemas",
			e.Integration, joinNames(e.Schemas)))
	}
	if len(e.Depends) > 0 {
		out = append(out,
			fmt.Sprintf("%s depends on %s, which its definition does not allow, and the settings say schemas: strict; add it "+
				"to its schemas",
				e.Integration, joinNames(e.Depends)))
	}
	if e.Backrefs {
		out = append(out,
			e.Integration+" reads the backrefs of resources, which depend on datafiles of all schemas, and the settings say "+
				"schemas: strict")
	}
	const remedy = "which the settings do not allow; add it to integrations.%s.resources"
	if len(e.Resources) > 0 {
		out = append(out, fmt.Sprintf("%s asks for the resource %s, "+remedy, e.Integration, joinNames(e.Resources),
			e.Integration))
	}
	if e.Lists {
		out = append(out, fmt.Sprintf("%s asks for a list of resources, "+remedy+", as resources/**", e.Integration,
			e.Integration))
	}
	return strings.Join(out, "; ")
}

// isEmpty reports whether nothing forbidden was read.
func (e *ForbiddenError) isEmpty() bool {
	return len(e.Schemas)+len(e.Depends)+len(e.Resources) == 0 && !e.Backrefs && !e.Lists
}

// add adds what another error lists.
func (e *ForbiddenError) add(more *ForbiddenError) {
	e.Schemas = appendNew(e.Schemas, more.Schemas)
	e.Depends = appendNew(e.Depends, more.Depends)
	e.Resources = appendNew(e.Resources, more.Resources)
	e.Backrefs = e.Backrefs || more.Backrefs
	e.Lists = e.Lists || more.Lists
}

// clone returns a copy that does not change any more.
func (e *ForbiddenError) clone() *ForbiddenError {
	out := *e
	out.Schemas, out.Depends, out.Resources = slices.Clone(e.Schemas), slices.Clone(e.Depends), slices.Clone(e.Resources)
	return &out
}

// appendNew appends the items that the list does not contain.
func appendNew[T comparable](list, more []T) []T {
	for _, item := range more {
		if !slices.Contains(list, item) {
			list = append(list, item)
		}
	}
	return list
}

// maxNames bounds how many names a message has.
const maxNames = 20

// joinNames returns the names with commas between them.
func joinNames[T ~string](names []T) string {
	var out []string
	for _, n := range names {
		out = append(out, string(n))
	}
	if n := len(out) - maxNames; n > 0 {
		out = append(out[:maxNames], fmt.Sprintf("%d more", n))
	}
	return strings.Join(out, ", ")
}
