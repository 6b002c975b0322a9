package kube_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"

	"github.com/app-sre/prcheck/natives/kube"
	"github.com/app-sre/prcheck/natives/kube/writer"
)

// recorder notes requests and answers each with an object.
func recorder(got *[]string, answer string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*got = append(*got, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", r.Method, r.URL, r.Header.Get("Content-Type"),
			body)))
		_, _ = io.WriteString(w, answer)
	}
}

const oneWeb = "/apis/apps/v1/namespaces/shop/deployments/web"

// The preconditions become a part of a merge patch.
func TestMergeRequest(t *testing.T) {
	for name, c := range map[string]struct{ patch, want string }{
		"spec": {`{"spec": {"replicas": 0}}`, `{"metadata":{"resourceVersion":"7","uid":"u-1"},"spec":{"replicas":0}}`},
		"metadata": {`{"metadata": {"labels": {"a": null}, "uid": "x"}}`,
			`{"metadata":{"labels":{"a":null},"resourceVersion":"7","uid":"u-1"}}`},
		"numbers": {`{"x": 12345678901234567890}`,
			`{"metadata":{"resourceVersion":"7","uid":"u-1"},"x":12345678901234567890}`},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			w := westWriter(t, recorder(&got, object("apps/v1", "Deployment", "shop", "web", "")))
			if _, err := w.Merge(t.Context(), deployment, json.RawMessage(c.patch), was); err != nil {
				t.Fatal(err)
			}
			want := "PATCH " + oneWeb + "?fieldManager=prcheck-shelves&fieldValidation=Strict application/merge-patch+json " +
				c.want
			if len(got) != 1 || got[0] != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// A read object has the fields of some managers.
func readObject(metadata string, managers ...string) json.RawMessage {
	var entries []string
	for _, m := range managers {
		name, operation, _ := strings.Cut(m, " ")
		operation, field, _ := strings.Cut(operation, " ")
		entries = append(entries,
			fmt.Sprintf(`{"manager": %q, "operation": %q, "apiVersion": "apps/v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {%q: {}}}}`, name, operation, "f:"+field))
	}
	return json.RawMessage(object("apps/v1", "Deployment", "shop", "web",
		metadata+`, "managedFields": [`+strings.Join(entries, ", ")+"]"))
}

const annotated = `, "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "a": "1"}`

// The fields of the named managers and our own updates become what we applied, in one request.
func TestTakeFields(t *testing.T) {
	for name, c := range map[string]struct {
		object json.RawMessage
		want   string // "MANAGER OPERATION FIELDS …" and "-annotation"; "" for no request
	}{
		"nothing to take":   {readObject("", "other Update replicas", "prcheck-shelves Apply template"), ""},
		"applies of others": {readObject("", "kubectl-client-side-apply Apply replicas"), ""},
		"no managers":       {readObject(""), ""},
		"kubectl apply": {readObject(annotated, "kubectl-client-side-apply Update replicas", "other Update paused"),
			`prcheck-shelves Apply {"f:spec":{"f:replicas":{}}}; other Update {"f:spec":{"f:paused":{}}}; -annotation`},
		"beside an apply": {readObject("", "prcheck-shelves Apply template", "oc Update replicas"),
			`prcheck-shelves Apply {"f:spec":{"f:replicas":{},"f:template":{}}}`},
		"two managers": {readObject("", "oc Update replicas", "kubectl-client-side-apply Update paused"),
			`prcheck-shelves Apply {"f:spec":{"f:paused":{},"f:replicas":{}}}`},
		"own update": {readObject("", "prcheck-shelves Apply template", "prcheck-shelves Update replicas"),
			`prcheck-shelves Apply {"f:spec":{"f:replicas":{},"f:template":{}}}`},
		"annotation alone": {readObject(annotated, "other Update replicas"), "-annotation"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			w := westWriter(t, recorder(&got, object("apps/v1", "Deployment", "shop", "web", `, "x": 1`)))
			is, err := w.TakeFields(t.Context(), deployment, c.object, []string{"kubectl-client-side-apply", "oc"})
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				if len(got) != 0 || string(is) != string(c.object) {
					t.Errorf("sent %q, got %s", got, is)
				}
				return
			}
			if len(got) != 1 || told(t, got[0]) != c.want || !strings.Contains(string(is), `"x"`) {
				t.Errorf("got %q and %s, want %s", got, is, c.want)
			}
		})
	}
}

// told returns what a request to take fields says.
func told(t *testing.T, request string) string {
	t.Helper()
	body, ok := strings.CutPrefix(request,
		"PATCH "+oneWeb+"?fieldManager=prcheck-shelves&fieldValidation=Strict application/merge-patch+json ")
	var is struct {
		Metadata struct {
			UID, ResourceVersion string
			Annotations          map[string]*string
			ManagedFields        []struct {
				Manager, Operation string
				FieldsV1           json.RawMessage
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &is); err != nil || !ok || is.Metadata.UID != "u-1" ||
		is.Metadata.ResourceVersion != "7" {
		t.Fatalf("%v in %s", err, request)
	}
	var parts []string
	for _, e := range is.Metadata.ManagedFields {
		parts = append(parts, e.Manager+" "+e.Operation+" "+string(e.FieldsV1))
	}
	if value, has := is.Metadata.Annotations["kubectl.kubernetes.io/last-applied-configuration"]; has && value == nil &&
		len(is.Metadata.Annotations) == 1 {
		parts = append(parts, "-annotation")
	}
	return strings.Join(parts, "; ")
}

// Objects of a list do not say their type, and can be taken as well.
func TestTakeFieldsOfList(t *testing.T) {
	var got []string
	w := westWriter(t, recorder(&got, object("apps/v1", "Deployment", "shop", "web", "")))
	listed := strings.NewReplacer(`"apiVersion": "apps/v1", "kind": "Deployment", `,
		"").Replace(string(readObject("", "oc Update replicas")))
	if _, err := w.TakeFields(t.Context(), deployment, json.RawMessage(listed), []string{"oc"}); err != nil ||
		len(got) != 1 {
		t.Errorf("got %v, sent %q", err, got)
	}
}

// A trial sends what an apply would, with dryRun=All, and takes an answer that is not kept.
func TestTrialRequests(t *testing.T) {
	var got []string
	s := httptest.NewServer(recorder(&got,
		`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop", "uid": "u"}}`))
	defer s.Close()
	k, err := kube.OpenTrial(kube.Access{Name: "west", Server: s.URL, Token: sesame, Integration: "shelves"})
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Replace(wanted, `"name"`, `"uid": "u-1", "resourceVersion": "7", "name"`, 1)
	for _, o := range []string{wanted, known} {
		if _, err := k.TryApply(t.Context(), deployment, json.RawMessage(o)); err != nil {
			t.Error(err)
		}
	}
	const start = "PATCH " + oneWeb +
		"?dryRun=All&fieldManager=prcheck-shelves&fieldValidation=Strict application/apply-patch+yaml "
	if len(got) != 2 || !strings.HasPrefix(got[0], start) || !strings.Contains(got[0], kube.NeverVersion) ||
		got[1] != start+known {
		t.Errorf("got %q", got)
	}
	if _, err := k.TryApply(t.Context(), deployment,
		json.RawMessage(strings.Replace(wanted, "web", "x", 1))); err == nil || len(got) != 2 {
		t.Errorf("another object: got %v", err)
	}
}

// A connection for trials sends nothing that a server keeps, whoever uses it.
func TestTrialsKeepNothing(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("got %s %s", r.Method, r.URL)
	}))
	defer s.Close()
	k, err := kube.OpenTrial(kube.Access{Name: "west", Server: s.URL, Token: sesame, Integration: "shelves"})
	if err != nil {
		t.Fatal(err)
	}
	w := writer.On(k.Connection())
	_, create := w.Create(t.Context(), deployment, json.RawMessage(wanted))
	_, apply := w.Apply(t.Context(), deployment, json.RawMessage(wanted))
	_, merge := w.Merge(t.Context(), deployment, json.RawMessage(`{}`), was)
	_, take := w.TakeFields(t.Context(), deployment, readObject(annotated), nil)
	for name, err := range map[string]error{"create": create, "apply": apply, "merge": merge, "take": take,
		"delete": w.Delete(t.Context(), deployment, was, integration.Background)} {
		if err == nil || !strings.Contains(err.Error(), "does not write sends no") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for name, url := range map[string]string{"twice": "?dryRun=All&dryRun=", "empty": "?dryRun=",
		"another": "?dryRun=None", "in a value": "?x=dryRun%3DAll"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, s.URL+oneWeb+url, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if answer, err := k.Connection().Do(req); err == nil {
			_ = answer.Body.Close()
			t.Errorf("%s: it was sent", name)
		}
	}
	if _, is := any(k).(integration.ClusterWriter); is {
		t.Error("a trial can write")
	}
}

// Whoever was faster is told apart from what is wrong.
func TestMergeTrouble(t *testing.T) {
	for name, c := range map[string]struct {
		code int
		body string
		want error // nil is any other error
	}{
		"another version": {409,
			`{"kind": "Status", "reason": "Conflict", "details": {"name": "web", "kind": "deployments"}}`,
			integration.ErrChanged},
		"another object": {422,
			`{"kind": "Status", "reason": "Invalid", "details": {"name": "web", "kind": "Deployment", "causes": [{"reason": "FieldValueInvalid", "field": "metadata.uid"}]}}`, integration.ErrChanged},
		"gone": {404, `{"kind": "Status", "reason": "NotFound", "details": {"name": "web", "kind": "deployments"}}`,
			integration.ErrNotThere},
		"wrong field": {422,
			`{"kind": "Status", "reason": "Invalid", "details": {"name": "web", "causes": [{"reason": "FieldValueInvalid", "field": "spec.selector"}]}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := westWriter(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.code)
				_, _ = io.WriteString(w, c.body)
			})
			_, err := w.Merge(t.Context(), deployment, json.RawMessage(`{"spec": {"replicas": 0}}`), was)
			if c.want != nil && !errors.Is(err, c.want) ||
				c.want == nil && (err == nil || errors.Is(err, integration.ErrChanged) || errors.Is(err, integration.ErrNotThere)) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			_, err = w.TakeFields(t.Context(), deployment, readObject(annotated), nil)
			if c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("taking fields: got %v, want %v", err, c.want)
			}
		})
	}
}
