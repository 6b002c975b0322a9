package kube_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/app-sre/prcheck/integration"

	"github.com/app-sre/prcheck/natives/kube"
	"github.com/app-sre/prcheck/natives/kube/writer"
)

// configMap names an object in a namespace.
func configMap(namespace, name string) (integration.ObjectRef, json.RawMessage) {
	ref := integration.ObjectRef{Resource: integration.Resource{Version: "v1", Plural: "configmaps"}, Namespace: namespace,
		Name: name}
	odd := map[bool]string{true: "odd", false: "even"}[strings.ContainsAny(name[len(name)-1:], "13579")]
	return ref,
		json.RawMessage(fmt.Sprintf(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": %q, "name": %q, "labels": {"is": %q}}, "data": {"a": "1"}}`, namespace, name, odd))
}

func tryList(t *testing.T, _ world, w *writer.Writer) {
	for _, name := range []string{"many", "few"} {
		if _, err := w.Create(t.Context(), namespace(name), labeled(name, none, nil)); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	for part := range 6 {
		all.Go(func() {
			for i := range 100 {
				ref, object := configMap("many", fmt.Sprintf("c-%03d", part*100+i))
				if _, err := w.Create(t.Context(), ref, object); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	ref, object := configMap("few", "c-1")
	if _, err := w.Create(t.Context(), ref, object); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		namespace, labels string
		want              int
	}{
		"one namespace": {"many", "", 600}, "the other": {"few", "", 1}, "all": {"", "is", 601},
		"none there": {"nobody", "", 0},
		"by label":   {"many", "is=odd", 300}, "by two labels": {"", "is!=odd,is", 300},
		"label that nobody has": {"many", "is=x", 0},
	} {
		got, err := w.List(t.Context(), ref.Resource, c.namespace, c.labels)
		names := map[string]bool{}
		for _, raw := range got {
			names[string(raw)] = true
		}
		if err != nil || len(got) != c.want || len(names) != c.want {
			t.Errorf("%s: got %d objects, %d of them different, and %v, want %d", name, len(got), len(names), err, c.want)
		}
	}
}

func tryMissing(t *testing.T, o world, w *writer.Writer) {
	ctx := t.Context()
	ref, object := configMap("nowhere", "c-1")
	if _, err := w.Get(ctx, ref); !errors.Is(err, integration.ErrNotThere) {
		t.Errorf("object in no namespace: got %v", err)
	}
	if _, err := w.Create(ctx, ref, object); err == nil || errors.Is(err, integration.ErrNotThere) ||
		!strings.Contains(err.Error(), `namespaces "nowhere" not found`) {
		t.Errorf("made in no namespace: got %v", err)
	}
	unknown := integration.Resource{Group: "example.com", Version: "v1", Plural: "shelves"}
	if _, err := w.Get(ctx, integration.ObjectRef{Resource: unknown, Name: "x"}); err == nil ||
		errors.Is(err, integration.ErrNotThere) {
		t.Errorf("unknown resource: got %v", err)
	}
	if _, err := w.List(ctx, unknown, "", ""); err == nil {
		t.Error("an unknown resource has a list")
	}
	if _, err := w.Create(ctx, namespace("Upper"),
		labeled("Upper", none, nil)); integration.ClassOfFailure(err) != integration.FailureOfConfig {
		t.Errorf("a name that cannot be: got %v", err)
	}
	access := o.access
	access.Token = "wrong"
	r, err := kube.Open(access)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Get(ctx, ref); integration.ClassOfFailure(err) != integration.FailureOfConfig ||
		!strings.Contains(err.Error(), "the token is not valid") {
		t.Errorf("wrong token: got %v", err)
	}
}
