package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/server"
)

// Filters are answered as the real server does.
func TestGraphQLFilters(t *testing.T) { shared.Judge(t, "graphql-filters", newServed(t).same) }

// Documents are read and refused as the real server does.
func TestGraphQLDocuments(t *testing.T) { shared.Judge(t, "graphql-documents", newServed(t).same) }

// Served answers queries over the bundles of the lines.
type served struct {
	hub     *server.Hub
	address string
	paths   map[string]string // below the address, by bundle
}

func newServed(t *testing.T) *served {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &served{server.NewHub(server.HubOptions{}), "http://" + listener.Addr().String(), map[string]string{}}
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
	// The input is sent as it is: a server leaves out members that it does not know.
	at := s.address + s.path(t, input.Bundle)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, bytes.NewReader(l.Input))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode == l.Status && string(got) == want, fmt.Sprintf("%d %s", res.StatusCode, got)
}
