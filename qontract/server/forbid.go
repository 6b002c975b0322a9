package server

import (
	"cmp"
	"slices"

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
