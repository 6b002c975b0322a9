package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
	"github.com/app-sre/prcheck/integration"
)

// maxBody is the size of a request's body above which it is refused, as
// qontract-server does.
const maxBody = 100 << 10

// ServeHTTP answers one request.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	if r.Method != http.MethodGet && !strings.HasPrefix(path, "/graphql") {
		e.notFound(w, r)
		return
	}
	name, sha, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	sha, _, _ = strings.Cut(sha, "/")
	snapshot, allowed := e.opts.Head, e.opts.HeadAllowed
	switch {
	case sha == e.opts.Base.Bundle.SHA256():
		snapshot, allowed = e.opts.Base, e.opts.BaseAllowed
	case sha != "" && sha != e.opts.Head.Bundle.SHA256():
		e.unknown(w, r, name, sha)
		return
	}
	switch {
	case name == "graphql" && sha == "", name == "graphqlsha" && sha != "":
		e.graphql(w, r, snapshot, allowed)
	case name == "sha256" && sha == "":
		text(w, http.StatusOK, snapshot.Bundle.SHA256())
	case name == "git-commit":
		text(w, http.StatusOK, snapshot.Bundle.Commit())
	case name == "git-commit-info":
		commitInfo(w, snapshot.Bundle)
	case name == "healthz":
		w.WriteHeader(http.StatusOK)
	default:
		e.notFound(w, r)
	}
}

func (e *Endpoint) unknown(w http.ResponseWriter, r *http.Request, name, sha string) {
	if strings.HasPrefix(name, "git-commit") {
		text(w, http.StatusNotFound, fmt.Sprintf("Bundle %s not found", html.EscapeString(sha)))
		return
	}
	e.notFound(w, r)
}

func (e *Endpoint) notFound(w http.ResponseWriter, r *http.Request) {
	text(w, http.StatusNotFound, fmt.Sprintf("Cannot %s %s", r.Method, html.EscapeString(r.URL.Path)))
}

func text(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // the client may be gone
}

func commitInfo(w http.ResponseWriter, b *bundle.Bundle) {
	info := struct {
		Commit    string `json:"commit,omitempty"`
		Timestamp string `json:"timestamp,omitempty"`
	}{b.Commit(), b.Timestamp()}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(info) // the client may be gone
}

// graphql answers a query over one bundle.
func (e *Endpoint) graphql(w http.ResponseWriter, r *http.Request, s *Snapshot, allowed []bundle.Schema) {
	req, refused, status := request(w, r)
	if status != 0 {
		reply(w, status, refused)
		return
	}
	q, err := s.Schema.Compile(req)
	if err != nil {
		res := s.Engine.Answer(r.Context(), req) // says it in the server's words
		reply(w, res.Status, res.JSON())
		return
	}
	res := s.Engine.Execute(r.Context(), q)
	touched := res.DatafileSchemas
	if asksForDefinitionsOnly(q) {
		touched = slices.DeleteFunc(slices.Clone(touched), func(s bundle.Schema) bool { return s == integration.DefinitionSchema })
	}
	if bad := e.forbid(touched, allowed); len(bad) > 0 {
		reply(w, http.StatusOK, forbidden(&ForbiddenError{e.opts.Integration, bad}, res.Schemas))
		return
	}
	reply(w, res.Status, res.JSON())
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

func reply(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}

// request reads the query of a request. When there is none, the status is not
// 0 and the body is what to answer.
func request(w http.ResponseWriter, r *http.Request) (gql.Request, []byte, int) {
	switch r.Method {
	case http.MethodPost:
		return posted(w, r)
	case http.MethodGet:
		q := r.URL.Query()
		req := gql.Request{Query: q.Get("query"), Operation: q.Get("operationName")}
		if raw := q.Get("variables"); raw != "" {
			v, err := bundle.ParseValue([]byte(raw))
			vars, ok := v.(*bundle.Object)
			if err != nil || !ok {
				return req, badRequest("The `variables` search parameter contains invalid JSON."), http.StatusBadRequest
			}
			req.Variables = vars
		}
		return req, nil, 0
	}
	w.Header().Set("Allow", "GET, POST")
	return gql.Request{}, badRequest("Apollo Server supports only GET and POST requests."), http.StatusMethodNotAllowed
}

func posted(w http.ResponseWriter, r *http.Request) (gql.Request, []byte, int) {
	const missing = "POST body missing, invalid Content-Type, or JSON object has no keys."
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); {
	case errors.As(err, &tooLarge):
		return gql.Request{}, badRequest("request entity too large"), http.StatusRequestEntityTooLarge
	case err != nil:
		return gql.Request{}, badRequest("the request was cut short"), http.StatusBadRequest
	case kind != "application/json":
		return gql.Request{}, badRequest(missing), http.StatusBadRequest
	}
	v, err := bundle.ParseValue(raw)
	if err != nil {
		return gql.Request{}, badRequest("the body is not JSON: " + err.Error()), http.StatusBadRequest
	}
	if _, isList := v.([]any); isList {
		return gql.Request{}, badRequest("Operation batching disabled."), http.StatusBadRequest
	}
	body, ok := v.(*bundle.Object)
	if !ok || body.Len() == 0 {
		return gql.Request{}, badRequest(missing), http.StatusBadRequest
	}
	vars, _ := body.Get("variables")
	object, _ := vars.(*bundle.Object)
	return gql.Request{Query: body.String("query"), Operation: body.String("operationName"), Variables: object}, nil, 0
}

type problem struct {
	Message    string            `json:"message"`
	Extensions map[string]string `json:"extensions"`
}

func badRequest(message string) []byte {
	return marshal(map[string]any{"errors": []problem{{message, map[string]string{"code": "BAD_REQUEST"}}}})
}

func forbidden(err *ForbiddenError, touched []bundle.Schema) []byte {
	return marshal(map[string]any{
		"errors":     []problem{{err.Error(), map[string]string{"code": "FORBIDDEN_SCHEMA"}}},
		"data":       nil,
		"extensions": map[string]any{"schemas": touched},
	})
}

func marshal(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		return []byte(`{"errors":[{"message":"internal error"}]}`)
	}
	return append(raw, '\n')
}
