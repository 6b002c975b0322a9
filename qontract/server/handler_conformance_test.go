package server_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/server"
)

// A seen is the part of an answer that clients see, as qontract-server 2.0.0 sends it.
type seen struct {
	status     int
	kind, body string
	more       string // other headers of interest, "name: value"
}

const (
	blank      = `{"data":{"__typename":"Query"},"extensions":{"schemas":[]}}` + "\n"
	saysAccept = "An 'accept' header was provided for this request which does not accept application/json; charset=utf-8 or application/graphql-response+json; charset=utf-8"
	saysEmpty  = "GraphQL operations must contain a non-empty `query` or a `persistedQuery` extension."
	saysNoBody = "POST body missing, invalid Content-Type, or JSON object has no keys."
	hashOfIt   = "ecf4edb46db40b5132295c0291d62fb65d6759a9eedfa4d5d612dd5ec54a6b38" // of {__typename}
)

// bad returns the answer of Apollo to a request that it cannot parse.
func bad(status int, message string) seen {
	return seen{status, inJSON, `{"errors":[{"message":"` + message + `","extensions":{"code":"BAD_REQUEST"}}]}` + "\n",
		""}
}

// no returns the answer of Apollo to a query that it does not execute.
func no(status int, code, message string) seen {
	return seen{status, inJSON,
		`{"errors":[{"message":"` + message + `","extensions":{"code":"` + code + `"}}],"extensions":{"schemas":[]}}` + "\n",
		"Cache-Control: no-store"}
}

func failPage(status int, message string) seen {
	return seen{status, page, errorPage(message), "X-Content-Type-Options: nosniff"}
}

var yes = seen{200, inJSON, blank, "Cache-Control: no-store"}

// look sends a request to a handler and compares the answer.
func look(t *testing.T, h http.Handler, method, path string, header http.Header, body string, want seen) {
	t.Helper()
	w := request(t, h, method, path, header, body)
	got := seen{w.Code, w.Header().Get("Content-Type"), w.Body.String(), ""}
	if name, _, ok := strings.Cut(want.more, ": "); ok {
		got.more = name + ": " + w.Header().Get(name)
	}
	if got != want {
		t.Errorf("%s %s %v %.80q\ngot  %+v\nwant %+v", method, path, header, body, got, want)
	}
}

func hub(t *testing.T) *server.Hub {
	t.Helper()
	h := server.NewHub(server.HubOptions{})
	if err := h.Add(people(t, "ana")[0]); err != nil {
		t.Fatal(err)
	}
	return h
}

// Answers to requests with bad bodies.
func TestBodies(t *testing.T) {
	h := hub(t)
	const good = `{"query":"{__typename}"}`
	const persisted = `{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"` + hashOfIt + `"}}}`
	nested := func(name string) string {
		return "`" + name + "` in a POST body should be provided as an object, not a recursively JSON-encoded string."
	}
	object := func(name string) string { return "`" + name + "` in a POST body must be an object if provided." }
	tests := []struct {
		body string
		want seen
	}{
		{good, yes},
		{"\ufeff" + good, yes},
		{"", bad(400, saysNoBody)},
		{"{}", bad(400, saysNoBody)},
		{" \n", failPage(400, "Bad Request")},
		{`"x"`, failPage(400, "Bad Request")},
		{"null", failPage(400, "Bad Request")},
		{good + "x", failPage(400, "Bad Request")},
		{"[]", bad(400, "Operation batching disabled.")},
		{`{"query":1}`, bad(400, "GraphQL queries must be strings.")},
		{`{"query":[]}`, bad(400, "GraphQL queries must be strings.")},
		{`{"query":{"kind":"Document"}}`,
			bad(400, "GraphQL queries must be strings. It looks like you're sending the internal graphql-js "+
				"representation of a parsed query in your request instead of a request in the GraphQL query language. You can convert an AST to "+
				"a string using the `print` function from `graphql`, or use a client like `apollo-client` which converts the internal "+
				"representation to a string for you.")},
		{`{"query":0}`, no(400, "BAD_REQUEST", saysEmpty)},
		{`{"query":false}`, no(400, "BAD_REQUEST", saysEmpty)},
		{`{"query":""}`, no(400, "BAD_REQUEST", saysEmpty)},
		{`{"x":1}`, no(400, "BAD_REQUEST", saysEmpty)},
		{`{"query":"{__typename}","variables":"{}"}`, bad(400, nested("variables"))},
		{`{"query":"{__typename}","variables":[]}`, bad(400, object("variables"))},
		{`{"query":"{__typename}","extensions":"{}"}`, bad(400, nested("extensions"))},
		{`{"query":"{__typename}","extensions":1}`, bad(400, object("extensions"))},
		{`{"query":"{__typename}","variables":1,"extensions":1}`, bad(400, object("extensions"))},
		{`{"query":"{__typename}","operationName":1}`,
			bad(400, "`operationName` in a POST body must be a string if provided.")},
		{`{"query":"{__typename}","operationName":null,"variables":null,"extensions":null}`, yes},
		{`{"query":"{__typename}","operationName":""}`,
			no(400, "OPERATION_RESOLUTION_FAILURE", `Unknown operation named \"\".`)},
		{`{"query":"{__typename}","operationName":"x"}`,
			no(400, "OPERATION_RESOLUTION_FAILURE", `Unknown operation named \"x\".`)},
		{persisted,
			seen{200, inJSON,
				`{"errors":[{"message":"PersistedQueryNotFound","extensions":{"code":"PERSISTED_QUERY_NOT_FOUND"}}],` +
					`"extensions":{"schemas":[]}}` + "\n", "Cache-Control: private, no-cache, must-revalidate"}},
		{`{"query":"{__typename}","extensions":{"persistedQuery":{"version":1,"sha256Hash":"x"}}}`,
			no(400, "INTERNAL_SERVER_ERROR", "provided sha does not match query")},
		{`{"query":"{__typename}","extensions":{"persistedQuery":{"version":2}}}`,
			no(400, "INTERNAL_SERVER_ERROR", "Unsupported persisted query version")},
		{`{"query":"{__typename}","extensions":{"persistedQuery":true}}`,
			no(400, "INTERNAL_SERVER_ERROR", "Unsupported persisted query version")},
		{`{"query":"{__typename}","extensions":{"persistedQuery":null}}`, yes},
		{`{"query":"{__typename}",` + persisted[1:], yes},
		{persisted, yes},
		{`{"query":"` + strings.Repeat(" ", 100<<10) + `"}`, failPage(413, "Payload Too Large")},
	}
	for _, tt := range tests {
		look(t, h, "POST", "/graphql", inJSONHeader(), tt.body, tt.want)
	}
}

// Bodies are read or ignored by their content type and encoding.
func TestContentTypes(t *testing.T) {
	h := hub(t)
	const good = `{"query":"{__typename}"}`
	media := failPage(415, "Unsupported Media Type")
	for kind, want := range map[string]seen{
		"application/json":                yes,
		"APPLICATION/JSON":                yes,
		"application/json;":               yes,
		"application/json; charset=UTF-8": yes,
		"application/json;charset=latin1": media,
		"application/json;charset=utf-9":  media,
		"text/plain":                      bad(400, saysNoBody),
		"application/graphql+json":        bad(400, saysNoBody),
		"application/json, text/plain":    bad(400, saysNoBody),
		"":                                bad(400, saysNoBody),
	} {
		look(t, h, "POST", "/graphql", http.Header{"Content-Type": {kind}}, good, want)
	}
	// Bodies are read before the route is chosen.
	look(t, h, "GET", "/sha256", inJSONHeader(), "{", failPage(400, "Bad Request"))
	look(t, h, "POST", "/nope", http.Header{"Content-Type": {"application/json;charset=x"}}, "{}", media)
}

func TestEncodings(t *testing.T) {
	h := hub(t)
	const good = `{"query":"{__typename}"}`
	pack := func(open func(io.Writer) io.WriteCloser, text string) string {
		var out bytes.Buffer
		w := open(&out)
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	zip := func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }
	deflate := func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }
	bomb := pack(zip, `{"query":"`+strings.Repeat(" ", 10<<20)+`"}`)
	tests := []struct {
		encoding, body string
		want           seen
	}{
		{"gzip", pack(zip, good), yes},
		{"GZIP", pack(zip, good), yes},
		{"deflate", pack(deflate, good), yes},
		{"identity", good, yes},
		{"gzip", good, failPage(400, "Bad Request")},
		{"deflate", good, failPage(400, "Bad Request")},
		{"gzip", bomb, failPage(413, "Payload Too Large")},
		{"gzip", pack(zip, good)[:20], failPage(400, "Bad Request")},
		{"x", good, failPage(415, "Unsupported Media Type")},
		{"gzip, gzip", pack(zip, good), failPage(415, "Unsupported Media Type")},
	}
	for _, tt := range tests {
		look(t, h, "POST", "/graphql", http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {tt.encoding}},
			tt.body, tt.want)
	}
}

// The Accept header decides the content type of the answer.
func TestAccept(t *testing.T) {
	h := hub(t)
	const other = "application/graphql-response+json; charset=utf-8"
	as := func(kind string) seen { return seen{200, kind, blank, ""} }
	for accept, want := range map[string]seen{
		"":                                  as(inJSON),
		"*/*":                               as(inJSON),
		"application/json":                  as(inJSON),
		"APPLICATION/JSON":                  as(inJSON),
		"application/*":                     as(inJSON),
		"application/graphql-response+json": as(other),
		"application/graphql-response+json;q=0.5,application/json":  as(inJSON),
		"application/graphql-response+json, application/json;q=0.9": as(other),
		"application/json; callbackSpec=1.0":                        as("application/json; callbackspec=1.0; charset=utf-8"),
		"image/png, */*;q=0.1":                                      as(inJSON),
		"application/json;q=0":                                      bad(406, saysAccept),
		"application/json;q=abc":                                    bad(406, saysAccept),
		"text/html":                                                 bad(406, saysAccept),
		"application/json;charset=latin1":                           bad(406, saysAccept),
		"nonsense":                                                  bad(406, saysAccept),
	} {
		header := http.Header{"Content-Type": {"application/json"}, "Accept": {accept}}
		look(t, h, "POST", "/graphql", header, `{"query":"{__typename}"}`, want)
	}
	browser := http.Header{"Accept": {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}}
	if w := request(t, h, "GET", "/graphql", browser, ""); w.Code != 200 ||
		!strings.HasPrefix(w.Body.String(), "<!DOCTYPE html>") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	root := func(kind, body string) seen { return seen{302, kind, body, "Location: /graphql"} }
	const says = "Found. Redirecting to /graphql"
	look(t, h, "GET", "/", nil, "", root("text/plain; charset=utf-8", says))
	look(t, h, "GET", "/", browser, "", root(page, "<p>"+says+"</p>"))
	look(t, h, "GET", "/", http.Header{"Accept": {"image/png"}}, "", root("", ""))
}

// Queries in the query string of a GET request.
func TestSearch(t *testing.T) {
	h := hub(t)
	twice := func(name string) seen { return bad(400, "The '"+name+"' search parameter may only be specified once.") }
	for search, want := range map[string]seen{
		"?query={__typename}":                                 yes,
		"?query=%7B__typename%7D&":                            yes,
		"?a=b&&query=query+a%7B__typename%7D&operationName=a": yes,
		"?query={__typename}&query=":                          twice("query"),
		"?operationName=a&operationName=b":                    twice("operationName"),
		"?query={__typename}&variables={}&variables={}":       twice("variables"),
		"":                                   no(400, "BAD_REQUEST", saysEmpty),
		"?QUERY={__typename}":                no(400, "BAD_REQUEST", saysEmpty),
		"?query={__typename}&operationName=": no(400, "OPERATION_RESOLUTION_FAILURE", `Unknown operation named \"\".`),
		"?query={__typename}&variables=":     bad(400, "The variables search parameter contains invalid JSON."),
		"?query={__typename}&variables=null": bad(400,
			"The variables search parameter should contain a JSON-encoded object."),
		"?query={__typename}&extensions=[]": bad(400,
			"The extensions search parameter should contain a JSON-encoded object."),
		"?query={__typename}&variables=%7B%22a%22:1%7D&extensions={}": yes,
		"?extensions={%22persistedQuery%22:{%22version%22:2}}": no(400, "INTERNAL_SERVER_ERROR",
			"Unsupported persisted query version"),
	} {
		look(t, h, "GET", "/graphql"+search, nil, "", want)
	}
	look(t, h, "GET", "/graphql?query={__typename}", http.Header{"Content-Type": {"text/plain"}}, "",
		bad(415, "GET requests may not have a content-type header other than application/json."))
	look(t, h, "GET", "/graphql?query={__typename}", inJSONHeader(), "", yes)
	look(t, h, "HEAD", "/graphql?query={__typename}", nil, "", seen{405, inJSON, "", "Allow: GET, POST"})
}

// The case of a path and a slash at its end do not matter, except for GraphQL paths.
func TestPaths(t *testing.T) {
	h := hub(t)
	sha := people(t, "ana")[0].SHA256()
	found := seen{200, page, sha, ""}
	missing := func(path string) seen { return failPage(404, "Cannot GET "+path) }
	for path, want := range map[string]seen{
		"/SHA256": found, "/sha256/": found, "/sha256?x=1": found,
		"/sha256//":               missing("/sha256//"),
		"//sha256":                missing("//sha256"),
		"/GraphQL":                missing("/GraphQL"),
		"/graphqlsha/":            missing("/graphqlsha/"),
		"/graphqlsha/nope?query=": missing("/graphqlsha/nope"),
		"/a%20b":                  missing("/a%20b"),
		"/a'b&c":                  missing("/a&#39;b&amp;c"),
		"/reload":                 missing("/reload"),
		"/git-commit/a%2Fb":       {404, page, "Bundle a/b not found", ""},
		"/git-commit/%3Cb%3E":     {404, page, "Bundle &lt;b&gt; not found", ""},
		"/git-commit-info/%E2%82": failPage(400, "Bad Request"),
		"/git-commit//":           missing("/git-commit//"),
		"/git-commit":             {200, "", "", ""},
		"/git-commit-info":        {200, inJSON, "{}", ""},
		"/HEALTHZ/":               {200, "", "", ""},
	} {
		look(t, h, "GET", path, nil, "", want)
	}
	look(t, h, "OPTIONS", "/cache", nil, "", seen{200, "text/plain", "GET, HEAD", "Allow: GET, HEAD"})
	look(t, h, "OPTIONS", "/reload", nil, "", seen{200, "text/plain", "POST", "Allow: POST"})
	look(t, h, "DELETE", "/diff/a/b", nil, "", failPage(404, "Cannot DELETE /diff/a/b"))
}

// A client that already has the answer gets status 304.
func TestNotModified(t *testing.T) {
	h := hub(t)
	tag := request(t, h, "GET", "/sha256", nil, "").Header().Get("ETag")
	if !strings.HasPrefix(tag, `W/"40-`) {
		t.Fatalf("got the tag %s", tag)
	}
	sha := people(t, "ana")[0].SHA256()
	fresh, stale := seen{304, "", "", "ETag: " + tag}, seen{200, page, sha, "ETag: " + tag}
	for known, want := range map[string]seen{
		tag: fresh, "*": fresh, `"a", ` + tag: fresh, strings.TrimPrefix(tag, "W/"): fresh, `"a"`: stale, "": stale,
	} {
		look(t, h, "GET", "/sha256", http.Header{"If-None-Match": {known}}, "", want)
	}
	look(t, h, "GET", "/sha256", http.Header{"If-None-Match": {tag}, "Cache-Control": {"no-cache"}}, "", stale)
	look(t, h, "GET", "/nope", http.Header{"If-None-Match": {"*"}}, "", failPage(404, "Cannot GET /nope"))
}

// Mutations by GET are refused.
func TestMutation(t *testing.T) {
	h := hub(t)
	want := no(405, "BAD_REQUEST", "GET requests only support query operations, not mutation operations")
	want.more = "Allow: POST"
	look(t, h, "GET", "/graphql?query=mutation%7B__typename%7D", nil, "", want)
}
