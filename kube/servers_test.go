package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/util/flowcontrol"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/kubetest"
)

// A world is a cluster, and what others do in it.
type world struct {
	access   Access
	label    func(manager, path, key, value string) // sets a label
	finalize func(name string)                      // ends the deletion of a namespace
}

func inMemory(t *testing.T) world {
	s := kubetest.New(t)
	s.Finalizing = true
	return world{Access{Name: "west", Server: s.URL, Token: s.Token, Integration: "shelves"},
		func(manager, path, key, value string) {
			s.Edit(t, manager, path, func(o map[string]any) { setLabel(o, key, value) })
		}, func(string) { s.Finalize() }}
}

func setLabel(o map[string]any, key, value string) {
	labels, _ := o["metadata"].(map[string]any)["labels"].(map[string]any)
	if labels == nil {
		labels = map[string]any{}
	}
	labels[key] = value
	o["metadata"].(map[string]any)["labels"] = labels
}

func realServer(t *testing.T) world {
	r := kubetest.Start(t)
	return world{Access{Name: "west", Server: r.URL, Token: r.Token("admin"), Integration: "shelves", Insecure: true},
		func(manager, path, key, value string) {
			patch := fmt.Sprintf(`{"metadata": {"labels": {%q: %q}}}`, key, value)
			code, raw := r.Send(t, "admin", http.MethodPatch, path+"?fieldManager="+url.QueryEscape(manager), "application/merge-patch+json", patch)
			if code != http.StatusOK {
				t.Fatalf("%d %s", code, raw)
			}
		}, func(name string) { r.Finalize(t, name) }}
}

// The server in memory and a real one give the same answers.
func TestServers(t *testing.T) {
	for name, start := range map[string]func(*testing.T) world{"in memory": inMemory, "real": realServer} {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			for name, test := range map[string]func(*testing.T, world, *Writer){
				"create": tryCreate, "apply": tryApply, "conflict": tryConflict, "delete": tryDelete, "list": tryList, "missing": tryMissing,
			} {
				t.Run(name, func(t *testing.T) {
					k, err := OpenWriter(w.access)
					if err != nil {
						t.Fatal(err)
					}
					k.c.limit = flowcontrol.NewFakeAlwaysRateLimiter()
					test(t, w, k)
				})
			}
		})
	}
}

// labeled returns a namespace with labels, and with preconditions if there are any.
func labeled(name string, was integration.Preconditions, labels map[string]string) json.RawMessage {
	metadata := map[string]any{"name": name, "labels": labels}
	if was.UID != "" {
		metadata["uid"], metadata["resourceVersion"] = was.UID, was.ResourceVersion
	}
	raw, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
	if err != nil {
		panic(err) // it is text
	}
	return raw
}

// A state is what the tests look at in an object.
type state struct {
	integration.Preconditions
	labels string
}

func stateOf(t *testing.T, raw json.RawMessage, err error) state {
	t.Helper()
	var is struct {
		Metadata struct {
			UID, ResourceVersion string
			Labels               map[string]string
		}
	}
	if err == nil {
		err = json.Unmarshal(raw, &is)
	}
	if err != nil {
		t.Fatal(err)
	}
	delete(is.Metadata.Labels, "kubernetes.io/metadata.name")
	return state{integration.Preconditions{UID: is.Metadata.UID, ResourceVersion: is.Metadata.ResourceVersion}, fmt.Sprint(is.Metadata.Labels)}
}

// look reads an object.
func look(t *testing.T, w *Writer, name string) state {
	t.Helper()
	raw, err := w.Get(t.Context(), namespace(name))
	return stateOf(t, raw, err)
}

var none integration.Preconditions

func tryCreate(t *testing.T, o world, w *Writer) {
	raw, err := w.Create(t.Context(), namespace("made"), labeled("made", none, map[string]string{"a": "1"}))
	made := stateOf(t, raw, err)
	if is := look(t, w, "made"); made != is || is.labels != "map[a:1]" {
		t.Errorf("made %v, got %v", made, is)
	}
	for name, labels := range map[string]map[string]string{"same": {"a": "1"}, "another": {"a": "2"}, "more": {"a": "1", "b": "1"}} {
		if _, err := w.Create(t.Context(), namespace("made"), labeled("made", none, labels)); !errors.Is(err, integration.ErrChanged) {
			t.Errorf("%s, made again: got %v", name, err)
		}
	}
	o.label("kubectl-edit", "/api/v1/namespaces/made", "team", "x")
	before := look(t, w, "made")
	if _, err := w.Create(t.Context(), namespace("made"), labeled("made", none, map[string]string{"team": "y"})); !errors.Is(err, integration.ErrChanged) {
		t.Errorf("with a field of others: got %v", err)
	}
	if after := look(t, w, "made"); after != before {
		t.Errorf("it was %v and is %v", before, after)
	}
}

func tryApply(t *testing.T, o world, w *Writer) {
	ref := namespace("applied")
	raw, err := w.Create(t.Context(), ref, labeled("applied", none, map[string]string{"a": "1", "b": "1"}))
	first := stateOf(t, raw, err)
	o.label("kubectl-edit", "/api/v1/namespaces/applied", "team", "x")
	now := look(t, w, "applied")
	for name, was := range map[string]integration.Preconditions{
		"old version": first.Preconditions, "another object": {UID: "00000000-0000-0000-0000-000000000000", ResourceVersion: now.ResourceVersion},
	} {
		if _, err := w.Apply(t.Context(), ref, labeled("applied", was, map[string]string{"a": "2"})); !errors.Is(err, integration.ErrChanged) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	raw, err = w.Apply(t.Context(), ref, labeled("applied", now.Preconditions, map[string]string{"a": "2", "c": "1"}))
	next := stateOf(t, raw, err)
	if next.labels != "map[a:2 c:1 team:x]" || next != look(t, w, "applied") {
		t.Errorf("got %v; what is no longer applied goes, and what others set stays", next)
	}
	raw, err = w.Apply(t.Context(), ref, labeled("applied", next.Preconditions, map[string]string{"a": "2", "c": "1"}))
	if again := stateOf(t, raw, err); again != next {
		t.Errorf("applied twice: got %v, want %v", again, next)
	}
	if _, err := w.Apply(t.Context(), namespace("nobody"), labeled("nobody", next.Preconditions, nil)); !errors.Is(err, integration.ErrChanged) {
		t.Errorf("an object that is gone: got %v", err)
	}
}

func tryConflict(t *testing.T, o world, w *Writer) {
	ref := namespace("contested")
	if _, err := w.Create(t.Context(), ref, labeled("contested", none, map[string]string{"a": "1"})); err != nil {
		t.Fatal(err)
	}
	o.label("kubectl-edit", "/api/v1/namespaces/contested", "team", "x")
	o.label("other tool", "/api/v1/namespaces/contested", "a", "5")
	now := look(t, w, "contested")
	_, err := w.Apply(t.Context(), ref, labeled("contested", now.Preconditions, map[string]string{"a": "1", "team": "y"}))
	conflict := &integration.FieldConflict{}
	if !errors.As(err, &conflict) {
		t.Fatalf("got %v", err)
	}
	var got []string
	for i := range conflict.Fields {
		got = append(got, conflict.Managers[i]+" "+conflict.Fields[i])
	}
	slices.Sort(got)
	if want := []string{"kubectl-edit .metadata.labels.team", "other tool .metadata.labels.a"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	raw, err := w.Apply(t.Context(), ref, labeled("contested", now.Preconditions, map[string]string{"a": "5", "team": "x"}))
	if is := stateOf(t, raw, err); is.labels != "map[a:5 team:x]" {
		t.Errorf("the values that others gave: got %v", is)
	}
}

func tryDelete(t *testing.T, o world, w *Writer) {
	ref := namespace("doomed")
	raw, err := w.Create(t.Context(), ref, labeled("doomed", none, nil))
	first := stateOf(t, raw, err)
	o.label("kubectl-edit", "/api/v1/namespaces/doomed", "team", "x")
	now := look(t, w, "doomed")
	for name, was := range map[string]integration.Preconditions{
		"old version": first.Preconditions, "another object": {UID: "00000000-0000-0000-0000-000000000000", ResourceVersion: now.ResourceVersion},
	} {
		if err := w.Delete(t.Context(), ref, was); !errors.Is(err, integration.ErrChanged) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if is := look(t, w, "doomed"); is != now {
		t.Errorf("it was %v and is %v", now, is)
	}
	if err := w.Delete(t.Context(), ref, now.Preconditions); err != nil {
		t.Fatal(err)
	}
	if raw, err := w.Get(t.Context(), ref); err != nil || !strings.Contains(string(raw), "deletionTimestamp") {
		t.Errorf("while it is being deleted: got %s, %v", raw, err)
	}
	o.finalize("doomed")
	if _, err := w.Get(t.Context(), ref); !errors.Is(err, integration.ErrNotThere) {
		t.Errorf("got %v", err)
	}
	if err := w.Delete(t.Context(), ref, now.Preconditions); !errors.Is(err, integration.ErrNotThere) {
		t.Errorf("deleted twice: got %v", err)
	}
}

// configMap names an object in a namespace.
func configMap(namespace, name string) (integration.ObjectRef, json.RawMessage) {
	ref := integration.ObjectRef{Resource: integration.Resource{Version: "v1", Plural: "configmaps"}, Namespace: namespace, Name: name}
	odd := map[bool]string{true: "odd", false: "even"}[strings.ContainsAny(name[len(name)-1:], "13579")]
	return ref, json.RawMessage(fmt.Sprintf(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": %q, "name": %q, "labels": {"is": %q}}, "data": {"a": "1"}}`, namespace, name, odd))
}

func tryList(t *testing.T, _ world, w *Writer) {
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
		"one namespace": {"many", "", 600}, "the other": {"few", "", 1}, "all": {"", "is", 601}, "none there": {"nobody", "", 0},
		"by label": {"many", "is=odd", 300}, "by two labels": {"", "is!=odd,is", 300}, "label that nobody has": {"many", "is=x", 0},
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

func tryMissing(t *testing.T, o world, w *Writer) {
	ctx := t.Context()
	ref, object := configMap("nowhere", "c-1")
	if _, err := w.Get(ctx, ref); !errors.Is(err, integration.ErrNotThere) {
		t.Errorf("object in no namespace: got %v", err)
	}
	if _, err := w.Create(ctx, ref, object); err == nil || errors.Is(err, integration.ErrNotThere) || !strings.Contains(err.Error(), `namespaces "nowhere" not found`) {
		t.Errorf("made in no namespace: got %v", err)
	}
	unknown := integration.Resource{Group: "example.com", Version: "v1", Plural: "shelves"}
	if _, err := w.Get(ctx, integration.ObjectRef{Resource: unknown, Name: "x"}); err == nil || errors.Is(err, integration.ErrNotThere) {
		t.Errorf("unknown resource: got %v", err)
	}
	if _, err := w.List(ctx, unknown, "", ""); err == nil {
		t.Error("an unknown resource has a list")
	}
	if _, err := w.Create(ctx, namespace("Upper"), labeled("Upper", none, nil)); integration.ClassOfFailure(err) != integration.FailureOfConfig {
		t.Errorf("a name that cannot be: got %v", err)
	}
	access := o.access
	access.Token = "wrong"
	r, err := Open(access)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Get(ctx, ref); integration.ClassOfFailure(err) != integration.FailureOfConfig || !strings.Contains(err.Error(), "the token is not valid") {
		t.Errorf("wrong token: got %v", err)
	}
}
