package server

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// usualDefinitions is the schema of definitions in app-interface.
const usualDefinitions bundle.SchemaPath = "/app-sre/integration-1.yml"

// checkResponse returns an error answer if a response contains something that the task may
// not read, and nil otherwise. It is the responseCheck of an endpoint.
func (e *Endpoint) checkResponse(on *Snapshot, q *gql.Query, res *gql.Response) []byte {
	touched := res.DatafileSchemas
	definitions := cmp.Or(e.opts.Definitions, usualDefinitions)
	if readsOnlySchemasOfIntegrations(q, definitions) {
		isDefinition := func(s bundle.SchemaPath) bool { return s == definitions }
		touched = slices.DeleteFunc(slices.Clone(touched), isDefinition)
		res.Dependence.Schemas = slices.DeleteFunc(res.Dependence.Schemas, isDefinition)
	}
	bad := e.findForbidden(on, touched, res.Dependence)
	if bad.isEmpty() {
		return nil
	}
	e.mu.Lock()
	e.forbidden.add(bad)
	e.mu.Unlock()
	return forbiddenAnswer(bad, res.Schemas)
}

// findForbidden returns what an answer contains although the task may not read it: data of
// the touched schemas, and, as far as that is forbidden, what the answer depends on.
func (e *Endpoint) findForbidden(on *Snapshot, touched []bundle.SchemaPath, d gql.Dependence) *ForbiddenError {
	allowed := e.opts.HeadAllowed
	if on == e.opts.Base { // also if base and head are the same
		allowed = e.opts.BaseAllowed
	}
	isAllowed := func(s bundle.SchemaPath) bool { return slices.Contains(allowed, s) }
	out := &ForbiddenError{Integration: e.opts.Integration}
	if !e.opts.Unenforced {
		out.Schemas = slices.DeleteFunc(slices.Clone(touched), isAllowed)
	}
	if e.opts.Strict && !e.opts.Unenforced {
		isTold := func(s bundle.SchemaPath) bool { return isAllowed(s) || slices.Contains(out.Schemas, s) }
		out.Depends = slices.DeleteFunc(slices.Clone(d.Schemas), isTold)
		out.Backrefs = d.Backrefs
	}
	if may := e.opts.Resources; may != nil {
		out.Resources = slices.DeleteFunc(slices.Clone(d.Resources), func(p bundle.Path) bool { return may.Allow(string(p)) })
		out.Lists = d.ListsResources && !may.AllowAll()
	}
	return out
}

// readsOnlySchemasOfIntegrations reports whether a query reads nothing but names,
// descriptions and schemas of integrations. Every client starts with such a query, to find
// the definition of its own integration.
func readsOnlySchemasOfIntegrations(q *gql.Query, definitions bundle.SchemaPath) bool {
	for _, r := range q.Roots() {
		if r.Schema != definitions {
			return false
		}
	}
	known := []string{"name", "description", "schemas"}
	for _, c := range q.Footprint().Children {
		if len(c.Pos.Children) > 0 || len(c.Pos.Whole) > 0 {
			return false
		}
		if slices.ContainsFunc(c.Pos.Leaves, func(k string) bool { return !slices.Contains(known, k) }) {
			return false
		}
	}
	return true
}

// forbiddenAnswer returns the answer that replaces a response with forbidden data.
func forbiddenAnswer(err *ForbiddenError, touched []bundle.SchemaPath) []byte {
	list := make([]any, len(touched))
	for i, s := range touched {
		list[i] = string(s)
	}
	code := "FORBIDDEN_SCHEMA"
	if len(err.Schemas)+len(err.Depends) == 0 && !err.Backrefs {
		code = "FORBIDDEN_RESOURCE"
	}
	const data = `{"errors":[`
	out := append([]byte(data), errorJSON(err.Error(), code)...)
	out = append(out, `],"data":null,"extensions":{"schemas":`...)
	return append(gql.AppendJSON(out, list), "}}\n"...)
}

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
