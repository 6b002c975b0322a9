package server

import (
	"net/http"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// A graphqlRequest is a parsed GraphQL request.
type graphqlRequest struct {
	gql.Request
	persistedQuery *bundle.Object // extensions.persistedQuery
	hasQuery       bool           // whether there is a query, which may be empty
}

const (
	messageMissing = "POST body missing, invalid Content-Type, or JSON object has no keys."
	messageBatch   = "Operation batching disabled."
	messageMethod  = "Apollo Server supports only GET/POST requests."
	messageGETType = "GET requests may not have a content-type header other than application/json."
	messageAccept  = "An 'accept' header was provided for this request which does not accept application/json; " +
		"charset=utf-8 or application/graphql-response+json; charset=utf-8"
	messageDocument = "GraphQL queries must be strings. It looks like you're sending the internal graphql-js " +
		"representation of a parsed query in your " +
		"request instead of a request in the GraphQL query language. You can convert an AST to a string using the `print` " +
		"function from " +
		"`graphql`, or use a client like `apollo-client` which converts the internal representation to a string for you."
)

// parseRequest parses a GraphQL request. If it cannot, the reply says why.
func parseRequest(r *http.Request, body any) (*graphqlRequest, *reply) {
	switch r.Method {
	case http.MethodPost:
		return parsePost(r, body)
	case http.MethodGet:
		return parseGet(r)
	}
	refused := refusal(r, http.StatusMethodNotAllowed, messageMethod)
	refused.header = append(refused.header, [2]string{"Allow", "GET, POST"})
	return nil, refused
}

// refusal returns the reply of Apollo to a request that it cannot parse.
func refusal(r *http.Request, status int, message string) *reply {
	kind := preferredType(r.Header.Get("Accept"), graphqlTypes)
	if kind == "" {
		kind = typeJSON
	}
	return newReply(status, kind, `{"errors":[`+errorJSON(message, gql.CodeRequest)+"]}\n")
}

// errorJSON returns a GraphQL error as JSON.
func errorJSON(message, code string) string {
	e := bundle.NewObject(bundle.Member{Key: "message", Value: message},
		bundle.Member{Key: "extensions", Value: bundle.NewObject(bundle.Member{Key: "code", Value: code})})
	return string(gql.AppendJSON(nil, e))
}

// parsePost parses a GraphQL request from the body of a POST request.
func parsePost(r *http.Request, body any) (*graphqlRequest, *reply) {
	bad := func(message string) (*graphqlRequest, *reply) { return nil, refusal(r, http.StatusBadRequest, message) }
	if _, isList := body.([]any); isList {
		return bad(messageBatch)
	}
	o, ok := body.(*bundle.Object)
	if !ok || o.Len() == 0 {
		return bad(messageMissing)
	}
	query, hasQuery := o.Get("query")
	if document, ok := query.(*bundle.Object); ok && document.String("kind") == "Document" {
		return bad(messageDocument)
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
	a := &graphqlRequest{Request: gql.Request{Query: text, Variables: variables, Operation: operation,
		EmptyName: isName && operation == ""}, hasQuery: isText}
	return a, a.readExtensions(extensions)
}

// field returns the value of a key, nil if there is none.
func field(o *bundle.Object, key string) any {
	v, _ := o.Get(key)
	return v
}

// readExtensions reads the extensions of a request.
func (a *graphqlRequest) readExtensions(extensions *bundle.Object) *reply {
	if extensions == nil {
		return nil
	}
	v := field(extensions, "persistedQuery")
	if !gql.IsTruthy(v) {
		return nil
	}
	a.persistedQuery, _ = v.(*bundle.Object)
	if a.persistedQuery == nil {
		a.persistedQuery = &bundle.Object{} // without a version, so that it is refused later
	}
	return nil
}

// parseGet parses a GraphQL request from the query string of a GET request.
func parseGet(r *http.Request) (*graphqlRequest, *reply) {
	if kind, given := r.Header["Content-Type"]; given && mediaType(strings.Join(kind, ", ")) != "application/json" {
		return nil, refusal(r, http.StatusUnsupportedMediaType, messageGETType)
	}
	params := searchParams(r.URL.RawQuery)
	a := &graphqlRequest{}
	for _, name := range []string{"query", "operationName"} {
		values := params[name]
		if len(values) > 1 {
			return nil, refusal(r, http.StatusBadRequest, "The '"+name+"' search parameter may only be specified once.")
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
			return nil, refusal(r, http.StatusBadRequest, "The '"+name+"' search parameter may only be specified once.")
		}
		v, err := bundle.ParseValue([]byte(values[0]))
		if err != nil {
			return nil, refusal(r, http.StatusBadRequest, "The "+name+" search parameter contains invalid JSON.")
		}
		o, ok := v.(*bundle.Object)
		if !ok {
			return nil, refusal(r, http.StatusBadRequest, "The "+name+" search parameter should contain a JSON-encoded object.")
		}
		objects[i] = o
	}
	a.Variables = objects[0]
	return a, a.readExtensions(objects[1])
}

// searchParams parses a query string as browsers do. No query string is invalid.
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

// unescapeForm decodes a name or a value of a query string.
func unescapeForm(s string) string {
	s = strings.ReplaceAll(s, "+", " ")
	return strings.ToValidUTF8(unescapePercent(s), "\ufffd")
}

// unescapePercent decodes the escapes of a URL. Other percent signs stay.
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

// unhex returns the value of a hex digit.
func unhex(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	}
	return c - '0'
}
