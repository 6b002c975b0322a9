package systems

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
)

// A cluster is asked with the token that its secret has now, and connections are kept.
func TestClusters(t *testing.T) {
	var seen string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Method + " " + r.URL.Path + " " + r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w,
			`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"a","uid":"1","resourceVersion":"1"}}`)
	}))
	t.Cleanup(server.Close)
	token := "first-token-of-cluster"
	l := &learner{}
	s := New(Sources{Settings: readSettings(t, "{env: {prefix: APP}}"), Getenv: func(string) string { return token },
		Learn: l.learn}).For("namespaces")
	c := &clock{at: time.Now()}
	s.now = c.now
	ref := integration.ClusterRef{Name: "east", Server: server.URL, Token: integration.SecretRef{Path: "kube/east",
		Field: "token"}}
	object := integration.ObjectRef{Resource: integration.Resource{Version: "v1", Plural: "namespaces"}, Name: "a"}
	connect := func() integration.ClusterReader {
		t.Helper()
		r, err := s.Reader(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := connect()
	if _, err := first.Get(t.Context(), object); err != nil || seen != "GET /api/v1/namespaces/a Bearer "+token ||
		!l.knows(token) {
		t.Errorf("got %v, the server saw %q, learned are %v", err, seen, l.words)
	}
	if connect() != first {
		t.Error("the connection is not kept")
	}
	if other, err := s.For("other").Reader(t.Context(), ref); err != nil || other == first {
		t.Errorf("another integration gets the same connection, %v", err)
	}
	token = "second-token-of-cluster"
	c.move(keepSecret + time.Second)
	if _, err := connect().Get(t.Context(), object); err != nil || !strings.HasSuffix(seen, token) {
		t.Errorf("got %v, the server saw %q", err, seen)
	}
}

// What is wrong with a reference is told with the name of the cluster.
func TestWrongClusters(t *testing.T) {
	s := New(Sources{Settings: readSettings(t, "{env: {prefix: APP}}"), Getenv: func(name string) string {
		return map[string]string{"APP_KUBE_TOKEN": theValue, "APP_KUBE_LINES": theValue + "\nx"}[name]
	}})
	for name, c := range map[string]struct {
		server, field, want string
	}{
		"no secret":     {"https://c", "no", `the token of cluster "east": secret "kube", field "no"`},
		"plain http":    {"http://c.example", "token", `cluster "east"`},
		"several lines": {"https://c", "lines", `cluster "east"`},
	} {
		ref := integration.ClusterRef{Name: "east", Server: c.server,
			Token: integration.SecretRef{Path: "kube", Field: c.field}}
		_, err := s.Reader(t.Context(), ref)
		if err == nil || !strings.Contains(err.Error(), c.want) ||
			integration.ClassOfFailure(err) != integration.FailureOfConfig {
			t.Errorf("%s: got %v", name, err)
		}
		checkSilent(t, err)
	}
}
