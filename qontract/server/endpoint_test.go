package server_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/server"
)

const forbidden = `{"errors":[{"message":"one reads %[1]s, which its definition does not allow; add it to its schemas",` +
	`"extensions":{"code":"FORBIDDEN_SCHEMA"}}],"data":null,"extensions":{"schemas":[%[2]s]}}` + "\n"

// A task that may read users gets errors for queries that touch other schemas.
func TestForbidden(t *testing.T) {
	const definitions bundle.SchemaPath = "/app-sre/integration-1.yml"
	tests := []struct {
		name, query string
		read        string              // the schemas of the answer
		want        []bundle.SchemaPath // those that are not allowed
	}{
		{"allowed", "{ users { name } }", "", nil},
		{"not allowed", "{ roles { name } }", `"/role-1.yml"`, []bundle.SchemaPath{"/role-1.yml"}},
		{"by reference", "{ users { name roles { name } } }", `"/user-1.yml","/role-1.yml"`,
			[]bundle.SchemaPath{"/role-1.yml"}},
		{"several", "{ integrations { managed } roles { name } }", `"/app-sre/integration-1.yml","/role-1.yml"`,
			[]bundle.SchemaPath{definitions, "/role-1.yml"}},
		{"nothing read", "{ roles { __typename } }", "", nil},
		{"introspection", "{ __schema { queryType { name } } }", "", nil},
		{"resource", `{ resources(path: "/r.yml") { content } }`, "", nil},
		{"definitions", "{ integrations { name description schemas } }", "", nil},
		{"definitions by other words",
			"{ all: integrations { n: name ...more } } fragment more on Integration_v1 { schemas }", "", nil},
		{"more of the definitions", "{ integrations { name managed } }", `"/app-sre/integration-1.yml"`,
			[]bundle.SchemaPath{definitions}},
		{"objects of the definitions", "{ integrations { extra { name } } }", `"/app-sre/integration-1.yml"`,
			[]bundle.SchemaPath{definitions}},
		{"JSON of the definitions", "{ integrations { name blob } }", `"/app-sre/integration-1.yml"`,
			[]bundle.SchemaPath{definitions}},
		{"definitions and more", "{ users { name } integrations { name } }", `"/user-1.yml","/app-sre/integration-1.yml"`,
			[]bundle.SchemaPath{definitions}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := open(t, nil)
			got := ask(t, e.URL(), tt.query)
			if got.status != 200 || got.kind != inJSON || got.cache != "no-store" {
				t.Errorf("got %v", got)
			}
			if tt.want == nil {
				if err := e.Close(); err != nil || strings.Contains(got.body, "errors") {
					t.Errorf("got %s, and at the end %v", got.body, err)
				}
				return
			}
			if body := fmt.Sprintf(forbidden, joined(tt.want), tt.read); got.body != body {
				t.Errorf("got  %s\nwant %s", got.body, body)
			}
			var err *server.ForbiddenError
			if !errors.As(e.Close(), &err) || err.Integration != "one" || !slices.Equal(err.Schemas, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func joined(schemas []bundle.SchemaPath) string {
	var out []string
	for _, s := range schemas {
		out = append(out, string(s))
	}
	return strings.Join(out, ", ")
}

// Each bundle has its own list of allowed schemas.
func TestAllowedBySide(t *testing.T) {
	const roles = "{ roles { name } }"
	const answered = `{"data":{"roles":[{"name":"dev"}]},"extensions":{"schemas":["/role-1.yml"]}}` + "\n"
	onHead := func(o *server.Options) { o.HeadAllowed = append(o.HeadAllowed, "/role-1.yml") }
	e := open(t, onHead)
	_, head := snapshots(t)
	refused := fmt.Sprintf(forbidden, "/role-1.yml", `"/role-1.yml"`)
	for url, want := range map[string]string{
		e.URL():     answered,
		e.BaseURL(): refused,
		at(e, "/graphqlsha/"+head.Bundle.SHA256()): answered,
	} {
		if got := ask(t, url, roles); got.body != want {
			t.Errorf("%s: got %s, want %s", url, got.body, want)
		}
	}
	var err *server.ForbiddenError
	if !errors.As(e.Close(), &err) {
		t.Errorf("got %v, want a forbidden schema", err)
	}
}

func TestUnenforced(t *testing.T) {
	e := open(t, func(o *server.Options) { o.Unenforced = true })
	got := ask(t, e.URL(), "{ roles { name } }")
	if want := `{"data":{"roles":[{"name":"dev"}]},"extensions":{"schemas":["/role-1.yml"]}}` + "\n"; got.body != want {
		t.Errorf("got %s, want %s", got.body, want)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestConcurrentRequests(t *testing.T) {
	e := open(t, nil)
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			switch i % 4 {
			case 0:
				if got := ask(t, e.URL(), "{ users { name } }"); got.body != users("bob") {
					t.Errorf("head: got %s", got.body)
				}
			case 1:
				if got := ask(t, e.BaseURL(), "{ users { name } }"); got.body != users("ana") {
					t.Errorf("base: got %s", got.body)
				}
			case 2:
				if got := ask(t, e.URL(), "{ roles { name } }"); !strings.Contains(got.body, "FORBIDDEN_SCHEMA") {
					t.Errorf("forbidden: got %s", got.body)
				}
			default:
				do(t, http.MethodGet, at(e, "/sha256"), "", "")
			}
		})
	}
	all.Wait()
	var err *server.ForbiddenError
	if !errors.As(e.Close(), &err) || !slices.Equal(err.Schemas, []bundle.SchemaPath{"/role-1.yml"}) {
		t.Errorf("got %v, want one schema", err)
	}
}

// Close ends a connection in the middle of a request, and the endpoint answers nothing
// afterwards.
func TestClose(t *testing.T) {
	e := open(t, nil)
	body, feed := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.URL(), body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	ended := make(chan error, 1)
	go func() {
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			res.Body.Close()
		}
		ended <- err
	}()
	if _, err := io.WriteString(feed, `{"query":`); err != nil { // returns when the server reads the request
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	feed.Close()
	if err := <-ended; err == nil {
		t.Error("the open request got an answer")
	}
	late, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at(e, "/sha256"), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := http.DefaultClient.Do(late); err == nil {
		res.Body.Close()
		t.Error("a request after the end got an answer")
	}
	if err := e.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

// Close waits for running requests and reports what they read.
func TestCloseWaits(t *testing.T) {
	e := open(t, nil)
	w := &stuck{ResponseRecorder: httptest.NewRecorder(), started: make(chan bool), release: make(chan bool)}
	r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(`{"query":"{ users { name } }"}`))
	r.Header.Set("Content-Type", "application/json")
	go e.ServeHTTP(w, r)
	<-w.started
	go func() {
		for { // until the endpoint takes no more connections
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(at(e, ""), "http://"))
			if err != nil {
				break
			}
			conn.Close()
		}
		close(w.release)
	}()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if !w.ended.Load() {
		t.Error("closed while a request was being answered")
	}
	late := httptest.NewRecorder()
	e.ServeHTTP(late, httptest.NewRequest(http.MethodGet, "/sha256", http.NoBody))
	if late.Body.Len() > 0 {
		t.Errorf("answered %q after the end", late.Body)
	}
}

// A stuck ResponseWriter blocks until it is released.
type stuck struct {
	*httptest.ResponseRecorder
	started, release chan bool
	ended            atomic.Bool
}

func (s *stuck) Write(p []byte) (int, error) {
	close(s.started)
	<-s.release
	s.ended.Store(true)
	return s.ResponseRecorder.Write(p)
}

func TestEndpointsAreIndependent(t *testing.T) {
	a, b := open(t, nil), open(t, nil)
	if a.URL() == b.URL() {
		t.Errorf("two endpoints at %s", a.URL())
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, b.URL(), "{ users { name } }"); got.body != users("bob") {
		t.Errorf("the second endpoint answers %v", got)
	}
}

// The error for a bundle with unusable GraphQL types names its side.
func TestSnapshotsBroken(t *testing.T) {
	good, err := bundle.Parse(snapshot("ana", nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	bad, err := bundle.Parse(snapshot("ana", object{"graphql": object{"confs": []any{
		object{"name": "Query", "fields": []any{field("x", "Nowhere", nil)}}}}}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := server.NewSnapshots(bad, good); err == nil || !strings.HasPrefix(err.Error(), "base: ") {
		t.Errorf("base: got %v", err)
	}
	if _, _, err := server.NewSnapshots(good, bad); err == nil || !strings.HasPrefix(err.Error(), "head: ") {
		t.Errorf("head: got %v", err)
	}
}
