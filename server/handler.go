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
	if !e.enter() {
		return
	}
	defer e.answering.Done()
	name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	sha, more, _ := strings.Cut(rest, "/")
	asks := strings.HasPrefix(name, "graphql")
	if !asks && (more != "" || r.Method != http.MethodGet && r.Method != http.MethodHead) {
		e.notFound(w, r)
		return
	}
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
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(marshal(info)) // the client may be gone
}

// graphql answers a query over one bundle.
func (e *Endpoint) graphql(w http.ResponseWriter, r *http.Request, s *Snapshot, allowed []bundle.Schema) {
	req, refused := request(w, r)
	if refused != nil {
		refused(w)
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

// A refusal answers a request that holds no query.
type refusal func(w http.ResponseWriter)

// request reads the query of a request, or refuses it.
func request(w http.ResponseWriter, r *http.Request) (gql.Request, refusal) {
	switch r.Method {
	case http.MethodPost:
		return posted(w, r)
	case http.MethodGet:
		return asked(r)
	}
	w.Header().Set("Allow", "GET, POST")
	return gql.Request{}, refuse(http.StatusMethodNotAllowed, "Apollo Server supports only GET and POST requests.")
}

func asked(r *http.Request) (gql.Request, refusal) {
	q := r.URL.Query()
	req := gql.Request{Query: q.Get("query"), Operation: q.Get("operationName")}
	if raw := q.Get("variables"); raw != "" {
		v, err := bundle.ParseValue([]byte(raw))
		vars, ok := v.(*bundle.Object)
		if err != nil || !ok {
			return req, refuse(http.StatusBadRequest, "The `variables` search parameter contains invalid JSON.")
		}
		req.Variables = vars
	}
	return req, nil
}

func posted(w http.ResponseWriter, r *http.Request) (gql.Request, refusal) {
	const missing = "POST body missing, invalid Content-Type, or JSON object has no keys."
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); {
	case errors.As(err, &tooLarge):
		return gql.Request{}, refusePage(http.StatusRequestEntityTooLarge, "request entity too large")
	case err != nil:
		return gql.Request{}, refusePage(http.StatusBadRequest, "the request was cut short")
	case kind != "application/json" || len(raw) == 0:
		return gql.Request{}, refuse(http.StatusBadRequest, missing)
	}
	v, err := bundle.ParseValue(raw)
	if err != nil {
		return gql.Request{}, refusePage(http.StatusBadRequest, "the body is not JSON: "+err.Error())
	}
	if _, isList := v.([]any); isList {
		return gql.Request{}, refuse(http.StatusBadRequest, "Operation batching disabled.")
	}
	body, ok := v.(*bundle.Object)
	if !ok || body.Len() == 0 {
		return gql.Request{}, refuse(http.StatusBadRequest, missing)
	}
	vars, _ := body.Get("variables")
	object, isObject := vars.(*bundle.Object)
	if vars != nil && !isObject {
		return gql.Request{}, refuse(http.StatusBadRequest, "`variables` in a POST body should be provided as an object, not a recursively JSON-encoded string.")
	}
	return gql.Request{Query: body.String("query"), Operation: body.String("operationName"), Variables: object}, nil
}

// refuse answers as Apollo does, refusePage as what stands before it.
func refuse(status int, message string) refusal {
	return func(w http.ResponseWriter) {
		reply(w, status, marshal(map[string]any{"errors": []problem{{message, map[string]string{"code": gql.CodeRequest}}}}))
	}
}

func refusePage(status int, message string) refusal {
	return func(w http.ResponseWriter) { text(w, status, html.EscapeString(message)) }
}

type problem struct {
	Message    string            `json:"message"`
	Extensions map[string]string `json:"extensions"`
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
	return raw
}
