package kube_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/outward"

	"github.com/app-sre/prcheck/natives/kube"
	"github.com/app-sre/prcheck/natives/kube/writer"
)

// A world is a cluster, and what others do in it.
type world struct {
	access   kube.Access
	label    func(manager, path, key, value string) // sets a label
	finalize func(name string)                      // ends the deletion of a namespace
}

// send sends a request of another program.
func (w world) send(t *testing.T, method, path, kind, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, w.access.Server+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.access.Token)
	req.Header.Set("Content-Type", kind)
	c, err := kube.Dial(w.access, outward.Anything)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }() // it was read
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(raw)
}

func inMemory(t *testing.T) world {
	s := kubetest.New(t)
	s.Finalizing = true
	return world{kube.Access{Name: "west", Server: s.URL, Token: s.Token, Integration: "shelves"},
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
	return world{kube.Access{Name: "west", Server: r.URL, Token: r.Token("admin"), Integration: "shelves", Insecure: true},
		func(manager, path, key, value string) {
			patch := fmt.Sprintf(`{"metadata": {"labels": {%q: %q}}}`, key, value)
			code, raw := r.Send(t, "admin", http.MethodPatch, path+"?fieldManager="+url.QueryEscape(manager),
				"application/merge-patch+json", patch)
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
			for name, test := range map[string]func(*testing.T, world, *writer.Writer){
				"create": tryCreate, "apply": tryApply, "conflict": tryConflict, "delete": tryDelete, "list": tryList,
				"missing": tryMissing,
				"merge":   tryMerge, "take": tryTake, "trial": tryTrial, "kind": tryKind,
			} {
				t.Run(name, func(t *testing.T) {
					k, err := writer.Open(w.access)
					if err != nil {
						t.Fatal(err)
					}
					k.Connection().Unlimit()
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
	return state{integration.Preconditions{UID: is.Metadata.UID, ResourceVersion: is.Metadata.ResourceVersion},
		fmt.Sprint(is.Metadata.Labels)}
}

// look reads an object.
func look(t *testing.T, w *writer.Writer, name string) state {
	t.Helper()
	raw, err := w.Get(t.Context(), namespace(name))
	return stateOf(t, raw, err)
}

var none integration.Preconditions

func tryCreate(t *testing.T, o world, w *writer.Writer) {
	raw, err := w.Create(t.Context(), namespace("made"), labeled("made", none, map[string]string{"a": "1"}))
	made := stateOf(t, raw, err)
	if is := look(t, w, "made"); made != is || is.labels != "map[a:1]" {
		t.Errorf("made %v, got %v", made, is)
	}
	for name, labels := range map[string]map[string]string{"same": {"a": "1"}, "another": {"a": "2"},
		"more": {"a": "1", "b": "1"}} {
		if _, err := w.Create(t.Context(), namespace("made"), labeled("made", none, labels)); !errors.Is(err,
			integration.ErrChanged) {
			t.Errorf("%s, made again: got %v", name, err)
		}
	}
	o.label("kubectl-edit", "/api/v1/namespaces/made", "team", "x")
	before := look(t, w, "made")
	if _, err := w.Create(t.Context(), namespace("made"),
		labeled("made", none, map[string]string{"team": "y"})); !errors.Is(err, integration.ErrChanged) {
		t.Errorf("with a field of others: got %v", err)
	}
	if after := look(t, w, "made"); after != before {
		t.Errorf("it was %v and is %v", before, after)
	}
}

func tryApply(t *testing.T, o world, w *writer.Writer) {
	ref := namespace("applied")
	raw, err := w.Create(t.Context(), ref, labeled("applied", none, map[string]string{"a": "1", "b": "1"}))
	first := stateOf(t, raw, err)
	o.label("kubectl-edit", "/api/v1/namespaces/applied", "team", "x")
	now := look(t, w, "applied")
	for name, was := range map[string]integration.Preconditions{
		"old version": first.Preconditions, "another object": {UID: "00000000-0000-0000-0000-000000000000",
			ResourceVersion: now.ResourceVersion},
	} {
		if _, err := w.Apply(t.Context(), ref, labeled("applied", was, map[string]string{"a": "2"})); !errors.Is(err,
			integration.ErrChanged) {
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
	if _, err := w.Apply(t.Context(), namespace("nobody"), labeled("nobody", next.Preconditions, nil)); !errors.Is(err,
		integration.ErrChanged) {
		t.Errorf("an object that is gone: got %v", err)
	}
}

func tryConflict(t *testing.T, o world, w *writer.Writer) {
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
	raw, err := w.Apply(t.Context(), ref,
		labeled("contested", now.Preconditions, map[string]string{"a": "5", "team": "x"}))
	if is := stateOf(t, raw, err); is.labels != "map[a:5 team:x]" {
		t.Errorf("the values that others gave: got %v", is)
	}
}

func tryDelete(t *testing.T, o world, w *writer.Writer) {
	ref := namespace("doomed")
	raw, err := w.Create(t.Context(), ref, labeled("doomed", none, nil))
	first := stateOf(t, raw, err)
	o.label("kubectl-edit", "/api/v1/namespaces/doomed", "team", "x")
	now := look(t, w, "doomed")
	for name, was := range map[string]integration.Preconditions{
		"old version": first.Preconditions, "another object": {UID: "00000000-0000-0000-0000-000000000000",
			ResourceVersion: now.ResourceVersion},
	} {
		if err := w.Delete(t.Context(), ref, was, integration.Background); !errors.Is(err, integration.ErrChanged) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if is := look(t, w, "doomed"); is != now {
		t.Errorf("it was %v and is %v", now, is)
	}
	if err := w.Delete(t.Context(), ref, now.Preconditions, integration.Background); err != nil {
		t.Fatal(err)
	}
	if raw, err := w.Get(t.Context(), ref); err != nil || !strings.Contains(string(raw), "deletionTimestamp") {
		t.Errorf("while it is being deleted: got %s, %v", raw, err)
	}
	o.finalize("doomed")
	if _, err := w.Get(t.Context(), ref); !errors.Is(err, integration.ErrNotThere) {
		t.Errorf("got %v", err)
	}
	if err := w.Delete(t.Context(), ref, now.Preconditions, integration.Background); !errors.Is(err,
		integration.ErrNotThere) {
		t.Errorf("deleted twice: got %v", err)
	}
}
