package kube_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/integration"

	"github.com/app-sre/prcheck/natives/kube"
	"github.com/app-sre/prcheck/natives/kube/writer"
)

var podDeployment = integration.Kind{Resource: deployment.Resource, Name: "Deployment", Namespaced: true}

// tryKind asks for kinds that each server has.
func tryKind(t *testing.T, _ world, w *writer.Writer) {
	for _, c := range []struct {
		apiVersion, kind string
		want             integration.Kind
	}{
		{"v1", "Namespace", integration.Kind{Resource: namespaces, Name: "Namespace"}},
		{"", "Namespace", integration.Kind{Resource: namespaces, Name: "Namespace"}},
		{"apps/v1", "Deployment", podDeployment},
		{"apps/", "Deployment", podDeployment},
		{"", "Deployment", podDeployment},
		{"", "Job", integration.Kind{Resource: integration.Resource{Group: "batch", Version: "v1", Plural: "jobs"},
			Name: "Job", Namespaced: true}},
		{"apps/v9", "Deployment", integration.Kind{}},
		{"batch/v1", "Deployment", integration.Kind{}},
		{"v1", "Deployment", integration.Kind{}},
		{"nobody.example/v1", "Thing", integration.Kind{}},
		{"", "Thing", integration.Kind{}},
	} {
		got, err := w.Kind(t.Context(), c.apiVersion, c.kind)
		if got != c.want || errors.Is(err, integration.ErrNotThere) != (c.want == integration.Kind{}) {
			t.Errorf("%s %s: got %+v, %v, want %+v", c.apiVersion, c.kind, got, err, c.want)
		}
	}
}

// A server of before Kubernetes 1.27 gives the same answers, and is asked only for the versions
// that are looked at.
func TestKindOfOldServers(t *testing.T) {
	s := kubetest.New(t)
	s.Old = true
	w, err := writer.Open(kube.Access{Name: "west", Server: s.URL, Token: s.Token, Integration: "shelves"})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if got, err := w.Kind(t.Context(), "apps/v1", "Deployment"); got != podDeployment || err != nil {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	var asked []string
	for _, r := range s.Requests() {
		asked = append(asked, r.Path)
	}
	if want := []string{"/api", "/apis", "/apis/apps/v1"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	tryKind(t, world{}, w)
}

// Kinds that a server cannot tell are unknown, and not missing.
func TestUnknownKinds(t *testing.T) {
	const core = `{"kind": "APIGroupDiscoveryList", "items": []}`
	routes := func(freshness string) string {
		return fmt.Sprintf(`{"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": "route.openshift.io"}, "versions": [{"version": "v1", "freshness": %q}]}]}`, freshness)
	}
	for _, c := range []struct {
		name, core, groups string
		status             int
		want               string
	}{
		{name: "it is not there", core: core, groups: routes("Current"),
			want: `cluster "west": a kind "Route" of "route.openshift.io/v1": it is not there`},
		{name: "its server is away", core: core, groups: routes("Stale"),
			want: `cluster "west": nobody knows whether there is a kind "Route": what serves "route.openshift.io/v1" does not answer`},
		{name: "another answer", core: `{"kind": "Pod"}`,
			want: `cluster "west": get /api: the answer is no list of groups: it is "Pod"`},
		{name: "no JSON", core: core, groups: `<html>`,
			want: "get /apis: the answer is no list of groups: invalid character"},
		{name: "half an answer", core: core, groups: `{"kind": "APIGroupList"`,
			want: "get /apis: the answer is no list of groups: unexpected end"},
		{name: "the list of a version of another group", core: core,
			groups: `{"kind": "APIGroupList", "groups": [{"name": "route.openshift.io", "versions": [{"version": "v1"}], "preferredVersion": {"version": "v1"}}]}`,
			want:   `get /apis/route.openshift.io/v1: the answer is no list of kinds: it is "APIGroupList" of ""`},
		{name: "it refuses", core: core, status: http.StatusServiceUnavailable, want: "get /apis: the server answers 503"},
		{name: "a version that leads elsewhere", core: core,
			groups: `{"kind": "APIGroupList", "groups": [{"name": "route.openshift.io", "preferredVersion": {"version": "../v1"}}]}`, want: `a kind "Route"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := westWriter(t, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == "/api":
					_, _ = io.WriteString(w, c.core)
				case c.status != 0:
					w.WriteHeader(c.status)
				default:
					_, _ = io.WriteString(w, c.groups)
				}
			})
			got, err := w.Kind(t.Context(), "route.openshift.io/v1", "Route")
			isMissing := strings.Contains(c.want, "it is not there") || strings.HasPrefix(c.want, "a kind")
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, integration.ErrNotThere) != isMissing {
				t.Errorf("got %+v, %v, want %q", got, err, c.want)
			}
		})
	}
}

// A kind that is missing is looked for again when what is known is old: somebody may have
// installed it.
func TestKindIsInstalled(t *testing.T) {
	s := kubetest.New(t)
	w, err := writer.Open(kube.Access{Name: "west", Server: s.URL, Token: s.Token, Integration: "shelves"})
	if err != nil {
		t.Fatal(err)
	}
	look := func() error {
		_, err := w.Kind(t.Context(), "example.com/v1", "Widget")
		return err
	}
	if err := look(); !errors.Is(err, integration.ErrNotThere) {
		t.Errorf("got %v", err)
	}
	s.Kinds["widgets"], s.Versions["widgets"] = "Widget", "example.com/v1"
	if err := look(); !errors.Is(err, integration.ErrNotThere) || len(s.Requests()) != 2 {
		t.Errorf("at once: got %v after %q", err, s.Requests())
	}
	w.Connection().Forget()
	if err := look(); err != nil {
		t.Errorf("later: got %v", err)
	}
}
