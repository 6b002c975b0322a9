package systems

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/outward"
)

// An endpointServer notes what it is asked.
func endpointServer(t *testing.T, seen *[]string) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*seen = append(*seen, r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Authorization"))
		if r.URL.Path == "/moved" {
			w.Header().Set("Location", "https://elsewhere.example/")
			w.WriteHeader(http.StatusTemporaryRedirect)
			return
		}
		_, _ = io.WriteString(w, `{}`)
	}))
	t.Cleanup(s.Close)
	return s
}

// Readers of an API send nothing that writes, and nobody sends a token to another host.
func TestEndpoints(t *testing.T) {
	var seen []string
	server := endpointServer(t, &seen)
	token := "first-token-of-the-api"
	l := &learner{}
	s := New(Sources{Settings: readSettings(t, "{env: {prefix: APP}}"), Getenv: func(string) string { return token },
		Learn: l.learn}).For("generic")
	c := &clock{at: time.Now()}
	s.now = c.now
	ref := integration.EndpointRef{Name: "cloud", URL: server.URL,
		Token: integration.SecretRef{Path: "cloud", Field: "token"}, Reads: []string{"listKeys"}}
	open := map[string]func(context.Context, integration.EndpointRef) (http.RoundTripper, error){
		"reader": s.EndpointReader, "trial": s.EndpointTrial,
		"writer": func(_ context.Context, ref integration.EndpointRef) (http.RoundTripper, error) {
			return s.Endpoint(ref, outward.Anything)
		}}
	for _, of := range []struct{ method, path, allowed string }{
		{"GET", "/a?x=1", "reader trial writer"},
		{"HEAD", "/a", "reader trial writer"},
		{"POST", "/a/listKeys", "reader trial writer"},
		{"POST", "/a%2FlistKeys", "writer"},
		{"POST", "/a", "writer"},
		{"PUT", "/a/listKeys", "writer"},
		{"PATCH", "/a?dryRun=All", "trial writer"},
		{"PATCH", "/a?dryRun=All&dryRun=", "writer"},
		{"DELETE", "/a?dryrun=All", "writer"},
		{"OPTIONS", "/a", "writer"},
	} {
		for who, make := range open {
			transport, err := make(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			seen = nil
			req, err := http.NewRequestWithContext(t.Context(), of.method, server.URL+of.path, strings.NewReader("x"))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer of-the-caller")
			res, err := transport.RoundTrip(req)
			if err == nil {
				_ = res.Body.Close()
			}
			isAllowed := strings.Contains(of.allowed, who)
			want := of.method + " " + of.path + " Bearer " + token
			if isAllowed != (err == nil) || isAllowed && (len(seen) != 1 || seen[0] != want) || !isAllowed && len(seen) > 0 {
				t.Errorf("%s %s of the %s: got %v, the server saw %q", of.method, of.path, who, err, seen)
			}
		}
	}
	if !l.knows(token) {
		t.Error("whoever masks does not know the token")
	}
	token = "second-token-of-the-api"
	c.move(keepSecret + time.Second)
	seen = nil
	if _, err := ask(t, s, ref, server.URL+"/a"); err != nil || len(seen) != 1 || !strings.HasSuffix(seen[0], token) {
		t.Errorf("a new token: got %v, %q", err, seen)
	}
}

// ask sends a GET as a reader of an API.
func ask(t *testing.T, s *Systems, ref integration.EndpointRef, address string) (int, error) {
	t.Helper()
	transport, err := s.EndpointReader(t.Context(), ref)
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}

// What an API or its data do wrong sends no token anywhere else.
func TestWrongEndpoints(t *testing.T) {
	var seen []string
	server := endpointServer(t, &seen)
	s := New(Sources{Settings: readSettings(t, "{env: {prefix: APP}}"), Getenv: func(name string) string {
		return map[string]string{"APP_CLOUD_TOKEN": theValue, "APP_CLOUD_LINES": theValue + "\nx: y"}[name]
	}}).For("generic")
	for name, c := range map[string]struct {
		url, field, address, want string
		insecure                  bool
	}{
		"another host":   {server.URL, "token", "https://elsewhere.example/", "nothing is sent", false},
		"another port":   {server.URL, "token", "http://127.0.0.1:1/", "nothing is sent", false},
		"another scheme": {server.URL, "token", strings.Replace(server.URL, "http:", "https:", 1), "nothing is sent", false},
		"a user": {server.URL, "token", strings.Replace(server.URL, "http://", "http://me:too@", 1),
			"nothing is sent", false},
		"a redirect":    {server.URL, "token", server.URL + "/moved", "sends us to another address", false},
		"plain http":    {"http://api.example", "token", "http://api.example/", "https://", false},
		"no address":    {"management", "token", "", "its address", false},
		"a query":       {"https://api.example/?a=b", "token", "", "its address", false},
		"insecure":      {"https://api.example", "token", "", "certificate", true},
		"no secret":     {server.URL, "no", server.URL, `the token of the API "cloud"`, false},
		"several lines": {server.URL, "lines", server.URL, "characters", false},
	} {
		seen = nil
		_, err := ask(t, s, integration.EndpointRef{Name: "cloud", URL: c.url, Insecure: c.insecure,
			Token: integration.SecretRef{Path: "cloud", Field: c.field}}, c.address)
		if err == nil || !strings.Contains(err.Error(), c.want) ||
			integration.ClassOfFailure(err) != integration.FailureOfConfig {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
			continue
		}
		checkSilent(t, err)
		if len(seen) > 0 && name != "a redirect" {
			t.Errorf("%s: the server saw %q", name, seen)
		}
	}
}
