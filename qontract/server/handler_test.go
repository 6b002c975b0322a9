package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/gql"
)

const (
	page   = "text/html; charset=utf-8"
	inJSON = "application/json; charset=utf-8"
)

// errorPage returns the page with which express reports an error.
func errorPage(message string) string {
	return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Error</title>\n</head>\n" +
		"<body>\n<pre>" + message + "</pre>\n</body>\n</html>\n"
}

func users(name string) string {
	return fmt.Sprintf(`{"data":{"users":[{"name":%q}]},"extensions":{"schemas":["/user-1.yml"]}}`, name) + "\n"
}

// Answers to GET requests on all paths.
func TestGet(t *testing.T) {
	e := open(t, nil)
	base, head := snapshots(t)
	b, h := base.Bundle.SHA256(), head.Bundle.SHA256()
	const baseInfo = `{"commit":"base-commit","timestamp":"1600000000"}`
	const headInfo = `{"commit":"head-commit","timestamp":"1700000000"}`
	query := "?query=" + url.QueryEscape("{ users { name } }")
	tests := []struct {
		name, path string
		want       answer
	}{
		{"sha256", "/sha256", answer{200, page, "", h}},
		{"sha256 of a bundle", "/sha256/" + h, answer{404, page, "", errorPage("Cannot GET /sha256/" + h)}},
		{"commit", "/git-commit", answer{200, page, "", "head-commit"}},
		{"commit of base", "/git-commit/" + b, answer{200, page, "", "base-commit"}},
		{"commit of head", "/git-commit/" + h, answer{200, page, "", "head-commit"}},
		{"commit of an unknown bundle", "/git-commit/12ab", answer{404, page, "", "Bundle 12ab not found"}},
		{"commit of a hostile bundle", "/git-commit/%3Cscript%3E", answer{404, page, "", "Bundle &lt;script&gt; not found"}},
		{"info", "/git-commit-info", answer{200, inJSON, "", headInfo}},
		{"info of base", "/git-commit-info/" + b, answer{200, inJSON, "", baseInfo}},
		{"info of head", "/git-commit-info/" + h, answer{200, inJSON, "", headInfo}},
		{"info of an unknown bundle", "/git-commit-info/12ab", answer{404, page, "", "Bundle 12ab not found"}},
		{"more than one segment", "/git-commit-info/" + h + "/x",
			answer{404, page, "", errorPage("Cannot GET /git-commit-info/" + h + "/x")}},
		{"health", "/healthz", answer{200, "", "", ""}},

		{"unknown", "/nope", answer{404, page, "", errorPage("Cannot GET /nope")}},
		{"hostile", "/%3Cscript%3E", answer{404, page, "", errorPage("Cannot GET /%3Cscript%3E")}},

		{"query", "/graphql" + query, answer{200, inJSON, "no-store", users("bob")}},
		{"query with a slash", "/graphql/" + query, answer{404, page, "", errorPage("Cannot GET /graphql/")}},
		{"query of base", "/graphqlsha/" + b + query, answer{200, inJSON, "no-store", users("ana")}},
		{"query of head", "/graphqlsha/" + h + query, answer{200, inJSON, "no-store", users("bob")}},
		{"query and more segments", "/graphqlsha/" + b + "/x/y" + query, answer{200, inJSON, "no-store", users("ana")}},
		{"query of an unknown bundle", "/graphqlsha/12ab" + query,
			answer{404, page, "", errorPage("Cannot GET /graphqlsha/12ab")}},
		{"query of no bundle", "/graphqlsha" + query, answer{404, page, "", errorPage("Cannot GET /graphqlsha")}},
		{"variables", "/graphql?operationName=q&variables=" + url.QueryEscape(`{"n":"bob"}`) + "&query=" +
			url.QueryEscape(`query p { roles { name } } query q($n: String) { users(name: $n) { name } }`),
			answer{200, inJSON, "no-store", users("bob")}},
		{"bad variables", "/graphql?query=x&variables=[", answer{400, inJSON, "",
			`{"errors":[{"message":"The variables search parameter contains invalid JSON.","extensions":{"code":"BAD_REQUEST"}}]}` + "\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := do(t, http.MethodGet, at(e, tt.path), "", ""); got != tt.want {
				t.Errorf("GET %s\ngot  %v\nwant %v", tt.path, got, tt.want)
			}
		})
	}
}

func TestPost(t *testing.T) {
	e := open(t, nil)
	refused := func(message string) answer {
		return answer{400, inJSON, "", `{"errors":[{"message":"` + message + `","extensions":{"code":"BAD_REQUEST"}}]}` +
			"\n"}
	}
	missing := refused("POST body missing, invalid Content-Type, or JSON object has no keys.")
	const good = `{"query":"{ users { name } }"}`
	tests := []struct {
		name, kind, body string
		want             answer
	}{
		{"query", "application/json", good, answer{200, inJSON, "no-store", users("bob")}},
		{"charset", "application/json; charset=utf-8", good, answer{200, inJSON, "no-store", users("bob")}},
		{"null variables", "application/json", `{"query":"{ users { name } }","variables":null,"operationName":null}`,
			answer{200, inJSON, "no-store", users("bob")}},
		{"variables", "application/json",
			`{"query":"query q($n: String) { users(name: $n) { name } }","variables":{"n":"x"},"operationName":"q"}`,
			answer{200, inJSON, "no-store", `{"data":{"users":[]},"extensions":{"schemas":[]}}` + "\n"}},
		{"no body", "application/json", "", missing},
		{"no content type", "", good, missing},
		{"wrong content type", "text/plain", good, missing},
		{"no keys", "application/json", "{}", missing},
		{"text", "application/json", `"x"`, answer{400, page, "", errorPage("Bad Request")}},
		{"list", "application/json", "[" + good + "]", refused("Operation batching disabled.")},
		{"not JSON", "application/json", "{ users }", answer{400, page, "", errorPage("Bad Request")}},
		{"too large", "application/json", `{"query":"` + strings.Repeat(" ", 100<<10) + `"}`,
			answer{413, page, "", errorPage("Payload Too Large")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := do(t, http.MethodPost, e.URL(), tt.kind, tt.body)
			if got != tt.want {
				t.Errorf("got  %v\nwant %v", got, tt.want)
			}
		})
	}
}

// A body of the maximal size is read.
func TestPostLarge(t *testing.T) {
	e := open(t, nil)
	body := `{"query":"{ users { name } }"}`
	body = strings.Repeat(" ", 100<<10-len(body)) + body
	if got, want := do(t, http.MethodPost, e.URL(), "application/json", body),
		(answer{200, inJSON, "no-store", users("bob")}); got != want {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestPostCutShort(t *testing.T) {
	e := open(t, nil)
	host := strings.TrimSuffix(strings.TrimPrefix(e.URL(), "http://"), "/graphql")
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const head = "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n"
	if _, err := io.WriteString(conn, head+`{"query":`); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if raw, err := io.ReadAll(res.Body); err != nil || res.StatusCode != 400 || string(raw) != errorPage("Bad Request") {
		t.Errorf("got %d %q, %v", res.StatusCode, raw, err)
	}
}

// A query that does not compile gets status 400 and the message of the engine.
func TestRejected(t *testing.T) {
	e := open(t, nil)
	for query, code := range map[string]string{
		"{ users {":                      gql.CodeParse,
		"{ users { nope } }":             gql.CodeValidation,
		"query q($n: String!) { users }": gql.CodeValidation,
		"query q($n: String!) { users(name: $n) { name } }": gql.CodeUserInput,
		"query a { users { name } } query b { __typename }": gql.CodeOperation,
		"": gql.CodeRequest,
	} {
		got := ask(t, e.URL(), query)
		if got.status != 400 || got.kind != inJSON || !strings.Contains(got.body, `"code":"`+code+`"`) {
			t.Errorf("%q: got %v, want status 400 and code %s", query, got, code)
		}
	}
}

// All paths except GraphQL answer GET and HEAD only.
func TestMethods(t *testing.T) {
	e := open(t, nil)
	_, head := snapshots(t)
	sha := head.Bundle.SHA256()
	const only = `{"errors":[{"message":"Apollo Server supports only GET/POST requests.","extensions":{"code":"BAD_REQUEST"}}]}` + "\n"
	tests := []struct {
		method, path string
		want         answer
	}{
		{"POST", "/sha256", answer{404, page, "", errorPage("Cannot POST /sha256")}},
		{"POST", "/git-commit", answer{404, page, "", errorPage("Cannot POST /git-commit")}},
		{"POST", "/healthz", answer{404, page, "", errorPage("Cannot POST /healthz")}},
		{"POST", "/nope", answer{404, page, "", errorPage("Cannot POST /nope")}},
		{"POST", "/graphqlsha/12ab", answer{404, page, "", errorPage("Cannot POST /graphqlsha/12ab")}},
		{"POST", "/graphqlx", answer{404, page, "", errorPage("Cannot POST /graphqlx")}},
		{"HEAD", "/sha256", answer{200, page, "", ""}},
		{"HEAD", "/graphql", answer{405, inJSON, "", ""}},
		{"PUT", "/graphql", answer{405, inJSON, "", only}},
		{"DELETE", "/graphqlsha/" + sha, answer{405, inJSON, "", only}},
		{"OPTIONS", "/sha256", answer{200, "text/plain", "", "GET, HEAD"}},
	}
	for _, tt := range tests {
		if got := do(t, tt.method, at(e, tt.path), "", ""); got != tt.want {
			t.Errorf("%s %s\ngot  %v\nwant %v", tt.method, tt.path, got, tt.want)
		}
	}
}
