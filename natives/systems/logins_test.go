package systems

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/outward"
	recorded "github.com/app-sre/prcheck/internal/shared"
)

// A loginScene is an API, a service of tokens, another server, and the secrets for them.
type loginScene struct {
	*Systems
	*learner
	t       *testing.T
	clock   *clock
	secrets map[string]string // by variable

	mu      sync.Mutex
	answers []int // of the API, in turn; then 200
	seen    []*http.Request
	bodies  []string
	grants  []map[string]string // requests for tokens
	life    any                 // of the tokens in seconds, nil is not said
	other   int                 // requests that the other server got

	api, tokens, elsewhere string
	grantStatus            int
	redirect               bool
}

func newLoginScene(t *testing.T) *loginScene {
	s := &loginScene{t: t, learner: &learner{}, clock: &clock{at: time.Now()},
		secrets: map[string]string{"APP_CLOUD_SECRET": "k"}}
	s.Systems = New(Sources{Settings: readSettings(t, "{env: {prefix: APP}}"),
		Getenv: func(name string) string { return s.secrets[name] }, Learn: s.learn}).For("generic")
	s.now = s.clock.now
	serve := func(f http.HandlerFunc) string {
		server := httptest.NewServer(f)
		t.Cleanup(server.Close)
		return server.URL
	}
	s.elsewhere = serve(func(http.ResponseWriter, *http.Request) { s.other++ })
	s.tokens = serve(s.grant) + "/token"
	s.api = serve(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		raw, _ := io.ReadAll(r.Body)
		s.seen, s.bodies = append(s.seen, r), append(s.bodies, string(raw))
		status := http.StatusOK
		if len(s.answers) > 0 {
			status, s.answers = s.answers[0], s.answers[1:]
		}
		if s.redirect {
			http.Redirect(w, r, s.elsewhere+"/", http.StatusTemporaryRedirect)
			return
		}
		w.WriteHeader(status)
	})
	return s
}

// grant gives a token.
func (s *loginScene) grant(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = r.ParseForm()
	got := map[string]string{"method": r.Method, "authorization": r.Header.Get("Authorization")}
	for name := range r.PostForm {
		got[name] = r.PostForm.Get(name)
	}
	s.grants = append(s.grants, got)
	w.Header().Set("Content-Type", "application/json")
	if s.grantStatus != 0 {
		w.WriteHeader(s.grantStatus)
		_, _ = io.WriteString(w, `{"error": "invalid_client", "error_description": "the words of the service `+theValue+`"}`)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": fmt.Sprintf("granted-token-%d", len(s.grants)),
		"token_type": "bearer", "expires_in": s.life})
}

// ref returns the API with a login.
func (s *loginScene) ref(l integration.Login) integration.EndpointRef {
	if l.Kind == integration.LoginClient || l.Kind == integration.LoginFederated {
		l.TokenURL, l.ClientID = cmp.Or(l.TokenURL, s.tokens), cmp.Or(l.ClientID, "prcheck")
	}
	ref := integration.EndpointRef{Name: "cloud", URL: s.api, Login: l}
	if l.Kind != integration.LoginFederated {
		ref.Token = integration.SecretRef{Path: "cloud", Field: "secret"}
	}
	return ref
}

// ask sends a request as a reader, and returns its status.
func (s *loginScene) ask(ref integration.EndpointRef) (int, error) {
	return s.send(ref, http.MethodGet, "")
}

func (s *loginScene) send(ref integration.EndpointRef, method, body string) (int, error) {
	s.t.Helper()
	transport, err := s.Endpoint(ref, outward.Anything)
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.api+"/a", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}

// tokenFile writes a file with the token of the platform.
func (s *loginScene) tokenFile(text string) string {
	s.t.Helper()
	name := filepath.Join(s.t.TempDir(), "token")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return name
}

// Each kind of credential is sent as its standard says, is renewed in time and once when it is refused.
func TestCredentialCases(t *testing.T) {
	type credentialCase struct {
		Input struct {
			Kind, Header, Value, User, Password, Scope string
			ClientID                                   string `json:"client_id"`
			ExpiresIn                                  any    `json:"expires_in"`
			RequestsAt                                 []int  `json:"requests_at"`
			Answers                                    []int
			Redirect                                   string
		}
		Expected struct {
			TokenRequests *int `json:"token_requests"`
			Outcome       string
			Headers       map[string]string
			Absent        []string
			SentToOther   *bool `json:"sent_to_other"`
		}
	}
	recorded.Each(t, "credentials", func(t *testing.T, c credentialCase) {
		s, in := newLoginScene(t), c.Input
		s.life, s.answers, s.redirect = in.ExpiresIn, in.Answers, in.Redirect != ""
		s.secrets["APP_CLOUD_SECRET"] = cmp.Or(in.Value, in.Password, "k")
		l := integration.Login{Kind: integration.LoginKind(in.Kind), Header: in.Header, User: in.User, Scope: in.Scope,
			ClientID: in.ClientID}
		if l.Kind == integration.LoginFederated {
			l.TokenFile = s.tokenFile("the-token-of-the-platform")
		}
		ref, outcome := s.ref(l), "ok"
		if len(in.RequestsAt) == 0 {
			in.RequestsAt = []int{0}
		}
		began := s.clock.now()
		for _, at := range in.RequestsAt {
			s.clock.move(began.Add(time.Duration(at) * time.Second).Sub(s.clock.now()))
			if status, err := s.ask(ref); err != nil || status >= 400 {
				outcome = "error"
			}
		}
		if want := c.Expected.TokenRequests; want != nil && len(s.grants) != *want {
			t.Errorf("got %d token requests, want %d", len(s.grants), *want)
		}
		if c.Expected.Outcome != "" && outcome != c.Expected.Outcome {
			t.Errorf("got the outcome %s, want %s", outcome, c.Expected.Outcome)
		}
		last := s.seen[len(s.seen)-1]
		for name, want := range c.Expected.Headers {
			if got := last.Header.Get(name); got != want {
				t.Errorf("got the header %s: %q, want %q", name, got, want)
			}
		}
		for _, name := range c.Expected.Absent {
			if last.Header.Get(name) != "" {
				t.Errorf("the request has the header %s", name)
			}
		}
		if want := c.Expected.SentToOther; want != nil && (s.other > 0) != *want {
			t.Errorf("the other server got %d requests", s.other)
		}
	})
}

// What is sent to a service of tokens, and to the API with what it gives.
func TestExchanges(t *testing.T) {
	for name, c := range map[string]struct {
		login integration.Login
		want  map[string]string
	}{
		"the secret in the header": {integration.Login{Kind: integration.LoginClient, Scope: "read write"},
			map[string]string{"grant_type": "client_credentials", "scope": "read write",
				"authorization": outward.Basic("prcheck", "k"), "client_secret": ""}},
		"the secret in the body": {integration.Login{Kind: integration.LoginClient, InBody: true},
			map[string]string{"authorization": "", "client_id": "prcheck", "client_secret": "k"}},
		"a token of the platform": {integration.Login{Kind: integration.LoginFederated},
			map[string]string{"authorization": "", "client_id": "prcheck", "client_secret": "",
				"client_assertion":      "of-the-platform",
				"client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newLoginScene(t)
			s.life = 3600
			if c.login.Kind == integration.LoginFederated {
				c.login.TokenFile = s.tokenFile("of-the-platform\n")
			}
			if status, err := s.ask(s.ref(c.login)); err != nil || status != 200 {
				t.Fatalf("got %d, %v", status, err)
			}
			for field, want := range c.want {
				if got := s.grants[0][field]; got != want {
					t.Errorf("%s: got %q, want %q", field, got, want)
				}
			}
			if got := s.seen[0].Header.Get("Authorization"); got != "Bearer granted-token-1" {
				t.Errorf("the API got %q", got)
			}
			if !s.knows("granted-token-1") {
				t.Error("whoever masks does not know the token")
			}
			if c.login.Kind != integration.LoginFederated {
				return
			}
			if err := os.WriteFile(c.login.TokenFile, []byte("the-next-one"), 0o600); err != nil {
				t.Fatal(err)
			}
			s.clock.move(time.Hour)
			if _, err := s.ask(s.ref(c.login)); err != nil || s.grants[1]["client_assertion"] != "the-next-one" {
				t.Errorf("got %v, %v", s.grants, err)
			}
		})
	}
}

// A request that is refused is sent once more with its body, and only if there is another credential.
func TestRefusedCredentials(t *testing.T) {
	s := newLoginScene(t)
	s.answers = []int{401, 200}
	status, err := s.send(s.ref(integration.Login{Kind: integration.LoginClient}), http.MethodPut, "the body")
	if err != nil || status != 200 || len(s.bodies) != 2 || s.bodies[1] != "the body" {
		t.Errorf("got %d, %v and %q", status, err, s.bodies)
	}
	s = newLoginScene(t)
	s.answers = []int{401, 200}
	if status, err := s.ask(s.ref(integration.Login{})); err != nil || status != 401 || len(s.seen) != 1 {
		t.Errorf("the same token: got %d, %v after %d requests", status, err, len(s.seen))
	}
	s.answers = []int{401, 200}
	s.secrets["APP_CLOUD_SECRET"] = "another-one"
	if status, err := s.ask(s.ref(integration.Login{})); err != nil || status != 200 || len(s.seen) != 3 {
		t.Errorf("another token: got %d, %v after %d requests", status, err, len(s.seen))
	}
}

// Several requests at once fetch one token.
func TestOneExchange(t *testing.T) {
	s := newLoginScene(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := s.ask(s.ref(integration.Login{Kind: integration.LoginClient})); err != nil {
				t.Error(err)
			}
		})
	}
	if group.Wait(); len(s.grants) != 1 {
		t.Errorf("got %d token requests, want 1", len(s.grants))
	}
}

// What is wrong with a login is one clear error, which has no secret and no words of a service. Nothing is sent.
func TestWrongLogins(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*loginScene, *integration.EndpointRef)
		want   string
		class  integration.FailureClass
	}{
		"no kind": {func(_ *loginScene, r *integration.EndpointRef) { r.Login = integration.Login{Kind: "digest"} },
			`no login of the kind "digest"`, integration.FailureOfConfig},
		"no header": {func(_ *loginScene, r *integration.EndpointRef) {
			r.Login = integration.Login{Kind: integration.LoginHeader}
		},
			"the name of a header", integration.FailureOfConfig},
		"a header that is none": {func(_ *loginScene, r *integration.EndpointRef) {
			r.Login = integration.Login{Kind: integration.LoginHeader, Header: "A b"}
		}, "no credential has the name", integration.FailureOfConfig},
		"a header of the request": {func(_ *loginScene, r *integration.EndpointRef) {
			r.Login = integration.Login{Kind: integration.LoginHeader, Header: "host"}
		}, "no credential has the name", integration.FailureOfConfig},
		"a user with a colon": {func(_ *loginScene, r *integration.EndpointRef) {
			r.Login = integration.Login{Kind: integration.LoginBasic, User: "a:b"}
		}, "without a colon", integration.FailureOfConfig},
		"plain http": {func(_ *loginScene, r *integration.EndpointRef) { r.Login.TokenURL = "http://login.example/token" },
			"must be https", integration.FailureOfConfig},
		"a user in the address": {func(_ *loginScene, r *integration.EndpointRef) {
			r.Login.TokenURL = "https://me@login.example/token"
		}, "must be https", integration.FailureOfConfig},
		"no file": {func(_ *loginScene, r *integration.EndpointRef) { r.Login.Kind = integration.LoginFederated },
			"the file of its token", integration.FailureOfConfig},
		"a file that is not there": {func(s *loginScene, r *integration.EndpointRef) {
			r.Login.Kind, r.Login.TokenFile = integration.LoginFederated, s.tokenFile("")+"-gone"
		}, "cannot be read", integration.FailureOfConfig},
		"it is refused": {func(s *loginScene, _ *integration.EndpointRef) { s.grantStatus = 401 },
			"answers 401, invalid_client: look at the client", integration.FailureOfConfig},
		"it is down": {func(s *loginScene, _ *integration.EndpointRef) { s.grantStatus = 503 }, "answers 503",
			integration.FailureTransient},
		"insecure": {func(_ *loginScene, r *integration.EndpointRef) {
			r.URL, r.Insecure, r.Token = "https://api.example", true, integration.SecretRef{}
		}, "remove insecure", integration.FailureOfConfig},
	} {
		t.Run(name, func(t *testing.T) {
			s := newLoginScene(t)
			s.secrets["APP_CLOUD_SECRET"] = theValue
			ref := s.ref(integration.Login{Kind: integration.LoginClient})
			c.change(s, &ref)
			_, err := s.ask(ref)
			if err == nil || !strings.Contains(err.Error(), c.want) || integration.ClassOfFailure(err) != c.class {
				t.Fatalf("got %v of the class %s, want %q", err, integration.ClassOfFailure(err), c.want)
			}
			checkSilent(t, err)
			if len(s.seen) > 0 {
				t.Error("the API was asked")
			}
		})
	}
}
