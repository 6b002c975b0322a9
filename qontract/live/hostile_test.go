package live_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/live"
)

// A liar changes the answers to some requests.
type liar struct {
	path, body string // it changes answers to this path and paths below, or to requests whose body contains this text
	status     int
}

func (l liar) RoundTrip(r *http.Request) (*http.Response, error) {
	asked := r.URL.Path
	if r.Method == http.MethodPost {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		asked, r.Body = string(raw), io.NopCloser(bytes.NewReader(raw))
	}
	if asked == l.path || !strings.HasPrefix(l.path, "/") && strings.Contains(asked, l.path) ||
		strings.HasSuffix(l.path, "/") && strings.HasPrefix(asked, l.path) {
		return &http.Response{StatusCode: l.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(l.body)),
			Request: r}, nil
	}
	return http.DefaultTransport.RoundTrip(r)
}

// For every answer of a server, Open returns bundles or an error of one line.
func TestHostile(t *testing.T) {
	base := world(t)
	from, to := serve(t, base, base)
	diff := "/diff/" + base.SHA256() + "/" + base.SHA256()
	deep := strings.Repeat(`{"a":`, 50_000) + "1" + strings.Repeat("}", 50_000)
	for _, c := range []struct{ name, path, body, want string }{
		{"commit", "git-commit-info", `[]`, "is not what a qontract-server gives"},
		{"commit of nothing", "git-commit-info", `{}`, ""},
		{"diff that is none", diff, `null`, "it has no datafiles"},
		{"diff with a number", diff, `{"datafiles":{"/a":{"old":7}},"resources":{}}`, "it is not an object"},
		{"diff with null", diff, `{"datafiles":{"/a":{"old":null}},"resources":{}}`, "it is not an object"},
		{"diff cut", diff, `{"datafiles":{"/a":{"old":{"a":`, "unexpected end"},
		{"diff without schema", diff, `{"datafiles":{"/a":{"old":{}}},"resources":{}}`, `"/a" has no $schema`},
		{"diff with odd paths", diff, `{"datafiles":{"../a":{"old":{"$schema":"/x"}}},"resources":{}}`, ""},
		{"diff with a bad resource", diff, `{"datafiles":{},"resources":{"/r":{"new":{}}}}`, `"/r" has no path`},
		{"diff with a resource that is none", diff, `{"datafiles":{},"resources":{"/r":{"new":7}}}`, `"/r" is not an object`},
		{"deep diff", diff, `{"datafiles":{"/a":{"old":` + deep + `}},"resources":{}}`, "exceeded max depth"},
		{"datafile of nothing", diff + "/datafile/", `{}`, "it has neither old nor new"},
		{"datafile of another server", diff + "/datafile/", `<html>`, "is not what a qontract-server gives"},
		{"no types", "__schema", `{"data":{}}`, "has no GraphQL type Query"},
		{"no data", "__schema", `{"data":null,"errors":[{"message":"a\nb"}]}`, `answers with an error: "a\nb"`},
		{"types without names", "__schema",
			`{"data":{"__schema":{"types":[{"kind":"OBJECT"},7,{"kind":"OBJECT","name":"Query","fields":[{},{"name":"x"}]}]}}}`,
			""},
		{"lists of nothing", "users{path}", `{"data":{}}`, ""},
		{"lists of what is not there", "users{path}", `{"data":{"users":[{"path":"/nowhere"},{},7,{"path":"/../up"}]}}`,
			"does not give it"},
		{"back references of nowhere", "{r:roles", `{"data":{"r":[{"path":"/x","f0":[{"path":"/y"}]}]}}`, ""},
		{"resources", "{r:resources", `{"data":{"r":[{"path":"/x"},{}]}}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := live.Open(t.Context(), from, to, live.Connection{Transport: liar{c.path, c.body, http.StatusOK}})
			switch {
			case c.want == "" && (err != nil || b == nil):
				t.Errorf("got %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")):
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
