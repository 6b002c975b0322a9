package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/internal/origin"
)

// A fake is a registry with one image for tests, and the place of its tokens.
type fake struct {
	*httptest.Server
	images   map[string]string // digest by repository and tag
	login    services.Login    // that is needed; the zero value is none
	isBearer bool              // a token is needed
	realm    string            // "" is this server
	answer   http.HandlerFunc  // nil is as a registry does

	mu       sync.Mutex
	requests []string
}

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func newFake(t *testing.T) *fake {
	f := &fake{images: map[string]string{"shop/web:1": digest, "shop/web:" + digest: digest}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *fake) host() string { return strings.TrimPrefix(f.URL, "http://") }

// ServeHTTP implements [http.Handler].
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	f.mu.Lock()
	f.requests = append(f.requests, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+user))
	f.mu.Unlock()
	w.Header().Set("Docker-Distribution-Api-Version", "registry/2.0")
	isKnown := user == f.login.User && password == f.login.Password
	rest, _ := strings.CutPrefix(r.URL.Path, "/v2/")
	repository, tag, _ := strings.Cut(rest, "/manifests/")
	switch image, ok := f.images[repository+":"+tag]; {
	case f.answer != nil:
		f.answer(w, r)
	case r.URL.Path == "/token" && isKnown:
		fmt.Fprintf(w, `{"token": "t-%s", "expires_in": 300}`, r.URL.Query().Get("scope"))
	case r.URL.Path == "/token":
		w.WriteHeader(http.StatusUnauthorized)
	case f.isBearer && r.Header.Get("Authorization") != "Bearer t-repository:"+repository+":pull":
		realm := f.realm
		if realm == "" {
			realm = f.URL + "/token"
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+realm+`",service="registry",scope="repository:x:push"`)
		w.WriteHeader(http.StatusUnauthorized)
	case !f.isBearer && f.login != services.Login{} && !isKnown:
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	case !strings.Contains(r.Header.Get("Accept"), "application/vnd.oci.image.index.v1+json"):
		w.WriteHeader(http.StatusNotAcceptable)
	default:
		w.Header().Set("Docker-Content-Digest", image)
	}
}

func reader() *Registry { return WithPause(time.Millisecond) }

func TestDigest(t *testing.T) {
	login := services.Login{User: "robot", Password: "s3cret"}
	for _, c := range []struct {
		name     string
		login    services.Login // that the registry needs
		isBearer bool
		sent     services.Login
		image    string
		want     string // the digest, or a part of the error
		requests []string
	}{
		{"open", services.Login{}, false, services.Login{}, "shop/web:1", digest, []string{"HEAD /v2/shop/web/manifests/1"}},
		{"by digest", services.Login{}, false, services.Login{}, "shop/web:old@" + digest, digest,
			[]string{"HEAD /v2/shop/web/manifests/" + digest}},
		{"an open registry gets no login", services.Login{}, false, login, "shop/web:1", digest,
			[]string{"HEAD /v2/shop/web/manifests/1"}},
		{"a token for everybody", services.Login{}, true, services.Login{}, "shop/web:1", digest,
			[]string{"HEAD /v2/shop/web/manifests/1", "GET /token", "HEAD /v2/shop/web/manifests/1"}},
		{"a token for a login", login, true, login, "shop/web:1", digest,
			[]string{"HEAD /v2/shop/web/manifests/1", "GET /token robot", "HEAD /v2/shop/web/manifests/1"}},
		{"a login", login, false, login, "shop/web:1", digest,
			[]string{"HEAD /v2/shop/web/manifests/1", "HEAD /v2/shop/web/manifests/1 robot"}},
		{"no login for a token", login, true, services.Login{}, "shop/web:1", "it answers 401",
			[]string{"HEAD /v2/shop/web/manifests/1", "GET /token"}},
		{"no login", login, false, services.Login{}, "shop/web:1", "it answers 401",
			[]string{"HEAD /v2/shop/web/manifests/1"}},
		{"no such image", login, true, login, "shop/web:2", "it is not there",
			[]string{"HEAD /v2/shop/web/manifests/2", "GET /token robot", "HEAD /v2/shop/web/manifests/2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t)
			f.login, f.isBearer = c.login, c.isBearer
			got, err := reader().Digest(t.Context(), services.Image{Name: f.host() + "/" + c.image, Login: c.sent})
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, c.want) || strings.Contains(got, "s3cret") ||
				errors.Is(err, services.ErrNotThere) != (c.want == "it is not there") {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if !slices.Equal(f.requests, c.requests) {
				t.Errorf("asked %q, want %q", f.requests, c.requests)
			}
		})
	}
}

// A token is kept while it is valid, and only for its repository and its login.
func TestTokens(t *testing.T) {
	f, r := newFake(t), reader()
	f.isBearer = true
	f.images["shop/api:1"] = digest
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	r.now = func() time.Time { return now }
	ask := func(image string, want int) {
		t.Helper()
		f.requests = nil
		if _, err := r.Digest(t.Context(), services.Image{Name: f.host() + "/" + image}); err != nil ||
			len(f.requests) != want {
			t.Errorf("got %v and the requests %q, want %d", err, f.requests, want)
		}
	}
	ask("shop/web:1", 3)
	ask("shop/web:1", 1)
	ask("shop/api:1", 3)
	now = now.Add(201 * time.Second)
	ask("shop/web:1", 3)
}

// Tokens come from no other host than the registry, unless the settings name that host.
func TestRealms(t *testing.T) {
	for _, c := range []struct {
		name, realm string
		want        string
	}{
		{"another host", "https://tokens.example.com/token",
			`its tokens come from "tokens.example.com", which is another server: add it to hosts`},
		{"another port", "http://127.0.0.1:1/token", `its tokens come from "127.0.0.1:1", which`},
		{"without TLS", "http://tokens.example.com/token", "it does not say where its tokens come from"},
		{"with a user", "https://a@tokens.example.com/token", "it does not say where its tokens come from"},
		{"no address", "", "it does not say where its tokens come from"},
	} {
		f, r := newFake(t), reader()
		f.isBearer, f.realm = true, c.realm
		if c.realm == "" {
			f.realm = "none"
		}
		for _, login := range []services.Login{{}, {User: "robot", Password: "s3cret"}} {
			_, err := r.Digest(t.Context(), services.Image{Name: f.host() + "/shop/web:1", Login: login,
				TokensFrom: []string{"example.com", "127.0.0.1"}})
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, services.ErrNotThere) {
				t.Errorf("%s: got %v, want %q", c.name, err, c.want)
			}
		}
	}
	for _, c := range []struct {
		registry, realm string
		want            bool
	}{
		{hub, "https://auth.docker.io/token", true}, {hub, "https://auth.docker.io:444/token", false},
		{"quay.io", "https://auth.docker.io/token", false},
		{"quay.io", "https://quay.io/v2/auth", true}, {"quay.io", "https://QUAY.io:443/v2/auth", true},
		{"quay.io", "https://quay.io:8443/v2/auth", false},
		{"quay.io:8443", "https://quay.io:8443/v2/auth", true}, {"quay.io:8443", "https://quay.io/v2/auth", false},
	} {
		realm, err := origin.Parse(c.realm)
		if got := givesTokens(c.registry, realm); err != nil || got != c.want {
			t.Errorf("%s has its tokens from %s: %t, %v", c.registry, c.realm, got, err)
		}
	}
}

// A server that the settings name gives tokens, and gets the login.
func TestTokensFromElsewhere(t *testing.T) {
	f, tokens, login := newFake(t), newFake(t), services.Login{User: "robot", Password: "s3cret"}
	f.isBearer, f.realm, tokens.login = true, tokens.URL+"/token", login
	got, err := reader().Digest(t.Context(), services.Image{Name: f.host() + "/shop/web:1", Login: login,
		TokensFrom: []string{tokens.host()}})
	if got != digest || err != nil || !slices.Equal(tokens.requests, []string{"GET /token robot"}) {
		t.Errorf("got %q, %v; the server of tokens was asked %q", got, err, tokens.requests)
	}
}

// What is not an answer of a registry says nothing about the image.
func TestNonsense(t *testing.T) {
	say := func(status int, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Del("Docker-Distribution-Api-Version")
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
		asked  int
	}{
		"a page that is not there": {say(404, "Content-Type", "text/html"),
			"it does not answer as a registry does (tried 3 times)", 6},
		"JSON of something else": {page(404, `{"errors": [{"code": "OTHER"}]}`),
			"it does not answer as a registry does (tried 3 times)", 6},
		"nothing at all": {page(404, ""), "it does not answer as a registry does (tried 3 times)", 6},
		"no digest":      {say(200), "the registry does not tell the digest (tried 3 times)", 3},
		"a digest that is none": {say(200, "Docker-Content-Digest", "sha256:zz"),
			"the registry does not tell the digest (tried 3 times)", 3},
		"too many requests": {say(429, "Retry-After", "0"), "it answers 429 (tried 3 times)", 3},
		"down":              {say(503), "it answers 503 (tried 3 times)", 3},
		"another place": {say(307, "Location", "https://elsewhere.example.com/"), "it sends us to another address",
			1},
		"a token that is none": {tokenOf(`{"token": "a\nb"}`), "the place of its tokens answers nonsense (tried 3 times)",
			6},
		"a token that is too long": {tokenOf(`{"token": "` + strings.Repeat("a", maxToken) + `"}`),
			"the place of its tokens answers nonsense (tried 3 times)", 6},
		"no token": {tokenOf(`{}`), "the place of its tokens answers nonsense (tried 3 times)", 6},
		"the connection ends": {func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, "it ends its answer early (tried 3 times)", 3},
	} {
		f := newFake(t)
		f.answer = func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Realm", f.URL)
			c.answer(w, r)
		}
		_, err := reader().Digest(t.Context(), services.Image{Name: f.host() + "/shop/web:1"})
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, services.ErrNotThere) ||
			integration.ClassOfFailure(err) == "" {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if name != "the connection ends" && len(f.requests) != c.asked {
			t.Errorf("%s: %d requests, want %d", name, len(f.requests), c.asked)
		}
	}
}

// A registry that does not name its API says by an error that it has no such image.
func TestUnknownWithoutHeader(t *testing.T) {
	f := newFake(t)
	f.answer = page(404, `{"errors":[{"code":"MANIFEST_UNKNOWN","message":"x"}]}`)
	if _, err := reader().Digest(t.Context(), services.Image{Name: f.host() + "/shop/web:1"}); !errors.Is(err,
		services.ErrNotThere) || len(f.requests) != 2 {
		t.Errorf("got %v after %q", err, f.requests)
	}
}

// An image that is named by its digest has no other one.
func TestAnotherDigest(t *testing.T) {
	f := newFake(t)
	f.images["shop/web:"+digest] = strings.Replace(digest, "0", "f", 1)
	if got, err := reader().Digest(t.Context(), services.Image{Name: f.host() + "/shop/web@" + digest}); err == nil ||
		!strings.Contains(err.Error(), "the registry answers for another digest") {
		t.Errorf("got %q and %v", got, err)
	}
}

// page answers without the header of the API.
func page(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Del("Docker-Distribution-Api-Version")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// tokenOf wants a token and gives this one.
func tokenOf(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			fmt.Fprint(w, body)
			return
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+w.Header().Get("X-Realm")+`/token"`)
		w.WriteHeader(http.StatusUnauthorized)
	}
}

func TestSlowRegistry(t *testing.T) {
	f, r := newFake(t), reader()
	f.answer = func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() }
	r.timeout = 20 * time.Millisecond
	if _, err := r.Digest(t.Context(), services.Image{Name: f.host() + "/shop/web:1"}); err == nil ||
		!strings.Contains(err.Error(), "does not answer in time") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if _, err := r.Digest(ctx, services.Image{Name: f.host() + "/shop/web:1"}); err == nil ||
		!strings.Contains(err.Error(), "enough") {
		t.Errorf("got %v, want the cause", err)
	}
}

func TestParse(t *testing.T) {
	for image, want := range map[string]reference{
		"quay.io/shop/web:1":                    {"quay.io", "shop/web", "1"},
		"quay.io/shop/web":                      {"quay.io", "shop/web", "latest"},
		"quay.io/shop/web:1@" + digest:          {"quay.io", "shop/web", digest},
		"localhost:5000/web:a.b-c":              {"localhost:5000", "web", "a.b-c"},
		"web":                                   {hub, "library/web", "latest"},
		"shop/web:1":                            {hub, "shop/web", "1"},
		"docker.io/web":                         {hub, "library/web", "latest"},
		"Quay.IO/a/b/c:1":                       {"quay.io", "a/b/c", "1"},
		"quay.io/../x:1":                        {},
		"quay.io/x?y:1":                         {},
		"quay.io/x:" + strings.Repeat("a", 129): {},
		"quay.io@evil.example.com/x":            {},
		"quay.io/x@sha256:1":                    {},
		"":                                      {},
		" ":                                     {},
		"quay.io/":                              {},
		"quay.io/Upper:1":                       {},
		"a:b:c/x":                               {},
		strings.Repeat("a", 600):                {},
	} {
		got, ok := parse(image)
		if isThere := want != (reference{}); ok != isThere || ok && got != want {
			t.Errorf("%q: got %v, %t, want %v", image, got, ok, want)
		}
	}
}

// The address of an image is always one of its registry.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"quay.io/shop/web:1", "a@b/c", "x//y", "quay.io:443/a/../b", "[::1]:5000/x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, image string) {
		of, ok := parse(image)
		if !ok {
			return
		}
		req, err := http.NewRequest(http.MethodHead, of.address(), nil)
		if err != nil || req.URL.Host != of.host || req.URL.RawQuery != "" ||
			req.URL.Path != "/v2/"+of.repository+"/manifests/"+of.tag {
			t.Errorf("%q becomes %v, %v", image, of, err)
		}
	})
}
