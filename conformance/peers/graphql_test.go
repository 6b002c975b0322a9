package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/live"
	"github.com/app-sre/prcheck/qontract/server"
)

var address = flag.String("server", "",
	"http://HOST:PORT of a running qontract-server that has loaded the bundles of the lines: it is asked as well, and must give the recorded answers")

// Filters are answered as the real server does.
func TestGraphQLFilters(t *testing.T) { shared.Judge(t, "graphql-filters", newServed(t).same) }

// Documents are read and refused as the real server does.
func TestGraphQLDocuments(t *testing.T) { shared.Judge(t, "graphql-documents", newServed(t).same) }

// Served answers queries over the bundles of the lines.
type served struct {
	hub     *server.Hub
	address string
	running string            // address of a server that is asked as well; "" for none
	paths   map[string]string // below the addresses, by bundle
}

func newServed(t *testing.T) *served {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &served{server.NewHub(server.HubOptions{}), "http://" + listener.Addr().String(), "", map[string]string{}}
	if *address != "" {
		at, err := live.ParseHost(*address, live.Connection{})
		if err != nil {
			t.Fatalf("-server: %v", err)
		}
		s.running = at.String()
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	go func() { done <- s.hub.Serve(ctx, listener) }()
	return s
}

// path returns where a bundle is asked.
func (s *served) path(t *testing.T, name string) string {
	t.Helper()
	if s.paths[name] == "" {
		raw, err := os.ReadFile(shared.Path(t, "data", name))
		if err != nil {
			t.Fatal(err)
		}
		b, err := bundle.Parse(raw, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.hub.Add(b); err != nil {
			t.Fatal(err)
		}
		s.paths[name] = "/graphqlsha/" + b.SHA256()
	}
	return s.paths[name]
}

// same asks the input of a line, here and at a running server, and compares both answers with the recorded one.
func (s *served) same(t *testing.T, l shared.Answer) (bool, string) {
	t.Helper()
	var input struct{ Bundle string }
	var want string
	if err := json.Unmarshal(l.Input, &input); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(l.Answer, &want); err != nil {
		t.Fatal(err)
	}
	path := s.path(t, input.Bundle)
	status, got := post(t, s.address+path, l.Input)
	if status != l.Status || got != want || s.running == "" {
		return status == l.Status && got == want, fmt.Sprintf("%d %s", status, got)
	}
	status, got = post(t, s.running+path, l.Input)
	if status == http.StatusNotFound {
		t.Fatalf("%s does not have the bundle %s: let it load this file (%.200s)", s.running, input.Bundle, got)
	}
	return status == l.Status && got == want, fmt.Sprintf("the same, and %s says %d %s", s.running, status, got)
}

// client waits a bounded time, and follows no redirect.
var client = http.Client{Timeout: 2 * time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error {
	return http.ErrUseLastResponse
}}

// post sends an input as it is, since a server leaves out members that it does not know.
func post(t *testing.T, at string, input []byte) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, bytes.NewReader(input))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(live.WithoutStacks(raw))
}

// A running server that gives another answer than the recorded one fails the line, by status or by body. Stack traces
// do not count.
func TestRunningServer(t *testing.T) {
	b, err := bundle.Parse(
		[]byte(`{"data":{},"resources":{},"graphql":[{"name":"Query","fields":[{"name":"a","type":"string"}]}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := newServed(t)
	if err := s.hub.Add(b); err != nil {
		t.Fatal(err)
	}
	s.paths["b"] = "/graphqlsha/" + b.SHA256()
	const answer = `{"errors":[{"message":"Cannot query field \"b\" on type \"Query\". Did you mean \"a\"?","locations":[{"line":1,"column":2}],"extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}],"extensions":{"schemas":[]}}` + "\n"
	recorded, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	line := shared.Answer{Input: []byte(`{"bundle":"b","query":"{b}"}`), Status: http.StatusBadRequest, Answer: recorded}
	for _, c := range []struct {
		name   string
		status int
		body   string
		same   bool
	}{
		{"the same", 400, answer, true},
		{"a stack trace", 400, strings.Replace(answer, `FAILED"`, `FAILED","stacktrace":["x"]`, 1), true},
		{"another message", 400, strings.Replace(answer, "mean", "want", 1), false},
		{"another status", 200, answer, false},
		{"a redirect", 307, answer, false},
	} {
		peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != s.paths["b"] {
				t.Errorf("%s: asked at %s", c.name, r.URL.Path)
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		s.running = peer.URL
		if got, says := s.same(t, line); got != c.same {
			t.Errorf("%s: got %v: %s", c.name, got, says)
		}
		peer.Close()
	}
	line.Status = http.StatusOK
	if got, _ := s.same(t, line); got {
		t.Error("our own answer does not count")
	}
}
