package live

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/gql"
)

// Of an answer only the stack traces of its errors are cut out, wherever they stand among the
// extensions.
func TestWithoutStacks(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"none", `{"data":{"a":1}}`, `{"data":{"a":1}}`},
		{"last", `{"errors":[{"message":"m","extensions":{"code":"C","stacktrace":["a","b"]}}],"data":null}`,
			`{"errors":[{"message":"m","extensions":{"code":"C"}}],"data":null}`},
		{"first", `{"errors":[{"extensions":{"stacktrace":[],"code":"C"}}]}`, `{"errors":[{"extensions":{"code":"C"}}]}`},
		{"alone", `{"errors":[{"extensions": {"stacktrace":[{}]} }]}`, `{"errors":[{"extensions": {} }]}`},
		{"between", `{"errors":[{"extensions":{"a":{"x":1}, "stacktrace" : "s" ,"b":2}}]}`,
			`{"errors":[{"extensions":{"a":{"x":1} ,"b":2}}]}`},
		{"between, tight", `{"errors":[{"extensions":{"a":1,"stacktrace":2,"b":3}}]}`,
			`{"errors":[{"extensions":{"a":1,"b":3}}]}`},
		{"of each",
			`{"data":1,"errors":[{"extensions":{"c":1,"stacktrace":[1]}},{},{"extensions":{"c":2,"stacktrace":[2]}}],"x":2}`,
			`{"data":1,"errors":[{"extensions":{"c":1}},{},{"extensions":{"c":2}}],"x":2}`},
		{"in data", `{"data":{"errors":[{"extensions":{"code":1,"stacktrace":2}}]}}`,
			`{"data":{"errors":[{"extensions":{"code":1,"stacktrace":2}}]}}`},
		{"in a message", `{"errors":[{"message":"\"stacktrace\":[]","stacktrace":1}]}`,
			`{"errors":[{"message":"\"stacktrace\":[]","stacktrace":1}]}`},
		{"below", `{"errors":[{"extensions":{"more":{"stacktrace":1}}}]}`,
			`{"errors":[{"extensions":{"more":{"stacktrace":1}}}]}`},
		{"broken", `{"errors":[{"extensions":{"c":1,"stacktrace":[1]`, `{"errors":[{"extensions":{"c":1,"stacktrace":[1]`},
		{"errors of another kind", `{"errors":{"stacktrace":1}}`, `{"errors":{"stacktrace":1}}`},
		{"extensions of another kind", `{"errors":[{"extensions":"stacktrace"},{"stacktrace":1}]}`,
			`{"errors":[{"extensions":"stacktrace"},{"stacktrace":1}]}`},
		{"no object", `["stacktrace"]`, `["stacktrace"]`},
	} {
		if got := string(WithoutStacks([]byte(c.body))); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// What a bundle of a server answers is returned to the byte; what is no answer is an error.
func TestAsk(t *testing.T) {
	const address = "asking http://s.example/graphqlsha/" + sha + ": "
	for _, c := range []struct {
		name   string
		step   step
		status int
		want   string // the body, or the error after the address
	}{
		{"an answer", says(200, `{"data":{ "b":1.50,"a":"\u00e9"}}`+"\n"), 200, `{"data":{ "b":1.50,"a":"\u00e9"}}`},
		{"two line breaks", says(200, `{"data":{}}`+"\n\n"), 200, `{"data":{}}` + "\n"},
		{"a stack trace",
			says(200, `{"errors":[{"message":"m","extensions":{"code":"C","stacktrace":["AUTH"]}}],"data":null}`), 200,
			`{"errors":[{"message":"m","extensions":{"code":"C"}}],"data":null}`},
		{"a rejection", says(400, `{"errors":[{"message":"m"}]}`), 400, `{"errors":[{"message":"m"}]}`},
		{"another rejection", says(413, "too large"), 0, `status 413: "too large"`},
		{"a page", says(200, "<html>"), 0, "the answer is not one of GraphQL: byte 0: "},
		{"wrong data", says(200, `{"data":null}`), 200, `{"data":null}`},
		{"wrong errors", says(400, `{"errors":7}`), 400, `{"errors":7}`},
		{"a list", says(200, `["data"]`), 0, "the answer is not one of GraphQL: it has neither data nor errors"},
		{"nothing", says(200, "{}"), 0, "the answer is not one of GraphQL: it has neither data nor errors"},
		{"too much", says(200, `{"data":{"a":"`+strings.Repeat("x", 1000)+`"}}`), 0, "the answer is larger than 200 bytes"},
		{"endless", step{kind: "endless"}, 0, "the answer is larger than 200 bytes"},
		{"a secret", says(403, "no AUTH"), 0,
			`status 403: "no ***"; put what it wants as Authorization into PRCHECK_AUTHORIZATION`},
	} {
		host, err := ParseHost("http://s.example", Connection{Transport: &script{steps: []step{c.step}},
			Authorization: "Bearer hunter2hunter2"})
		if err != nil {
			t.Fatal(err)
		}
		got, err := host.Bundle(sha).Ask(t.Context(), gql.Request{Query: "{a}"}, 200)
		switch {
		case c.status > 0 && (err != nil || got.Status != c.status || string(got.Body) != c.want):
			t.Errorf("%s: got %d %s, %v, want %d %s", c.name, got.Status, got.Body, err, c.status, c.want)
		case c.status == 0 && (err == nil || !strings.HasPrefix(err.Error(), address+c.want) ||
			strings.Contains(err.Error(), "hunter2")):
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
	host, _ := ParseHost("http://s.example",
		Connection{Transport: &script{steps: []step{says(404, "<pre>Cannot POST /graphqlsha/"+sha+"</pre>")}}})
	var unknown *UnknownBundleError
	if _, err := host.Bundle(sha).Ask(t.Context(), gql.Request{}, 100); !errors.As(err, &unknown) ||
		unknown.SHA256 != sha {
		t.Errorf("no bundle: got %v", err)
	}
}

// A redirect to another host is not followed, so the authorization is not sent there.
func TestAskElsewhere(t *testing.T) {
	away := says(http.StatusTemporaryRedirect, "", "Location", "http://elsewhere.example/graphqlsha/"+sha)
	s := &script{steps: []step{away, says(200, `{"data":{"a":1}}`)}}
	host, err := ParseHost("http://s.example", Connection{Transport: s, Authorization: "Bearer hunter2hunter2"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := host.Bundle(sha).Ask(t.Context(), gql.Request{Query: "{a}"},
		200); err == nil || !strings.Contains(err.Error(), "redirects to another server") || s.asked != 1 {
		t.Errorf("got %v after %d requests", err, s.asked)
	}
}

func TestParseHost(t *testing.T) {
	for _, c := range []struct{ address, server, err string }{
		{"http://127.0.0.1:4000", "http://127.0.0.1:4000", ""},
		{"https://s.example/deep/", "https://s.example/deep", ""},
		{"https://s.example/deep/graphql/", "https://s.example/deep", ""},
		{"http://s.example/graphqlsha/" + sha, "", "the address names a bundle"},
		{"http://s.example/graphqlsha", "", "the address names a bundle"},
		{"http://me:hunter2@s.example", "", "must not hold a user or password"},
		{"http://s.example?token=hunter2", "", "must not hold a ?"},
		{"http://s.example#hunter2", "", "must not hold a ? or #"},
		{"http://", "", "not an address; write http://SERVER"},
		{"s.example:4000", "", "not an address; write http://SERVER"},
		{"file:///etc/hunter2", "", "not an address"},
	} {
		got, err := ParseHost(c.address, Connection{})
		switch {
		case c.err == "" && (err != nil || got.String() != c.server):
			t.Errorf("%s: got %v, %v", c.address, got, err)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "hunter2")):
			t.Errorf("%s: got %v, want %s", c.address, err, c.err)
		}
	}
}
