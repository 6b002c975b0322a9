package manager

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
)

const (
	testCommit = "f44e417aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	token      = "hidden-token"
)

// A gitHubServer answers for the commits of refs.
type gitHubServer struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string
	status   int    // 0: as GitHub does
	body     string // "": as GitHub does
	header   http.Header
}

// newGitHub starts a server that knows the refs main and v1 of any repository.
func newGitHub(t testing.TB) *gitHubServer {
	t.Helper()
	g := &gitHubServer{}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.requests = append(g.requests, fmt.Sprintf("%s %s %q %q", r.Method, r.URL.EscapedPath(), r.Header.Get("Accept"),
			r.Header.Get("Authorization")))
		for k, v := range g.header {
			w.Header()[k] = v
		}
		ref := r.URL.Path[strings.LastIndex(r.URL.Path, "/commits/")+len("/commits/"):]
		switch {
		case g.status != 0:
			w.WriteHeader(g.status)
		case g.body != "":
			_, _ = w.Write([]byte(g.body))
		case ref == "main" || ref == "feature/x" || strings.HasPrefix(testCommit, ref):
			_, _ = w.Write([]byte(testCommit))
		default:
			w.WriteHeader(http.StatusUnprocessableEntity)
		}
	}))
	t.Cleanup(g.Close)
	return g
}

// environmentOf returns the environment of a run with own settings and variables.
func environmentOf(t testing.TB, own string, variables map[string]string) (integration.Environment, *bytes.Buffer) {
	log := &bytes.Buffer{}
	return integration.Environment{
		Settings: settingsOf(t, own), Log: log,
		Variable: func(name string) (string, bool) { v, ok := variables[name]; return v, ok },
		Secret: func(_ context.Context, of integration.SecretRef) (string, error) {
			if of != (integration.SecretRef{Path: "github", Field: "token"}) {
				return "", fmt.Errorf("asked for %v", of)
			}
			return token, nil
		},
	}, log
}

// completed returns the desired state with what services know, and the log.
func (d *testData) completed(t testing.TB, own string, variables map[string]string) (native.Desired, string, error) {
	t.Helper()
	got := d.desired(t, own)
	env, log := environmentOf(t, own, variables)
	complete := completer(&resolver{})
	for i, p := range got.Parts {
		var err error
		if got.Parts[i], err = complete(t.Context(), env, p); err != nil {
			return got, log.String(), err
		}
	}
	return got, log.String(), nil
}

const imageKey = exampleItems + "Deployment/qontract-reconcile-terraform-resources-staging"

// The image is the one that the last source says, and the log says which and why.
func TestImages(t *testing.T) {
	hub := newGitHub(t)
	repos := func(d *testData, ref string) {
		d.at(environmentFile, "parameters")[reposParameter] = []any{object{"repo": exampleUpstream, "ref": ref},
			object{"repo": "https://github.com/x/y", "ref": "other"}}
	}
	digest := "sha256:" + strings.Repeat("0", 64)
	for name, c := range map[string]struct {
		edit      func(*testData)
		own       string
		variables map[string]string
		want, why string
		requests  int
	}{
		"the environment": {want: "quay.io/app-sre/qontract-reconcile:f44e417", why: "as the data say"},
		"a variable": {own: "pass_env: [IMAGE_TAG]", variables: map[string]string{"IMAGE_TAG": "v2"},
			want: "quay.io/app-sre/qontract-reconcile:v2", why: "with the variable IMAGE_TAG of the process"},
		"a variable that is empty": {own: "pass_env: [IMAGE_TAG]", variables: map[string]string{"IMAGE_TAG": ""},
			want: "quay.io/app-sre/qontract-reconcile:f44e417", why: "as the data say"},
		"a variable that is not named": {variables: map[string]string{"IMAGE_TAG": "v2"},
			want: "quay.io/app-sre/qontract-reconcile:f44e417", why: "as the data say"},
		"a variable without a default": {own: "pass_env: [IMAGE_TAG, IMAGE_DIGEST]", edit: func(d *testData) {
			delete(d.at(environmentFile, "parameters"), "IMAGE_TAG")
		},
			want: "quay.io/app-sre/qontract-reconcile:latest", why: "as the data say"},
		"a ref": {edit: func(d *testData) {
			repos(d, "main")
		}, want: "quay.io/app-sre/qontract-reconcile:f44e417", why: "the commit of main in " + exampleUpstream, requests: 1},
		"a ref with a slash": {edit: func(d *testData) {
			repos(d, "feature/x")
		}, want: "quay.io/app-sre/qontract-reconcile:f44e417", why: "the commit of feature/x in " + exampleUpstream,
			requests: 1},
		"a ref beats a variable, and drops the digest": {own: "pass_env: [IMAGE_TAG, IMAGE_DIGEST]",
			variables: map[string]string{"IMAGE_TAG": "v2", "IMAGE_DIGEST": digest},
			edit:      func(d *testData) { repos(d, "main"); d.at(environmentFile, "parameters")[digestParameter] = digest },
			want:      "quay.io/app-sre/qontract-reconcile:f44e417", why: "the commit of main in " + exampleUpstream,
			requests: 1},
		"a commit": {edit: func(d *testData) {
			repos(d, strings.Repeat("ab", 20))
		}, want: "quay.io/app-sre/qontract-reconcile:abababa", why: "as the data say"},
		"the settings beat the environment": {own: "image_tag_from_ref: {production: main, other: x}",
			edit: func(d *testData) { repos(d, "none") },
			want: "quay.io/app-sre/qontract-reconcile:f44e417", why: "the commit of main in " + exampleUpstream, requests: 1},
		"another image": {own: "image: quay.io/x/y", want: "quay.io/x/y:f44e417", why: "as the data say"},
		"a digest": {edit: func(d *testData) { d.at(environmentFile, "parameters")[digestParameter] = digest },
			want: "quay.io/app-sre/qontract-reconcile:f44e417@" + digest, why: "as the data say"},
		"a list as text": {edit: func(d *testData) {
			d.at(environmentFile, "parameters")[reposParameter] = `[{"repo":"` + exampleUpstream + `","ref":"main"}]`
		}, want: "quay.io/app-sre/qontract-reconcile:f44e417", why: "the commit of main in " + exampleUpstream, requests: 1},
		"an image of the shard": {edit: func(d *testData) {
			repos(d, "main")
			d.at(terraformFile, "managed", 0, "spec")["imageRef"] = "abc"
		}, want: "quay.io/app-sre/qontract-reconcile:abc", why: "as the data say", requests: 1},
	} {
		t.Run(name, func(t *testing.T) {
			d := example(t)
			if c.edit != nil {
				c.edit(d)
			}
			hub.requests = nil
			own := c.own + "\ngithub: {url: " + hub.URL + "/api/v3, token: {path: github, field: token}}"
			got, log, err := d.completed(t, own, c.variables)
			if err != nil || len(told(got)) > 0 {
				t.Fatal(err, told(got))
			}
			made := item(t, got, imageKey).Body.(body)
			if image := imageOf(made.Object); image != c.want || made.Late != nil {
				t.Errorf("got %q, open are %v, want %q", image, made.Late, c.want)
			}
			line := "image " + c.want + ", " + c.why + ": "
			at := strings.Index(log, line)
			if objects, _, _ := strings.Cut(log[max(at, 0):], "\n"); at < 0 ||
				!strings.Contains(objects, strings.TrimPrefix(imageKey, exampleShard+"/")) {
				t.Errorf("got the log %q, want %q", log, line)
			}
			if len(hub.requests) != c.requests || strings.Contains(log, token) {
				t.Errorf("got %q, want %d requests", hub.requests, c.requests)
			}
			for _, r := range hub.requests {
				if !strings.HasPrefix(r, "GET /api/v3/repos/app-sre/qontract-reconcile/commits/") ||
					!strings.HasSuffix(r, `"application/vnd.github.sha" "Bearer `+token+`"`) {
					t.Errorf("got the request %s", r)
				}
			}
		})
	}
}

// A ref that has no commit leaves its part alone.
func TestUnknownRefs(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		header http.Header
		ref    string
		repo   string
		class  reconcile.FailureClass
		want   string
	}{
		"unknown": {ref: "none", class: reconcile.ClassConfig,
			want: "GitHub answers 422 Unprocessable Entity; correct the ref, or let the token read the repository"},
		"no repository": {ref: "main", status: 404, class: reconcile.ClassConfig,
			want: "GitHub answers 404 Not Found; correct the ref, or let the token read the repository"},
		"moved": {ref: "main", status: 302, header: http.Header{"Location": {"https://evil.example.com"}},
			class: reconcile.ClassConfig,
			want:  "GitHub: it sends us to another address; correct the repository in the data, or the address of GitHub in the settings"},
		"broken": {ref: "main", status: 503, class: reconcile.ClassTransient,
			want: "GitHub answers 503 Service Unavailable"},
		"too many requests": {ref: "main", status: 403, header: http.Header{"X-Ratelimit-Remaining": {"0"}},
			class: reconcile.ClassTransient, want: "GitHub answers 403 Forbidden"},
		"forbidden": {ref: "main", status: 403, class: reconcile.ClassConfig,
			want: "GitHub answers 403 Forbidden; correct the ref, or let the token read the repository"},
		"no commit": {ref: "main", body: "<html>", class: reconcile.ClassTransient,
			want: "GitHub answers with something else than a commit"},
		"another host": {ref: "main", repo: "https://gitlab.com/a/b", class: reconcile.ClassConfig,
			want: `only commits of repositories of GitHub can be found, and "https://gitlab.com/a/b" is none`},
		"a repository above": {ref: "main", repo: "https://github.com/../x", class: reconcile.ClassConfig,
			want: `"https://github.com/../x" names no repository`},
	} {
		hub := newGitHub(t)
		hub.status, hub.body, hub.header = c.status, c.body, c.header
		d := example(t)
		if c.repo != "" {
			d.Data[terraformFile]["upstream"], d.Data[managerFile]["upstream"] = c.repo, c.repo
		}
		_, _, err := d.completed(t, "github: {url: "+hub.URL+"}\nimage_tag_from_ref: {production: "+c.ref+"}", nil)
		if err == nil || reconcile.ClassOf(err) != c.class || !strings.HasSuffix(err.Error(), ": "+c.want) ||
			!strings.HasPrefix(err.Error(), "REF: finding the commit of \""+c.ref+"\" in ") {
			t.Errorf("%s: got %v of class %s", name, err, reconcile.ClassOf(err))
		}
		if len(hub.requests) > 1 {
			t.Errorf("%s: asked more than once: %q", name, hub.requests)
		}
	}
}

// A run asks once for each ref, and the next run asks again.
func TestRefsOfARun(t *testing.T) {
	hub := newGitHub(t)
	d := example(t)
	d.copyOf(namespaceFile, "/namespaces/b.yml", object{"name": "b"})
	d.Data[managerFile]["managed"] = append(d.Data[managerFile]["managed"].([]any),
		object{"namespace": ref("/namespaces/b.yml"), "spec": d.entry(managerFile, 0)["spec"]})
	own := "github: {url: " + hub.URL + "}\nimage_tag_from_ref: {production: main}"
	made, env := parts(), integration.Environment{}
	for run := range 2 {
		env, _ = environmentOf(t, own, nil)
		got, err := made.Desired(t.Context(), d.query(t), env.Settings)
		if err != nil || len(got.Parts) != 2 {
			t.Fatal(got, err)
		}
		for _, p := range got.Parts {
			if _, err := made.Complete(t.Context(), env, p); err != nil {
				t.Fatal(err)
			}
		}
		if len(hub.requests) != run+1 {
			t.Errorf("run %d: got %q", run, hub.requests)
		}
	}
}

// Nobody but the owner of a secret may fail to read it: a part says so.
func TestNoSecret(t *testing.T) {
	hub := newGitHub(t)
	own := "github: {url: " + hub.URL + ", token: {path: a, field: b}}\nimage_tag_from_ref: {production: main}"
	if _, _, err := example(t).completed(t, own,
		nil); err == nil || !strings.Contains(err.Error(), "reading the token of GitHub: asked for {a b }") ||
		len(hub.requests) > 0 {
		t.Errorf("got %v, %q", err, hub.requests)
	}
	env, _ := environmentOf(t, own, nil)
	env.Secret = nil
	if _, err := completer(&resolver{})(t.Context(), env, example(t).desired(t, own).Parts[0]); err == nil ||
		reconcile.ClassOf(err) != reconcile.ClassConfig {
		t.Errorf("got %v", err)
	}
}

// An image that is none with the value of a variable is a mistake of its items alone.
func TestImageOfVariable(t *testing.T) {
	d := example(t)
	d.at(managerFile, "managed", 0, "spec")["imageRef"] = "abc"
	got, _, err := d.completed(t, "pass_env: [IMAGE_TAG]", map[string]string{"IMAGE_TAG": "a b"})
	if err != nil {
		t.Fatal(err)
	}
	if it := item(t, got, imageKey); it.Mistake.Code != codeRender {
		t.Errorf("got %+v", it.Mistake)
	}
	if it := item(t, got,
		exampleItems+"Deployment/qontract-reconcile-integrations-manager"); it.Mistake != (reconcile.Mistake{}) {
		t.Errorf("got %+v", it.Mistake)
	}
}

// A text of the data that looks like an open value is a mistake: it could ask for any.
func TestReservedText(t *testing.T) {
	d := example(t)
	d.at(terraformFile, "managed", 0, "spec")["extraArgs"] = "${late:HOME}"
	got := told(d.desired(t, "pass_env: [IMAGE_TAG]"))
	if want := "RENDER " + terraformFile + "/managed/0: a value has the text ${late:, which is reserved"; len(got) != 1 ||
		got[0] != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The resolver ends when the run does.
func TestCanceledRef(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	env, _ := environmentOf(t, "", nil)
	_, err := new(resolver).commit(ctx, env, gitHub{URL: newGitHub(t).URL},
		late{Repo: "https://github.com/a/b", Ref: "main", Length: 7})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
