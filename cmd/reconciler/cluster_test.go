//go:build !race

package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/internal/script"
)

// inMemory returns a cluster in memory that the instance blue keeps.
func inMemory(t *testing.T) (*fleet, *kubetest.Server) {
	t.Helper()
	s := kubetest.New(t)
	f := &fleet{url: s.URL, dir: t.TempDir()}
	f.writeToken(t, "blue", s.Token)
	f.writeToken(t, "read", s.Token)
	f.writeSettings(t)
	f.setData(t, "blue", 0)
	return f, s
}

// A cluster that gives no answer, or a wrong one, gets no write, and the token is not told.
func TestReconcileBrokenCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for a server to come back")
	}
	for name, c := range map[string]struct {
		fault kubetest.Fault
		says  string
	}{
		"away":          {kubetest.Fault{Status: 503, Body: "<html>away</html>"}, "503"},
		"not logged in": {kubetest.Fault{Status: 401, Body: `{"message": "no"}`}, "the token is not valid"},
		"denied": {kubetest.Fault{Status: 403, Body: `{"kind": "Status", "reason": "Forbidden", "message": "no"}`},
			"the role of the account must allow list of namespaces"},
		"a proxy": {kubetest.Fault{Status: 403, Body: "no"}, "something in front of the API server refuses"},
		"page":    {kubetest.Fault{Status: 200, Body: "<html>welcome</html>"}, "the list is not whole"},
		"empty":   {kubetest.Fault{Status: 200, Body: "{}"}, "the list is not whole"},
		"nothing": {kubetest.Fault{Status: 200}, "the list is not whole"},
		"no items": {kubetest.Fault{Status: 200, Body: `{"kind": "NamespaceList", "apiVersion": "v1", "metadata": {}}`},
			"it has no items"},
		"half an answer": {kubetest.Fault{Cut: true}, "the answer ended early"},
		"no answer":      {kubetest.Fault{Lost: true}, "cannot be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, s := inMemory(t)
			s.Fail(func(*http.Request) *kubetest.Fault { return &c.fault })
			for _, flag := range []string{"--dry-run", "--no-dry-run"} {
				code, text := script.Output(t, f.command(t, "blue", "blue", flag))
				if code != 3 || !strings.Contains(text, c.says) || strings.Contains(text, s.Token) {
					t.Errorf("%s: got exit code %d and\n%s", flag, code, text)
				}
			}
			if w := s.Writes(); len(w) > 0 {
				t.Errorf("got %v", w)
			}
		})
	}
}

// Writes whose answers get lost are done once. The next runs find what is left.
func TestReconcileLostAnswers(t *testing.T) {
	f, s := inMemory(t)
	var n atomic.Int32
	s.Fail(func(r *http.Request) *kubetest.Fault {
		if r.Method == http.MethodPatch && n.Add(1)%3 == 0 {
			return &kubetest.Fault{Lost: true}
		}
		return nil
	})
	if code, text := script.Output(t, f.command(t, "blue", "blue", "--no-dry-run")); code != 1 ||
		!strings.Contains(text, "cannot be reached") {
		t.Fatalf("got exit code %d and\n%s", code, text)
	}
	s.Fail(nil)
	r := f.run(t, "blue", "blue", "--no-dry-run")
	for _, step := range r.Steps {
		if step.Status != "done" {
			t.Errorf("got %v", step)
		}
	}
	if again := f.run(t, "blue", "blue", "--no-dry-run"); len(again.Steps) > 0 {
		t.Errorf("the third run did %v", again.Steps)
	}
	made := map[string]int{}
	for _, q := range s.Writes() {
		if q.Code == http.StatusCreated {
			made[q.Path]++
		}
		if q.Verb != "patch" {
			t.Errorf("got %s", q)
		}
	}
	for i := range size {
		if path := fmt.Sprintf("/api/v1/namespaces/blue-%03d", i); made[path] != 1 || s.Object(path) == nil {
			t.Errorf("%s was made %d times", path, made[path])
		}
	}
}
