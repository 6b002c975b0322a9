package writers

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/systems"
	"github.com/app-sre/prcheck/settings"
)

var east = integration.ClusterRef{Name: "east", Token: integration.SecretRef{Path: "kube", Field: "token"}}

// of returns the writers of an integration whose secrets are variables.
func of(t *testing.T, variables map[string]string) *Writers {
	t.Helper()
	s, err := settings.Read("prcheck.yaml", []byte("version: 1\nsecrets: {env: {prefix: APP}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return Of(systems.New(systems.Sources{Settings: s, Getenv: func(name string) string {
		return variables[name]
	}}).For("shelves"))
}

// A connection is kept as long as its token is the same, and writes in the name of the integration.
func TestWriter(t *testing.T) {
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Method+" "+r.URL.Path+" "+r.URL.Query().Get("fieldManager")+" "+r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusTeapot)
	}))
	defer s.Close()
	ref := east
	ref.Server = s.URL
	w := of(t, map[string]string{"APP_KUBE_TOKEN": "first-token-of-cluster"})
	first, err := w.Writer(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := w.Writer(t.Context(), ref); err != nil || again != first {
		t.Errorf("the connection is not kept: %v", err)
	}
	object := integration.ObjectRef{Resource: integration.Resource{Version: "v1", Plural: "namespaces"}, Name: "a"}
	if _, err := first.Create(t.Context(), object,
		[]byte(`{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}`)); err == nil {
		t.Error("a teapot made it")
	}
	if want := "PATCH /api/v1/namespaces/a prcheck-shelves Bearer first-token-of-cluster"; len(seen) != 1 ||
		seen[0] != want {
		t.Errorf("the server saw %q, want %q", seen, want)
	}
}

// What is wrong with a reference is told with the name of the cluster.
func TestWrongClusters(t *testing.T) {
	w := of(t, map[string]string{"APP_KUBE_TOKEN": "token-of-the-cluster", "APP_KUBE_LINES": "token\nx",
		"APP_KUBE_SERVER": "https://west.example"})
	for name, c := range map[string]struct {
		server, field, stored, want string
	}{
		"no secret":      {"https://c", "no", "", `the token of cluster "east"`},
		"plain http":     {"http://c.example", "token", "", `cluster "east"`},
		"several lines":  {"https://c", "lines", "", `cluster "east"`},
		"another server": {"https://c", "token", "server", `cluster "east"`},
	} {
		ref := integration.ClusterRef{Name: "east", Server: c.server,
			Token: integration.SecretRef{Path: "kube", Field: c.field}, ServerField: c.stored}
		if got, err := w.Writer(t.Context(), ref); err == nil || !strings.Contains(err.Error(), c.want) ||
			integration.ClassOfFailure(err) != integration.FailureOfConfig {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}
