package kube_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"

	"github.com/app-sre/prcheck/natives/kube"
	"github.com/app-sre/prcheck/natives/kube/writer"
)

var (
	_ integration.ClusterReader = (*kube.Objects)(nil)
	_ integration.ClusterWriter = (*writer.Writer)(nil)
	_ integration.ClusterTrial  = (*kube.Trial)(nil)
)

// sesame is a token that must appear nowhere.
const sesame = "open-sesame-0123456789"

var (
	namespaces = integration.Resource{Version: "v1", Plural: "namespaces"}
	deployment = integration.ObjectRef{Resource: integration.Resource{Group: "apps", Version: "v1", Plural: "deployments"},
		Namespace: "shop", Name: "web"}
)

func namespace(name string) integration.ObjectRef {
	return integration.ObjectRef{Resource: namespaces, Name: name}
}

// westWriter connects to a handler, for writing. It pauses shortly between attempts.
func westWriter(t *testing.T, h http.HandlerFunc) *writer.Writer {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	w, err := writer.Open(kube.Access{Name: "west", Server: s.URL, Token: sesame, Integration: "shelves"})
	if err != nil {
		t.Fatal(err)
	}
	w.Connection().Hurry()
	return w
}

// object returns the JSON of an object.
func object(apiVersion, kind, namespace, name, more string) string {
	return fmt.Sprintf(
		`{"apiVersion": %q, "kind": %q, "metadata": {"name": %q, "namespace": %q, "uid": "u-1", "resourceVersion": "7"%s}}`,
		apiVersion, kind, name, namespace, more)
}

// wanted is an object that is to be applied to deployment.
const wanted = `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": "shop", "name": "web"}, "spec": {"replicas": 12345678901234567890}}`

var was = integration.Preconditions{UID: "u-1", ResourceVersion: "7"}

// The requests name manager and preconditions, and never force.
func TestObjectRequests(t *testing.T) {
	var got []string
	w := westWriter(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", r.Method, r.URL, r.Header.Get("Content-Type"), body)))
		if r.Header.Get("Authorization") != "Bearer "+sesame || r.Header.Get("Accept") != "application/json" ||
			r.UserAgent() != "prcheck-shelves" {
			t.Errorf("headers %v", r.Header)
		}
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "deployments") {
			_, _ = io.WriteString(w, `{"apiVersion": "apps/v1", "kind": "DeploymentList", "metadata": {}, "items": []}`)
			return
		}
		_, _ = io.WriteString(w, object("apps/v1", "Deployment", "shop", "web", ""))
	})
	ctx := t.Context()
	_, err1 := w.Get(ctx, deployment)
	list, err2 := w.List(ctx, deployment.Resource, "", "a=b,c")
	_, err3 := w.Create(ctx, deployment, json.RawMessage(wanted))
	_, err4 := w.Apply(ctx, deployment, json.RawMessage(wanted))
	err5 := w.Delete(ctx, deployment, was, integration.Background)
	for _, err := range []error{err1, err2, err3, err4, err5} {
		if err != nil {
			t.Error(err)
		}
	}
	if list == nil || len(list) != 0 {
		t.Errorf("got %v, want an empty list", list)
	}
	const one, apply = "/apis/apps/v1/namespaces/shop/deployments/web", "?fieldManager=prcheck-shelves&fieldValidation=Strict application/apply-patch+yaml "
	want := []string{
		"GET " + one,
		"GET /apis/apps/v1/deployments?labelSelector=a%3Db%2Cc&limit=500",
		"PATCH " + one + apply +
			`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop","resourceVersion":"9223372036854775807"},"spec":{"replicas":12345678901234567890}}`,
		"PATCH " + one + apply + wanted,
		"DELETE " + one +
			` application/json {"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u-1","resourceVersion":"7"},"propagationPolicy":"Background"}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What cannot be sent is an error before anything is sent.
func TestNotSent(t *testing.T) {
	w := westWriter(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("got %s %s", r.Method, r.URL) })
	ctx := t.Context()
	apply := func(ref integration.ObjectRef, object string) func() error {
		return func() error { _, err := w.Apply(ctx, ref, json.RawMessage(object)); return err }
	}
	get := func(ref integration.ObjectRef) func() error {
		return func() error { _, err := w.Get(ctx, ref); return err }
	}
	merge := func(patch string, was integration.Preconditions) func() error {
		return func() error { _, err := w.Merge(ctx, deployment, json.RawMessage(patch), was); return err }
	}
	take := func(object string) func() error {
		return func() error {
			_, err := w.TakeFields(ctx, deployment, json.RawMessage(object), []string{"oc"})
			return err
		}
	}
	for name, c := range map[string]struct {
		do   func() error
		want string
	}{
		"name with a slash":  {get(namespace("a/b")), `"a/b" cannot be a part`},
		"name that leads up": {get(namespace("..")), `".." cannot be a part`},
		"name with a query":  {get(namespace("a?x=y")), "cannot be a part"},
		"no name":            {get(namespace("")), "has no name"},
		"namespace that is none": {get(integration.ObjectRef{Resource: namespaces, Namespace: "a%2fb", Name: "x"}),
			"cannot be a part"},
		"no version": {get(integration.ObjectRef{Resource: integration.Resource{Plural: "namespaces"}, Name: "x"}),
			`"" cannot be a part`},
		"no JSON":       {apply(deployment, "{"), "the object is no JSON"},
		"null":          {apply(deployment, "null"), "the object is"},
		"another name":  {apply(deployment, strings.ReplaceAll(wanted, "web", "other")), `"other"`},
		"another group": {apply(deployment, strings.ReplaceAll(wanted, "apps/v1", "v1")), `of "v1"`},
		"no kind":       {apply(deployment, strings.ReplaceAll(wanted, `"kind"`, `"x"`)), "the object is"},
		"half a precondition": {apply(deployment, strings.ReplaceAll(wanted, `"name"`, `"uid": "u", "name"`)),
			"preconditions together"},
		"precondition on what is to be made": {func() error {
			_, err := w.Create(ctx, deployment, json.RawMessage(strings.ReplaceAll(wanted, `"name"`, `"uid": "u", "name"`)))
			return err
		}, "no uid"},
		"deletion of any object": {func() error {
			return w.Delete(ctx, deployment, integration.Preconditions{UID: "u"}, integration.Background)
		}, "needs the uid and the resourceVersion"},
		"deletion without a word on dependents": {func() error {
			return w.Delete(ctx, deployment, was, "")
		}, "what becomes of dependents"},
		"patch of any object": {merge(`{}`, integration.Preconditions{UID: "u"}),
			"needs the uid and the resourceVersion"},
		"patch that is null":       {merge(`null`, was), "no JSON object"},
		"patch that is a list":     {merge(`[]`, was), "no JSON object"},
		"patch of no metadata":     {merge(`{"metadata": null}`, was), "no JSON object"},
		"fields of another object": {take(object("apps/v1", "Deployment", "shop", "other", "")), "not this object"},
		"fields of no object":      {take(`7`), "not this object"},
		"fields without a version": {take(strings.Replace(object("apps/v1", "Deployment", "shop", "web", annotated), `"7"`,
			`""`, 1)), "needs the uid and the resourceVersion"},
		"fields that are none": {take(strings.Replace(string(readObject("", "oc Update x")), `{"f:spec"`, `["f:spec"`, 1)),
			"as it was read"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.do()
			if err == nil || !strings.Contains(err.Error(), c.want) ||
				integration.ClassOfFailure(err) != integration.FailureOfConfig {
				t.Errorf("got %v of class %q, want an error with %q", err, integration.ClassOfFailure(err), c.want)
			}
		})
	}
}

// A connection that reads sends no other method, whoever uses it.
func TestReadersOnlyRead(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("got %s %s", r.Method, r.URL)
	}))
	defer s.Close()
	o, err := kube.Open(kube.Access{Name: "west", Server: s.URL, Token: sesame, Integration: "shelves"})
	if err != nil {
		t.Fatal(err)
	}
	w := writer.On(o.Connection())
	if _, err := w.Apply(t.Context(), deployment, json.RawMessage(wanted)); err == nil ||
		!strings.Contains(err.Error(), "does not write sends no PATCH") {
		t.Errorf("apply: got %v", err)
	}
	if err := w.Delete(t.Context(), deployment, was, integration.Background); err == nil ||
		!strings.Contains(err.Error(), "does not write sends no DELETE") {
		t.Errorf("delete: got %v", err)
	}
	if _, is := any(o).(integration.ClusterWriter); is {
		t.Error("a reader can write")
	}
}

func TestAccess(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*kube.Access)
		want   string // "" for no error
	}{
		"https":              {func(*kube.Access) {}, ""},
		"path":               {func(a *kube.Access) { a.Server = "https://proxy.example/clusters/c-1" }, ""},
		"this machine":       {func(a *kube.Access) { a.Server = "http://127.0.0.1:8001" }, ""},
		"this machine, IPv6": {func(a *kube.Access) { a.Server = "http://[::1]:8001" }, ""},
		"http":               {func(a *kube.Access) { a.Server = "http://west.example" }, "it must begin with https://"},
		"host like this machine": {func(a *kube.Access) {
			a.Server = "http://127.0.0.1.west.example"
		}, "it must begin with https://"},
		"another scheme": {func(a *kube.Access) { a.Server = "ftp://west.example" }, "it must begin with https://"},
		"no address":     {func(a *kube.Access) { a.Server = "" }, "it must be https://HOST"},
		"no host":        {func(a *kube.Access) { a.Server = "https://:6443" }, "it must be https://HOST"},
		"no URL":         {func(a *kube.Access) { a.Server = "https://[" }, "is no URL"},
		"password": {func(a *kube.Access) {
			a.Server = "https://u:" + sesame + "@west.example"
		}, "it must be https://HOST"},
		"query":              {func(a *kube.Access) { a.Server = "https://west.example?x" }, "it must be https://HOST"},
		"no token":           {func(a *kube.Access) { a.Token = "" }, "token is empty"},
		"token of two lines": {func(a *kube.Access) { a.Token += "\nHost: x" }, "characters that no token has"},
		"long name":          {func(a *kube.Access) { a.Integration = strings.Repeat("x", 121) }, "more than 120 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			a := kube.Access{Name: "west", Server: "https://west.example:6443", Token: sesame, Integration: "shelves"}
			c.change(&a)
			_, err := kube.Open(a)
			_, errOfWriter := writer.Open(a)
			if fmt.Sprint(err) != fmt.Sprint(errOfWriter) {
				t.Errorf("got %v and %v", err, errOfWriter)
			}
			switch {
			case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want an error with %q", err, c.want)
			case err != nil &&
				(strings.Contains(err.Error(), sesame) || integration.ClassOfFailure(err) != integration.FailureOfConfig):
				t.Errorf("got %v of class %q", err, integration.ClassOfFailure(err))
			}
		})
	}
}
