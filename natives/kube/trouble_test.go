package kube_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/integration"

	"github.com/app-sre/prcheck/natives/kube"
	"github.com/app-sre/prcheck/natives/kube/writer"
)

// says returns the status object with which an API server refuses.
func says(code int, reason, more string) string {
	return fmt.Sprintf(
		`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": %q, "code": %d, "message": "says why"%s}`,
		reason, code, more)
}

const named = `, "details": {"name": "web", "group": "apps", "kind": "deployments"}`

// forbidden returns the status of a server that forbids a request with these words, and more of it.
func forbidden(words, more string) string {
	raw, _ := json.Marshal(`deployments.apps "web" is forbidden: ` + words) // a text
	return strings.Replace(says(403, "Forbidden", cmp.Or(more, named)), `"says why"`, string(raw), 1)
}

// conflicts is the part of a status that names fields of others.
const conflicts = `, "details": {"name": "web", "kind": "deployments", "causes": [
{"reason": "FieldManagerConflict", "message": "conflict with \"kubectl \\\"x\\\"\" using apps/v1", "field": ".spec.replicas"},
{"reason": "FieldManagerConflict", "message": "conflict with \"hpa\" with subresource \"status\" using v1", "field": ".spec.x"}]}`

// Each answer that is not the object is an error, with a class, and without the token. Only
// some errors are of those that callers tell apart.
func TestTroubles(t *testing.T) {
	const config, transient, task = integration.FailureOfConfig, integration.FailureTransient, integration.FailureClass("")
	for name, c := range map[string]struct {
		code  int
		body  string
		class integration.FailureClass
		is    error // nil: none of those that callers tell apart
		text  string
	}{
		"not there": {404, says(404, "NotFound", named), task, integration.ErrNotThere, "it is not there"},
		"its namespace not there": {404, says(404, "NotFound", `, "details": {"name": "shop", "kind": "namespaces"}`), task,
			nil, "says why"},
		"another name not there": {404, says(404, "NotFound", `, "details": {"name": "other", "kind": "deployments"}`), task,
			nil, "says why"},
		"no such resource": {404, "404 page not found", task, nil,
			"not the answer of an API server: 404 page not found"},
		"page of a proxy, 404":   {404, "<html>gone</html>", task, nil, "<html>gone</html>"},
		"not found without name": {404, says(404, "NotFound", ""), task, nil, "says why"},
		"changed": {409, says(409, "Conflict", named), task, integration.ErrChanged,
			"somebody else changed it"},
		"exists": {409, says(409, "AlreadyExists", named), task, integration.ErrChanged,
			"somebody else changed it"},
		"page of a proxy, 409": {409, "conflict", task, nil, "conflict"},
		"not logged in":        {401, says(401, "Unauthorized", ""), config, nil, "the token is not valid"},
		"denied": {403, forbidden(`User "u" cannot VERB resource "deployments"`, ""), config, nil,
			"the role of the account must allow VERBS of deployments.apps"},
		"denied by a proxy": {403, "<html>who are you</html>", config, nil,
			"who are you</html>; something in front of the API server refuses"},
		"bad request":       {400, says(400, "BadRequest", ""), config, nil, "says why"},
		"invalid":           {422, says(422, "Invalid", named), config, nil, "says why"},
		"too many":          {429, says(429, "TooManyRequests", ""), transient, nil, "(tried 4 times)"},
		"fails":             {500, says(500, "InternalError", ""), transient, nil, "says why"},
		"away":              {503, "<html>away</html>", transient, nil, "away"},
		"gateway":           {502, "", transient, nil, "the server answers 502"},
		"gone":              {410, says(410, "Expired", ""), transient, nil, "it changed while it was read"},
		"sends on":          {302, "", config, nil, "it sends us to another address: name that one in the data"},
		"echo of the token": {400, "your token is " + sesame, config, nil, "your token is [token]"},
		"control characters": {400, says(400, "BadRequest", "")[:20] + "\x1b[31m\u202e", config, nil,
			"not the answer of an API server"},
		"html":                  {200, "<html>", task, nil, "not this object"},
		"nothing":               {200, "", task, nil, "not this object"},
		"null":                  {200, "null", task, nil, "not this object"},
		"empty object":          {200, "{}", task, nil, "not this object"},
		"half an object":        {200, object("apps/v1", "Deployment", "shop", "web", "")[:60], task, nil, "not this object"},
		"status with 200":       {200, says(404, "NotFound", named), task, nil, `it is "Status" of "v1"`},
		"another kind of group": {200, object("v1", "Deployment", "shop", "web", ""), task, nil, `"Deployment" of "v1"`},
		"another name":          {200, object("apps/v1", "Deployment", "shop", "other", ""), task, nil, `"other"`},
		"another namespace":     {200, object("apps/v1", "Deployment", "other", "web", ""), task, nil, `namespace "other"`},
		"no version": {200, strings.Replace(object("apps/v1", "Deployment", "shop", "web", ""), `"7"`, `""`, 1),
			task, nil, "no uid and resourceVersion"},
		"no content": {204, "", task, nil, "the server answers 204"},
		"too large":  {200, strings.Repeat("x", 1<<20+1), task, nil, "more than 1 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			w := westWriter(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "https://login.example/")
				w.WriteHeader(c.code)
				_, _ = io.WriteString(w, c.body)
			})
			_, get := w.Get(t.Context(), deployment)
			_, apply := w.Apply(t.Context(), deployment, json.RawMessage(wanted))
			_, create := w.Create(t.Context(), deployment, json.RawMessage(wanted))
			for verbs, err := range map[string]error{"get": get, "patch": apply, "create and patch": create} {
				if name == "too many" || c.class != transient || verbs == "get" {
					checkTrouble(t, err, c.class, c.is, strings.Replace(c.text, "VERBS", verbs, 1))
				}
				if !strings.HasPrefix(err.Error(), `cluster "west": `+verbs+` deployments.apps "web" in namespace "shop": `) {
					t.Errorf("got %v", err)
				}
			}
			if c.code != 200 || name == "too large" { // the answer to a deletion may be of several kinds
				checkTrouble(t, w.Delete(t.Context(), deployment, was, integration.Background), c.class, c.is, "deployments.apps")
			}
		})
	}
}

// The one status with which a server forbids a request has several reasons, and each has a remedy of
// its own. The words are those of a real server.
func TestForbidden(t *testing.T) {
	const config, transient = integration.FailureOfConfig, integration.FailureTransient
	const role, policy, quota = "the role of the account must allow patch of deployments.apps", "a policy of the cluster refuses the object", "the quota of the namespace does not suffice"
	for name, c := range map[string]struct {
		body  string
		class integration.FailureClass
		text  string
	}{
		"role": {forbidden(
			`User "system:serviceaccount:a:b" cannot patch resource "deployments" in API group "apps" in the namespace "shop"`,
			""), config, role},
		"role at the cluster scope": {forbidden(`User "u" cannot create resource "namespaces" in API group "" at the cluster scope: RBAC: clusterrole.rbac.authorization.k8s.io "x" not found`, ""), config, role},
		"grant": {forbidden(`user "u" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`, ""), config,
			"the account can only grant what it may do itself"},
		"quota": {forbidden("exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1", ""), config,
			quota},
		"quota without": {forbidden("failed quota: q: must specify limits.cpu for: int", ""), config, quota},
		"webhook":       {forbidden(`admission webhook "w.example" denied the request: exceeded quota: mine, user "u" cannot patch resource "deployments"`, ""), config, policy},
		"policy": {forbidden("ValidatingAdmissionPolicy 'p' with binding 'b' denied request: exceeded quota: of ours",
			""), config, policy},
		"pod security": {forbidden(`violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false`, ""), config,
			policy},
		"terminating": {forbidden("unable to create new content in namespace shop because it is being terminated",
			`, "details": {"name": "web", "group": "apps", "kind": "deployments", "causes": [{"reason": "NamespaceTerminating", "message": "namespace shop is being terminated", "field": "metadata.namespace"}]}`),
			transient, "the namespace is being deleted"},
	} {
		w := westWriter(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(403)
			_, _ = io.WriteString(w, c.body)
		})
		_, err := w.Apply(t.Context(), deployment, json.RawMessage(wanted))
		checkTrouble(t, err, c.class, nil, c.text)
		if err != nil && c.text != role && strings.Contains(err.Error(), "role of the account") {
			t.Errorf("%s speaks of roles: %v", name, err)
		}
	}
}

func checkTrouble(t *testing.T, err error, class integration.FailureClass, is error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) || integration.ClassOfFailure(err) != class {
		t.Errorf("got %v of class %q, want one of %q with %q", err, integration.ClassOfFailure(err), class, text)
		return
	}
	for _, known := range []error{integration.ErrNotThere, integration.ErrChanged} {
		if errors.Is(err, known) != (known == is) {
			t.Errorf("got %v: is it %q?", err, known)
		}
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if text := e.Error(); strings.Contains(text, sesame) || strings.ContainsAny(text, "\x1b\u202e\n") || len(text) > 900 {
			t.Errorf("an error of %d bytes has the token or control characters: %.1000q", len(text), text)
		}
	}
}

// A conflict names managers and fields; for what is to be made it says that it is there.
func TestFieldConflict(t *testing.T) {
	w := westWriter(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(409)
		_, _ = io.WriteString(w, says(409, "Conflict", conflicts))
	})
	_, err := w.Apply(t.Context(), deployment, json.RawMessage(wanted))
	want := `other managers own fields, kubectl "x" owns .spec.replicas, hpa owns .spec.x`
	if got := (*integration.FieldConflict)(nil); !errors.As(err, &got) || got.Error() != want ||
		errors.Is(err, integration.ErrChanged) {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := w.Create(t.Context(), deployment, json.RawMessage(wanted)); !errors.Is(err, integration.ErrChanged) {
		t.Errorf("got %v, want that it is there", err)
	}
}

// A deletion succeeded only if the server says so.
func TestDeleted(t *testing.T) {
	for body, want := range map[string]bool{
		`{"kind": "Status", "apiVersion": "v1", "status": "Success"}`: true,
		object("apps/v1", "Deployment", "shop", "web", ""):            true, // its finalizers run
		object("apps/v1", "Deployment", "shop", "other", ""):          false,
		`{"kind": "Status", "apiVersion": "v1", "status": "Failure"}`: false,
		`{"kind": "Status", "apiVersion": "v1", "status": {}}`:        false,
		`<html>`: false,
		``:       false,
	} {
		w := westWriter(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
		if err := w.Delete(t.Context(), deployment, was, integration.Background); (err == nil) != want {
			t.Errorf("%s: got %v", body, err)
		}
	}
}

// A server that ends early, or that nobody has started, may be there again soon.
func TestBrokenConnections(t *testing.T) {
	w := westWriter(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, object("apps/v1", "Deployment", "shop", "web", ""))
	})
	_, err := w.Get(t.Context(), deployment)
	checkTrouble(t, err, integration.FailureTransient, nil, "the answer ended early")
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	gone, err := kube.Open(kube.Access{Name: "west", Server: closed.URL, Token: sesame, Integration: "shelves",
		Pause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	_, err = gone.Get(t.Context(), deployment)
	checkTrouble(t, err, integration.FailureTransient, nil, "cannot be reached")
	w.Connection().SetHost(closed.Listener.Addr().String())
	_, err = w.Get(t.Context(), deployment)
	checkTrouble(t, err, integration.FailureOfConfig, nil, "nothing is sent to")
}

// A certificate that nobody signed is a mistake of the settings, and nothing is sent.
func TestCertificate(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, object("apps/v1", "Deployment", "shop", "web", ""))
	}))
	defer s.Close()
	s.Config.ErrorLog = nil
	for insecure, want := range map[bool]string{false: "certificate cannot be trusted", true: ""} {
		o, err := kube.Open(kube.Access{Name: "west", Server: s.URL, Token: sesame, Integration: "shelves",
			Insecure: insecure})
		if err != nil {
			t.Fatal(err)
		}
		_, err = o.Get(t.Context(), deployment)
		if want != "" {
			checkTrouble(t, err, integration.FailureOfConfig, nil, want)
		} else if err != nil {
			t.Error(err)
		}
	}
}

// answers is a transport that gives answers in turn, the last one again and again, and counts.
type answers struct {
	list []http.Response
	sent int
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	now := a.list[min(a.sent, len(a.list)-1)]
	a.sent++
	if now.StatusCode == 0 {
		return nil, errors.New("connection reset by peer")
	}
	body := "no"
	if now.StatusCode == http.StatusOK {
		body = object("apps/v1", "Deployment", "shop", "web", "")
	}
	now.Request, now.Body = r, io.NopCloser(strings.NewReader(body))
	return &now, nil
}

// Requests are sent again a few times, as late as the server asks; writes only if the server
// did nothing.
func TestSentAgain(t *testing.T) {
	answer := func(code int, after string) http.Response {
		return http.Response{StatusCode: code, Header: http.Header{"Retry-After": {after}}}
	}
	fine, reset := answer(200, ""), answer(0, "")
	for name, c := range map[string]struct {
		list          []http.Response
		reads, writes int // how many requests are sent
		least         time.Duration
	}{
		"fine":               {[]http.Response{fine}, 1, 1, 0},
		"429 once":           {[]http.Response{answer(429, "3"), fine}, 2, 2, 3 * time.Second},
		"429 without a time": {[]http.Response{answer(429, ""), fine}, 2, 2, 0},
		"429 for ever":       {[]http.Response{answer(429, "1")}, 4, 4, 3 * time.Second},
		"429 for an hour":    {[]http.Response{answer(429, "3600")}, 1, 1, 0},
		"503 with a time":    {[]http.Response{answer(503, "2"), fine}, 2, 2, 2 * time.Second},
		"503 without":        {[]http.Response{answer(503, ""), fine}, 2, 1, 0},
		"502":                {[]http.Response{answer(502, "1"), fine}, 2, 1, 0},
		"no answer":          {[]http.Response{reset, fine}, 2, 1, 0},
		"denied":             {[]http.Response{answer(403, "1"), fine}, 1, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for method, want := range map[string]int{"read": c.reads, "write": c.writes} {
					w, err := writer.Open(kube.Access{Name: "west", Server: "https://west.example", Token: sesame,
						Integration: "shelves"})
					if err != nil {
						t.Fatal(err)
					}
					a := &answers{list: c.list}
					w.Connection().SetTransport(a)
					begin := time.Now()
					if method == "read" {
						_, err = w.Get(t.Context(), deployment)
					} else {
						_, err = w.Apply(t.Context(), deployment, json.RawMessage(wanted))
					}
					isFine := c.list[min(want, len(c.list))-1].StatusCode == 200
					if took := time.Since(begin); a.sent != want || (err == nil) != isFine || took < c.least || took > time.Minute {
						t.Errorf("%s: got %d requests in %s and %v, want %d in %s", method, a.sent, took, err, want, c.least)
					}
				}
			})
		})
	}
}

// A context that ends, ends the waiting.
func TestContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, err := kube.Open(kube.Access{Name: "west", Server: "https://west.example", Token: sesame, Integration: "shelves"})
		if err != nil {
			t.Fatal(err)
		}
		o.Connection().SetTransport(&answers{
			list: []http.Response{{StatusCode: 429, Header: http.Header{"Retry-After": {"30"}}}}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		if _, err := o.Get(ctx, deployment); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 2*time.Second {
			t.Errorf("got %v after %s", err, time.Since(begin))
		}
	})
}

// A message does not repeat the objects that a server refuses.
func TestWithoutValues(t *testing.T) {
	long := strings.Repeat("x", kube.MaxValue)
	for name, c := range map[string][2]string{
		"no value": {"says why", "says why"},
		"short value": {`spec.schedule: Invalid value: "x": expected 5 fields`,
			`spec.schedule: Invalid value: "x": expected 5 fields`},
		"number": {"spec.replicas: Invalid value: -1: must be 0 or more",
			"spec.replicas: Invalid value: -1: must be 0 or more"},
		"object": {`spec.selector: Invalid value: {"a": "s}cret: {"}: field is immutable`,
			"spec.selector: Invalid value: …: field is immutable"},
		"list":      {`a: Invalid value: ["s"]: no`, "a: Invalid value: …: no"},
		"long text": {`a: Invalid value: "` + long + `": no`, "a: Invalid value: …: no"},
		"quoted patch": {`"" is invalid: patch: Invalid value: "{\"a\":\"` + long +
			`\"}": strict decoding error: unknown field "spec.nope"`,
			`"" is invalid: patch: Invalid value: …: strict decoding error: unknown field "spec.nope"`},
		"two values": {`[a: Invalid value: {}: no, b: Invalid value: {"x": {}}: no]`,
			"[a: Invalid value: …: no, b: Invalid value: …: no]"},
		"text of Go": {`a: Invalid value: v1.LabelSelector{A: "s"}: no`, "a: Invalid value: v1.LabelSelector{A: \"s\"}: no"},
		"unfinished": {`a: Invalid value: {"x": "s`, "a: Invalid value: …"},
		"nothing":    {"a: Invalid value: ", "a: Invalid value: "},
	} {
		if got := kube.WithoutValues(c[0]); got != c[1] {
			t.Errorf("%s: got %q, want %q", name, got, c[1])
		}
	}
}
