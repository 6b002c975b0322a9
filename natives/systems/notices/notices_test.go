package notices_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/systems/notices"
)

const sha = "3f1c9a0b5d7e8f60123456789abcdef012345678"

// A sink answers what it is told to, and keeps requests.
type sink struct {
	answers []int
	text    string
	seen    []string
}

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	s.seen = append(s.seen, r.Method+" "+r.URL.EscapedPath()+" "+r.Header.Get("Authorization")+" "+
		r.Header.Get("Content-Type")+" "+string(raw))
	code := 204
	if len(s.answers) > 0 {
		code, s.answers = s.answers[0], s.answers[1:]
	}
	if code == http.StatusFound {
		w.Header().Set("Location", "https://other.invalid/")
	}
	w.WriteHeader(code)
	_, _ = io.WriteString(w, s.text)
}

// An event has the members that CloudEvents 1.0 requires, and goes to the one address with its token.
func TestEvent(t *testing.T) {
	s := &sink{answers: []int{503, 202}}
	server := httptest.NewServer(s)
	defer server.Close()
	c := notices.Sender{Pause: time.Millisecond}
	e := services.Event{ID: "1", Source: "/prcheck/x", Type: "prcheck.saas.failed", Subject: "shop/web",
		At: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC), Data: json.RawMessage(`{"commit":"x"}`)}
	to := services.Address{URL: server.URL + "/in?x=1", Token: "sesame"}
	if err := c.Event(t.Context(), to, e); err != nil || len(s.seen) != 2 {
		t.Fatalf("%v %q", err, s.seen)
	}
	const want = `POST /in Bearer sesame application/cloudevents+json {"specversion":"1.0","id":"1","source":"/prcheck/x",` +
		`"type":"prcheck.saas.failed","subject":"shop/web","time":"2026-05-04T12:00:00Z",` +
		`"datacontenttype":"application/json","data":{"commit":"x"}}`
	if s.seen[1] != want {
		t.Errorf("sent %s", s.seen[1])
	}
	for _, code := range []int{302, 400, 401, 404} {
		s.answers, s.seen, s.text = []int{code}, nil, "sesame is wrong"
		err := c.Event(t.Context(), to, e)
		if err == nil || len(s.seen) != 1 || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%d: %v, %d requests", code, err, len(s.seen))
		}
	}
	err := c.Event(t.Context(), services.Address{URL: "http://plain.invalid/", Token: "sesame"}, e)
	if integration.ClassOfFailure(err) != integration.FailureOfConfig {
		t.Errorf("a token over http: %v", err)
	}
}

// A status has the address and the words of the API of its forge.
func TestStatus(t *testing.T) {
	s := &sink{}
	server := httptest.NewServer(s)
	defer server.Close()
	c := notices.Sender{Pause: time.Millisecond}
	for _, kind := range []string{"github", "gitlab"} {
		err := c.Status(t.Context(), services.CommitStatus{Kind: kind, Repository: server.URL + "/acme/shop.git",
			Token: "sesame", Commit: sha, Name: "saas/shop", State: "failure", Text: strings.Repeat("x", 500),
			Link: "https://a.example/1"})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []string{"POST /api/v3/repos/acme/shop/statuses/" + sha + " Bearer sesame application/json ",
		"POST /api/v4/projects/acme%2Fshop/statuses/" + sha + " Bearer sesame application/json "} {
		if !strings.HasPrefix(s.seen[i], want) || strings.Contains(s.seen[i], strings.Repeat("x", 200)) {
			t.Errorf("sent %s", s.seen[i])
		}
	}
	if !strings.Contains(s.seen[0], `"state":"failure"`) || !strings.Contains(s.seen[1], `"state":"failed"`) {
		t.Errorf("sent %q", s.seen)
	}
	s.answers, s.text = []int{400, 400}, `{"message": "Cannot transition status via :run from :running"}`
	of := services.CommitStatus{Kind: "gitlab", Repository: server.URL + "/acme/shop", Commit: sha, State: "pending"}
	if err := c.Status(t.Context(), of); err != nil {
		t.Errorf("a status that is there: %v", err)
	}
	of.Kind = "github"
	if err := c.Status(t.Context(), of); err == nil {
		t.Error("a status that GitHub refuses is taken for set")
	}
	for _, bad := range []services.CommitStatus{{Kind: "bitbucket", Repository: server.URL + "/a/b"},
		{Kind: "github", Repository: server.URL + "/a/b/c"}, {Kind: "github", Repository: "acme/shop"}} {
		if err := c.Status(t.Context(), bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// GitLab refuses a status that is there already, and also one that cannot follow: that one was not told.
func TestStatusThatIsThere(t *testing.T) {
	s := &sink{}
	server := httptest.NewServer(s)
	defer server.Close()
	for _, c := range []struct {
		state, text string
		isTold      bool
	}{
		{"success", "Cannot transition status via :success from :success (Reason(s): Status cannot transition)", true},
		{"success", "Cannot transition status via :success from :failed", false},
		{"success", "Cannot transition status via :success from :canceled", false},
		{"failure", "Cannot transition status via :drop from :failed", true},
		{"failure", "Cannot transition status via :drop from :success", false},
		{"pending", "Cannot transition status via :enqueue from :pending", true},
		{"pending", "Cannot transition status via :enqueue from :success", false},
		{"success", "Cannot transition status", false},
	} {
		s.answers, s.text = []int{400}, `{"message": "`+c.text+`"}`
		err := notices.Sender{Pause: time.Millisecond}.Status(t.Context(), services.CommitStatus{Kind: "gitlab",
			Repository: server.URL + "/acme/shop", Commit: sha, State: c.state})
		if (err == nil) != c.isTold {
			t.Errorf("%s, %s: %v", c.state, c.text, err)
		}
	}
}
