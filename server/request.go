package server

import (
	"net/http"
	"strings"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
)

// asked is what a GraphQL request asks for.
type asked struct {
	gql.Request
	persisted *bundle.Object // extensions.persistedQuery
	hasQuery  bool           // there is a query, be it empty
}

const (
	saysMissing  = "POST body missing, invalid Content-Type, or JSON object has no keys."
	saysBatch    = "Operation batching disabled."
	saysMethod   = "Apollo Server supports only GET/POST requests."
	saysGETType  = "GET requests may not have a content-type header other than application/json."
	saysAccept   = "An 'accept' header was provided for this request which does not accept application/json; charset=utf-8 or application/graphql-response+json; charset=utf-8"
	saysDocument = "GraphQL queries must be strings. It looks like you're sending the internal graphql-js representation of a parsed query in your " +
		"request instead of a request in the GraphQL query language. You can convert an AST to a string using the `print` function from " +
		"`graphql`, or use a client like `apollo-client` which converts the internal representation to a string for you."
)

// request reads what a GraphQL request asks for, or refuses it.
func request(r *http.Request, body any) (*asked, *reply) {
	switch r.Method {
	case http.MethodPost:
		return posted(r, body)
	case http.MethodGet:
		return inURL(r)
	}
	refused := refuse(r, http.StatusMethodNotAllowed, saysMethod)
	refused.header = append(refused.header, [2]string{"Allow", "GET, POST"})
	return nil, refused
}

// refuse answers as Apollo does before it looks at a query.
func refuse(r *http.Request, status int, message string) *reply {
	kind := preferred(r.Header.Get("Accept"), answerTypes)
	if kind == "" {
		kind = typeJSON
	}
	return sent(status, kind, `{"errors":[`+problem(message, gql.CodeRequest)+"]}\n")
}

// problem is an error as JSON.
func problem(message, code string) string {
	e := bundle.NewObject(bundle.Member{Key: "message", Value: message},
		bundle.Member{Key: "extensions", Value: bundle.NewObject(bundle.Member{Key: "code", Value: code})})
	return string(gql.AppendJSON(nil, e))
}

func posted(r *http.Request, body any) (*asked, *reply) {
	bad := func(message string) (*asked, *reply) { return nil, refuse(r, http.StatusBadRequest, message) }
	if _, isList := body.([]any); isList {
		return bad(saysBatch)
	}
	o, ok := body.(*bundle.Object)
	if !ok || o.Len() == 0 {
		return bad(saysMissing)
	}
	query, hasQuery := o.Get("query")
	if document, ok := query.(*bundle.Object); ok && document.String("kind") == "Document" {
		return bad(saysDocument)
	}
	text, isText := query.(string)
	if hasQuery && !isText && gql.IsTruthy(query) {
		return bad("GraphQL queries must be strings.")
	}
	for _, name := range []string{"variables", "extensions"} {
		if _, isText := field(o, name).(string); isText {
			return bad("`" + name + "` in a POST body should be provided as an object, not a recursively JSON-encoded string.")
		}
	}
	for _, name := range []string{"extensions", "variables"} {
		v := field(o, name)
		if _, isObject := v.(*bundle.Object); v != nil && !isObject {
			return bad("`" + name + "` in a POST body must be an object if provided.")
		}
	}
	operation, isName := field(o, "operationName").(string)
	if !isName && field(o, "operationName") != nil {
		return bad("`operationName` in a POST body must be a string if provided.")
	}
	variables, _ := field(o, "variables").(*bundle.Object)
	extensions, _ := field(o, "extensions").(*bundle.Object)
	a := &asked{Request: gql.Request{Query: text, Variables: variables, Operation: operation, EmptyName: isName && operation == ""}, hasQuery: isText}
	return a, a.extend(extensions)
}

// field returns the value of a key, nil when there is none.
func field(o *bundle.Object, key string) any {
	v, _ := o.Get(key)
	return v
}

// extend reads the extensions of a request.
func (a *asked) extend(extensions *bundle.Object) *reply {
	if extensions == nil {
		return nil
	}
	v := field(extensions, "persistedQuery")
	if !gql.IsTruthy(v) {
		return nil
	}
	a.persisted, _ = v.(*bundle.Object)
	if a.persisted == nil {
		a.persisted = &bundle.Object{} // of no version that is known
	}
	return nil
}

// inURL reads a request from the query string.
func inURL(r *http.Request) (*asked, *reply) {
	if kind, given := r.Header["Content-Type"]; given && essence(strings.Join(kind, ", ")) != "application/json" {
		return nil, refuse(r, http.StatusUnsupportedMediaType, saysGETType)
	}
	params := searchParams(r.URL.RawQuery)
	a := &asked{}
	for _, name := range []string{"query", "operationName"} {
		values := params[name]
		if len(values) > 1 {
			return nil, refuse(r, http.StatusBadRequest, "The '"+name+"' search parameter may only be specified once.")
		}
		if len(values) == 1 && name == "query" {
			a.Query, a.hasQuery = values[0], true
		} else if len(values) == 1 {
			a.Operation, a.EmptyName = values[0], values[0] == ""
		}
	}
	objects := [2]*bundle.Object{}
	for i, name := range []string{"variables", "extensions"} {
		values := params[name]
		switch {
		case len(values) == 0:
			continue
		case len(values) > 1:
			return nil, refuse(r, http.StatusBadRequest, "The '"+name+"' search parameter may only be specified once.")
		}
		v, err := bundle.ParseValue([]byte(values[0]))
		if err != nil {
			return nil, refuse(r, http.StatusBadRequest, "The "+name+" search parameter contains invalid JSON.")
		}
		o, ok := v.(*bundle.Object)
		if !ok {
			return nil, refuse(r, http.StatusBadRequest, "The "+name+" search parameter should contain a JSON-encoded object.")
		}
		objects[i] = o
	}
	a.Variables = objects[0]
	return a, a.extend(objects[1])
}

// searchParams reads a query string as browsers do: nothing in it is wrong.
func searchParams(raw string) map[string][]string {
	out := map[string][]string{}
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name = unescapeForm(name)
		out[name] = append(out[name], unescapeForm(value))
	}
	return out
}

func unescapeForm(s string) string {
	s = strings.ReplaceAll(s, "+", " ")
	return strings.ToValidUTF8(unescapePercent(s), "\ufffd")
}

// unescapePercent decodes the escapes of a URL and leaves what is none.
func unescapePercent(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && isHex(s[i+1:i+3]) {
			out = append(out, unhex(s[i+1])<<4|unhex(s[i+2]))
			i += 2
			continue
		}
		out = append(out, s[i])
	}
	return string(out)
}

func unhex(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	}
	return c - '0'
}
