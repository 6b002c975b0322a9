package kube_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/integration"

	"github.com/app-sre/prcheck/natives/kube"
	"github.com/app-sre/prcheck/natives/kube/writer"
)

// account applies one of the example files on a server, and returns a connection of its account.
func account(t *testing.T, r *kubetest.Real, file string) (w *writer.Writer, user string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "examples", "rbac", file+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r.Apply(t, "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: prcheck\n\n---\n"+string(raw))
	token, user := r.AccountToken(t, "prcheck", "prcheck-"+file)
	w, err = writer.Open(kube.Access{Name: "west", Server: r.URL, Token: token, Integration: "namespaces", Insecure: true})
	if err != nil {
		t.Fatal(err)
	}
	return w, user
}

// The account of examples/rbac/read.yaml can read namespaces, and nothing else.
func TestReaderRole(t *testing.T) {
	r := kubetest.Start(t)
	w, user := account(t, r, "read")
	ctx := t.Context()
	raw, err := w.Get(ctx, namespace("prcheck"))
	now := stateOf(t, raw, err)
	if list, err := w.List(ctx, namespaces, "", ""); err != nil || len(list) == 0 {
		t.Errorf("got %d namespaces, %v", len(list), err)
	}
	_, create := w.Create(ctx, namespace("new"), labeled("new", none, nil))
	_, apply := w.Apply(ctx, namespace("prcheck"), labeled("prcheck", now.Preconditions, map[string]string{"a": "1"}))
	ref, object := configMap("prcheck", "c-1")
	_, other := w.Get(ctx, ref)
	_, list := w.List(ctx, integration.Resource{Version: "v1", Plural: "secrets"}, "", "")
	_, made := w.Create(ctx, ref, object)
	for want, err := range map[string]error{
		"must allow create and patch of namespaces": create, "must allow patch of namespaces": apply,
		"must allow delete of namespaces": w.Delete(ctx, namespace("prcheck"), now.Preconditions, integration.Background),
		"must allow get of configmaps":    other, "must allow list of secrets": list,
		"must allow create and patch of configmaps": made,
	} {
		if err == nil || !strings.Contains(err.Error(), want) ||
			integration.ClassOfFailure(err) != integration.FailureOfConfig ||
			strings.Contains(err.Error(), w.Connection().Token()) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	if is := stateOf(t, mustGet(t, w, "prcheck"), nil); is != now {
		t.Errorf("it was %v and is %v", now, is)
	}
	for _, q := range r.Audit(t, user) {
		if (q.Verb != "get" && q.Verb != "list" || !strings.HasPrefix(q.Path, "/api/v1/namespaces")) &&
			q.Code != http.StatusForbidden {
			t.Errorf("the server allowed %s", q)
		}
	}
}

func mustGet(t *testing.T, w *writer.Writer, name string) json.RawMessage {
	t.Helper()
	raw, err := w.Get(t.Context(), namespace(name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// The account of examples/rbac/write.yaml can keep namespaces, and do nothing else. The audit
// log of the server has its requests.
func TestWriterRole(t *testing.T) {
	r := kubetest.Start(t)
	w, user := account(t, r, "write")
	ctx := t.Context()
	raw, err := w.Create(ctx, namespace("new"), labeled("new", none, map[string]string{"a": "1"}))
	made := stateOf(t, raw, err)
	raw, err = w.Apply(ctx, namespace("new"), labeled("new", made.Preconditions, map[string]string{"a": "2"}))
	now := stateOf(t, raw, err)
	if err := w.Delete(ctx, namespace("new"), now.Preconditions, integration.Background); err != nil {
		t.Error(err)
	}
	_, err1 := w.List(ctx, namespaces, "", "")
	if err1 != nil {
		t.Error(err1)
	}
	ref, object := configMap("prcheck", "c-1")
	_, err2 := w.Create(ctx, ref, object)
	_, err3 := w.List(ctx, ref.Resource, "prcheck", "")
	for _, err := range []error{err2, err3} {
		if integration.ClassOfFailure(err) != integration.FailureOfConfig ||
			!strings.Contains(err.Error(), "the role of the account") {
			t.Errorf("got %v", err)
		}
	}
	var got []string
	for _, q := range r.Audit(t, user) {
		got = append(got, q.String())
	}
	slices.Sort(got)
	want := []string{
		"delete /api/v1/namespaces/new 200", "list /api/v1/namespaces 200", "list /api/v1/namespaces/prcheck/configmaps 403",
		"patch /api/v1/namespaces/new 200", "patch /api/v1/namespaces/new 201",
		"patch /api/v1/namespaces/prcheck/configmaps/c-1 403",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A field that the server does not know is a mistake, not something that is left out.
func TestUnknownField(t *testing.T) {
	r := kubetest.Start(t)
	w, err := writer.Open(kube.Access{Name: "west", Server: r.URL, Token: r.Token("admin"), Integration: "namespaces",
		Insecure: true})
	if err != nil {
		t.Fatal(err)
	}
	object := strings.Replace(string(labeled("new", none, nil)), `"metadata"`, `"spec": {"nope": 1}, "metadata"`, 1)
	_, err = w.Create(t.Context(), namespace("new"), json.RawMessage(object))
	if err == nil || !strings.Contains(err.Error(), "nope") ||
		integration.ClassOfFailure(err) == integration.FailureTransient {
		t.Errorf("got %v of class %q", err, integration.ClassOfFailure(err))
	}
	if _, err := w.Get(t.Context(), namespace("new")); !errors.Is(err, integration.ErrNotThere) {
		t.Errorf("got %v", err)
	}
}
