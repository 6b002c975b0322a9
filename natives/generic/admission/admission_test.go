package admission_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/admission"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
)

// known returns the types of the world of cloudtest.
func known(t testing.TB) *admission.Known {
	t.Helper()
	m, err := new(cloud.Reader).Read(t.Context(), cloudtest.New("https://arm.example").Query(t))
	if err != nil {
		t.Fatal(err)
	}
	k, err := admission.NewKnown(m, "")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// spec returns a spec with a body, and more members.
func spec(body string, more ...string) string {
	return `{"type": "` + cloudtest.Store + `", "name": "n", "body": ` + body +
		strings.Join(append([]string{""}, more...), ", ") + `}`
}

// question returns a review. A spec that is "" makes no object.
func question(operation, old, spec string) []byte {
	object := func(spec string) string {
		if spec == "" {
			return "null"
		}
		return `{"apiVersion": "prcheck.dev/v1", "kind": "GenericResource", "metadata": {"name": "n"}, "spec": ` + spec + `}`
	}
	return fmt.Appendf(nil,
		`{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "u", "operation": %q, "oldObject": %s, "object": %s}}`,
		operation, object(old), object(spec))
}

func TestReviews(t *testing.T) {
	const good = `{"location": "westus", "properties": {"size": 1}}`
	h := admission.NewHandler(known(t), admission.Options{ProtectDeletes: true})
	for _, c := range []struct {
		name            string
		review          []byte
		causes          []string // field, reason
		warnings        int
		code            int
		inCause, inWarn string
	}{
		{name: "good", review: question("CREATE", "", spec(good))},
		{name: "misspelt", review: question("CREATE", "", spec(`{"location": "w", "properties": {"sise": 1}}`)), code: 422,
			causes: []string{"spec.body.properties.sise FieldValueInvalid"}, inCause: `do you mean "size"?`},
		{name: "several kinds of mistakes",
			review: question("CREATE", "",
				spec(`{"id": "x", "properties": {"size": "1", "password": "canary"}, "tags": {"a.b": 1}}`)), code: 422,
			causes: []string{
				"spec.body.id FieldValueForbidden", "spec.body.location FieldValueRequired",
				"spec.body.properties.password FieldValueForbidden",
				"spec.body.properties.size FieldValueTypeInvalid", "spec.body.tags[a.b] FieldValueTypeInvalid"}},
		{name: "an old mistake is a warning", review: question("UPDATE", spec(`{"location": "w", "properties": {"sise": 1}}`),
			spec(`{"location": "w", "properties": {"sise": 2, "size": 1}}`)),
			warnings: 1, inWarn: "spec.body.properties.sise"},
		{name: "nothing changed", review: question("UPDATE", spec(`{"sise": 1}`), spec(`{"sise": 1}`))},
		{name: "create-only", review: question("UPDATE", spec(good), spec(`{"location": "eastus"}`)), code: 422,
			causes:  []string{"spec.body.location FieldValueInvalid"},
			inCause: "it is create-only: changing it means delete and create"},
		{name: "create-only spelt otherwise", review: question("UPDATE", spec(good), spec(`{"location": "West US"}`))},
		{name: "create-only and allowed",
			review: question("UPDATE", spec(good), spec(`{"location": "eastus"}`, `"allowReplace": true`)), warnings: 1},
		{name: "another name",
			review: question("UPDATE", spec(good), strings.Replace(spec(good), `"name": "n"`, `"name": "m"`, 1)), code: 422,
			causes: []string{"spec.name FieldValueForbidden"}, inCause: `was "n"`},
		{name: "another parent", review: question("UPDATE", spec(good), spec(good, `"parent": "/p"`)), code: 422,
			causes: []string{"spec.parent FieldValueForbidden"}},
		{name: "an unknown type", review: question("CREATE", "", `{"type": "Acme.Cache/store", "name": "n"}`), code: 422,
			causes: []string{"spec.type FieldValueNotSupported"}, inCause: `do you mean "Acme.Cache/stores"?`},
		{name: "an unknown type that was there", review: question("UPDATE", `{"type": "X", "name": "n"}`,
			`{"type": "X", "name": "n", "body": {}}`), warnings: 1, inWarn: "spec.type"},
		{name: "a version that is not there",
			review: question("CREATE", "", `{"type": "Acme.Cache/stores@1999", "name": "n"}`), code: 422,
			causes: []string{"spec.type FieldValueNotSupported"}, inCause: `there is no version "1999"`},
		{name: "a spec of another form", review: question("CREATE", "", `{"type": 1}`), code: 422,
			causes: []string{"spec FieldValueTypeInvalid"}},
		{name: "a member twice", review: question("CREATE", "", spec(`{"location": "a", "location": "b"}`)), code: 422,
			causes: []string{"spec.body FieldValueInvalid"}},
		{name: "a delete that is said before", review: question("DELETE", spec(good, `"delete": true`), "")},
		{name: "a delete that is not", review: question("DELETE", spec(good), ""), code: 403},
		{name: "a delete of what is detached", review: question("DELETE", spec(good, `"policy": "detach-on-delete"`), "")},
		{name: "a protected delete", review: question("DELETE", spec(good, `"delete": true, "protected": true`), ""),
			code: 403},
		{name: "a deletion that goes on",
			review: []byte(strings.Replace(string(question("UPDATE", spec(good), spec(`{"location": "e"}`))), `{"name": "n"}`,
				`{"name": "n", "deletionTimestamp": "2026-01-01T00:00:00Z"}`, 2))},
		{name: "another kind",
			review:   []byte(strings.ReplaceAll(string(question("CREATE", "", spec(`{}`))), "GenericResource", "ConfigMap")),
			warnings: 1},
		{name: "CONNECT", review: question("CONNECT", "", "")},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, got := post(t, h, c.review)
			r := got.Response
			var causes []string
			for _, cause := range r.Status.Details.Causes {
				causes = append(causes, cause.Field+" "+cause.Reason)
			}
			if w.Code != http.StatusOK || r.UID != "u" || r.Allowed != (c.code == 0) || r.Status.Code != c.code ||
				!slices.Equal(causes, c.causes) || len(r.Warnings) != c.warnings {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
			if c.inCause != "" && !strings.Contains(r.Status.Message, c.inCause) ||
				c.inWarn != "" && !strings.Contains(r.Warnings[0], c.inWarn) {
				t.Errorf("got %s", w.Body)
			}
			if strings.Contains(w.Body.String(), "canary") {
				t.Errorf("the answer shows a secret: %s", w.Body)
			}
		})
	}
}

func TestBeta(t *testing.T) {
	h := admission.NewHandler(known(t), admission.Options{})
	_, got := post(t, h, []byte(strings.Replace(string(question("CREATE", "", spec(`{"location": "w"}`))), "k8s.io/v1",
		"k8s.io/v1beta1", 1)))
	if got.APIVersion != "admission.k8s.io/v1beta1" || !got.Response.Allowed {
		t.Errorf("got %+v", got)
	}
}

// What is no review is refused with a status of HTTP, and is counted.
func TestNoReviews(t *testing.T) {
	h := admission.NewHandler(known(t), admission.Options{})
	send := func(method, path, media, body string) (int, string) {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", media)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	whole := string(question("CREATE", "", spec(`{"location": "w"}`)))
	for _, c := range []struct {
		name, method, path, media, body string
		want                            int
	}{
		{"no JSON", "POST", "/validate", "application/json", "<html>", 400},
		{"cut in half", "POST", "/validate", "application/json", whole[:len(whole)/2], 400},
		{"no uid", "POST", "/validate", "application/json", strings.Replace(whole, `"uid": "u"`, `"uid": ""`, 1), 400},
		{"another version", "POST", "/validate", "application/json", strings.Replace(whole, "k8s.io/v1", "k8s.io/v2", 1),
			400},
		{"no object", "POST", "/validate", "application/json", string(question("CREATE", "", "")), 400},
		{"nothing to update", "POST", "/validate", "application/json", string(question("UPDATE", "", spec("{}"))), 400},
		{"nothing to delete", "POST", "/validate", "application/json", string(question("DELETE", "", "")), 400},
		{"another media type", "POST", "/validate", "text/plain", whole, 415},
		{"another verb", "GET", "/validate", "", "", 405},
		{"another verb for metrics", "POST", "/metrics", "", "", 405},
		{"another path", "POST", "/", "application/json", whole, 404},
		{"health", "GET", "/healthz", "", "", 200},
	} {
		if got, text := send(c.method, c.path, c.media, c.body); got != c.want {
			t.Errorf("%s: got %d %s, want %d", c.name, got, text, c.want)
		}
	}
	send("POST", "/validate", "application/json", whole)
	h.Keep()
	_, text := send("GET", "/metrics", "", "")
	for _, want := range []string{`reviews_total{outcome="allowed"} 1`, `reviews_total{outcome="invalid"} 9`,
		`review_seconds_bucket{le="+Inf"} 10`, "webhook_stale 1"} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics have no %q:\n%s", want, text)
		}
	}
}

// Warnings are short, and few enough that an API server shows them.
func TestWarningsAreBounded(t *testing.T) {
	var wrong []string
	for i := range 150 {
		wrong = append(wrong, fmt.Sprintf(`"%s%d": 1`, strings.Repeat("ä", 90), i))
	}
	body := `{"location": "w", ` + strings.Join(wrong, ", ")
	_, got := post(t, admission.NewHandler(known(t), admission.Options{}),
		question("UPDATE", spec(body+`}`), spec(body+`, "tags": {}}`)))
	all := 0
	for _, w := range got.Response.Warnings {
		if all += len(w); len(w) > 120 {
			t.Errorf("a warning has %d bytes", len(w))
		}
	}
	if !got.Response.Allowed || all > 4096 || len(got.Response.Warnings) < 30 {
		t.Errorf("got %d warnings of %d bytes", len(got.Response.Warnings), all)
	}
}

// Reviews are answered while the types are replaced.
func TestTypesAreReplaced(t *testing.T) {
	h := admission.NewHandler(known(t), admission.Options{})
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for range 20 {
				if _, got := post(t, h, question("CREATE", "", spec(`{"location": "w"}`))); !got.Response.Allowed {
					t.Error("a good object is refused")
				}
			}
		})
	}
	for range 3 {
		h.Use(known(t))
	}
	running.Wait()
}

func TestKnown(t *testing.T) {
	w := cloudtest.New("https://arm.example")
	m, err := new(cloud.Reader).Read(t.Context(), w.Query(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admission.NewKnown(m, "other"); err == nil || !strings.Contains(err.Error(), "there is acme") {
		t.Errorf("got %v", err)
	}
	if _, err := admission.NewKnown(&cloud.Model{}, ""); err == nil {
		t.Error("data without APIs have types")
	}
	w.Data[cloudtest.API]["specifications"] = []any{}
	if m, err = new(cloud.Reader).Read(t.Context(), w.Query(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := admission.NewKnown(m, ""); err == nil {
		t.Error("an API without specifications has types")
	}
}

func TestConfiguration(t *testing.T) {
	for _, c := range []struct {
		in   admission.Configuration
		want string
	}{
		{admission.Configuration{Service: "n/s"},
			`clientConfig: {"service":{"name":"s","namespace":"n","path":"/validate","port":443}}`},
		{admission.Configuration{URL: "https://h:1", CA: []byte("ca"), Failure: "Ignore"},
			"clientConfig: {\"caBundle\":\"Y2E=\",\"url\":\"https://h:1/validate\"}\n  matchPolicy: Equivalent\n  failurePolicy: Ignore"},
		{admission.Configuration{}, ""},
		{admission.Configuration{URL: "https://h", Service: "n/s"}, ""},
		{admission.Configuration{URL: "https://u:p@h"}, ""},
		{admission.Configuration{Service: "a/b/c"}, ""},
		{admission.Configuration{Service: "a/b", Failure: "Maybe"}, ""},
	} {
		var out strings.Builder
		err := c.in.Write(&out)
		if (err == nil) != (c.want != "") || !strings.Contains(out.String(), c.want) {
			t.Errorf("%+v: got %v and\n%s", c.in, err, out.String())
		}
	}
}

// Whatever is sent, the handler answers, and what it answers is a review or a refusal.
func FuzzReview(f *testing.F) {
	f.Add(question("CREATE", "", spec(`{"location": "w", "properties": {"size": 1e400}}`)))
	f.Add(question("UPDATE", spec(`{"location": "w"}`), spec(`{"location": ["\ud800", null], "tags": {"a/~b": {}}}`,
		`"allowUpdate": ["/x"], "ignore": ["/~"]`)))
	f.Add(question("DELETE", spec(`{}`), ""))
	f.Add([]byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{}}`))
	h := admission.NewHandler(known(f), admission.Options{ProtectDeletes: true})
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := httptest.NewRequest(http.MethodPost, "/validate", strings.NewReader(string(raw)))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code == http.StatusBadRequest {
			return
		}
		var got reply
		if err := json.Unmarshal(w.Body.Bytes(),
			&got); err != nil || w.Code != http.StatusOK || got.Kind != "AdmissionReview" || got.Response.UID == "" ||
			got.Response.Allowed == (got.Response.Status.Code != 0) {
			t.Errorf("%q: got %d %s", raw, w.Code, w.Body)
		}
	})
}
