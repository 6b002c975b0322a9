package server

import (
	"slices"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
	"github.com/app-sre/prcheck/integration"
)

// check is the guard of an endpoint: it replaces an answer that touches a
// schema which the task may not read.
func (e *Endpoint) check(on *Snapshot, q *gql.Query, res *gql.Response) []byte {
	allowed := e.opts.HeadAllowed
	if on == e.opts.Base { // also when both sides are the same
		allowed = e.opts.BaseAllowed
	}
	touched := res.DatafileSchemas
	if asksForDefinitionsOnly(q) {
		touched = slices.DeleteFunc(slices.Clone(touched), func(s bundle.Schema) bool { return s == integration.DefinitionSchema })
	}
	bad := e.forbid(touched, allowed)
	if len(bad) == 0 {
		return nil
	}
	return forbidden(&ForbiddenError{e.opts.Integration, bad}, res.Schemas)
}

// forbid returns the schemas among those touched that are not allowed, and
// remembers them.
func (e *Endpoint) forbid(touched, allowed []bundle.Schema) []bundle.Schema {
	if e.opts.Unenforced {
		return nil
	}
	var out []bundle.Schema
	for _, s := range touched {
		if !slices.Contains(allowed, s) {
			out = append(out, s)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range out {
		if !slices.Contains(e.forbidden, s) {
			e.forbidden = append(e.forbidden, s)
		}
	}
	return out
}

// asksForDefinitionsOnly tells whether a query reads of the definitions of
// integrations only what every client needs to find its own.
func asksForDefinitionsOnly(q *gql.Query) bool {
	for _, r := range q.Roots() {
		if r.Schema != integration.DefinitionSchema {
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

// forbidden is the answer of which a task may not read a part.
func forbidden(err *ForbiddenError, touched []bundle.Schema) []byte {
	list := make([]any, len(touched))
	for i, s := range touched {
		list[i] = string(s)
	}
	const data = `{"errors":[`
	out := append([]byte(data), problem(err.Error(), "FORBIDDEN_SCHEMA")...)
	out = append(out, `],"data":null,"extensions":{"schemas":`...)
	return append(gql.AppendJSON(out, list), "}}\n"...)
}
