package server

import (
	"slices"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
	"github.com/app-sre/prcheck/integration"
)

// checkResponse returns an error answer if a response contains data of datafiles that the
// task may not read, and nil otherwise. It is the responseCheck of an endpoint.
func (e *Endpoint) checkResponse(on *Snapshot, q *gql.Query, res *gql.Response) []byte {
	allowed := e.opts.HeadAllowed
	if on == e.opts.Base { // also if base and head are the same
		allowed = e.opts.BaseAllowed
	}
	touched := res.DatafileSchemas
	if readsOnlySchemasOfIntegrations(q) {
		touched = slices.DeleteFunc(slices.Clone(touched), func(s bundle.Schema) bool { return s == integration.DefinitionSchema })
	}
	bad := e.recordForbidden(touched, allowed)
	if len(bad) == 0 {
		return nil
	}
	return forbiddenAnswer(&ForbiddenError{e.opts.Integration, bad}, res.Schemas)
}

// recordForbidden returns the touched schemas that are not allowed. It also records them
// for Close.
func (e *Endpoint) recordForbidden(touched, allowed []bundle.Schema) []bundle.Schema {
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

// readsOnlySchemasOfIntegrations reports whether a query reads nothing but names,
// descriptions and schemas of integrations. Every client starts with such a query, to find
// the definition of its own integration.
func readsOnlySchemasOfIntegrations(q *gql.Query) bool {
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

// forbiddenAnswer returns the answer that replaces a response with forbidden data.
func forbiddenAnswer(err *ForbiddenError, touched []bundle.Schema) []byte {
	list := make([]any, len(touched))
	for i, s := range touched {
		list[i] = string(s)
	}
	const data = `{"errors":[`
	out := append([]byte(data), errorJSON(err.Error(), "FORBIDDEN_SCHEMA")...)
	out = append(out, `],"data":null,"extensions":{"schemas":`...)
	return append(gql.AppendJSON(out, list), "}}\n"...)
}
