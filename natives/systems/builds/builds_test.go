package builds

import (
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/jenkinstest"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/systems/jsonapi"
)

const password = "password-of-the-test"

var (
	login = services.Login{User: "bot", Password: password}
	sha   = strings.Repeat("ab", 20)
)

// serve starts a Jenkins with jobs.
func serve(t *testing.T) (*jenkinstest.Server, string) {
	t.Helper()
	s := &jenkinstest.Server{User: "bot", Password: password}
	s.Add("web", jenkinstest.Build{Number: 1, Result: "SUCCESS", Commit: sha})
	s.Add("web", jenkinstest.Build{Number: 2, Result: "FAILURE", Commit: "short"})
	s.Add("web", jenkinstest.Build{Number: 4})
	s.Add("team/job/deep/job/web", jenkinstest.Build{Number: 7, Result: "SUCCESS"})
	s.Add("other", jenkinstest.Build{Number: 1, Result: "SUCCESS"})
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return s, h.URL
}

func client() *Jenkins {
	return New(&jsonapi.Client{Timeout: 5 * time.Second, Pause: time.Millisecond, MaxBytes: 1 << 16})
}

func TestJobs(t *testing.T) {
	s, url := serve(t)
	got, err := client().Jobs(t.Context(), url+"/", login, []string{"web", "team/job/deep/job/web", "none", "team"})
	want := map[string][]services.Build{
		"web":                   {{Number: 4}, {Number: 2, Result: "FAILURE"}, {Number: 1, Result: "SUCCESS", Commit: sha}},
		"team/job/deep/job/web": {{Number: 7, Result: "SUCCESS"}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if n := s.Requests(); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// Every answer that is not whole and true is an error: no job is taken for one without builds.
func TestJobsUnknown(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another server got %s with %q", r.URL, r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	text := func(body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			_, _ = io.WriteString(w, body)
			return true
		}
	}
	for name, c := range map[string]struct {
		fault    func(http.ResponseWriter, *http.Request) bool
		want     string
		class    integration.FailureClass
		requests int
	}{
		"down": {func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}, "503", integration.FailureTransient, 3},
		"cut": {func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"jobs":[`)
			return true
		}, "ends its answer early", integration.FailureTransient, 3},
		"a page to log in": {text("<html>" + password), "not the JSON", integration.FailureTransient, 3},
		"no jobs":          {text(`{}`), "no list of jobs", "", 1},
		"null":             {text(`null`), "no list of jobs", "", 1},
		"out of order":     {text(`{"jobs":[{"name":"web","builds":[{"number":1},{"number":2}]}]}`), "newest first", "", 1},
		"no number":        {text(`{"jobs":[{"name":"web","builds":[{"result":"SUCCESS"}]}]}`), "newest first", "", 1},
		"a flood": {text(`{"jobs":[` + strings.Repeat(" ", 1<<17) + `]}`), "more than", integration.FailureOfConfig,
			1},
		"refused": {func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusForbidden)
			return true
		}, "rights", integration.FailureOfConfig, 1},
		"sent elsewhere": {func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
			return true
		}, "another address", integration.FailureOfConfig, 1},
	} {
		s, url := serve(t)
		s.Fault = c.fault
		got, err := client().Jobs(t.Context(), url, login, []string{"web"})
		if err == nil || got != nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), password) ||
			integration.ClassOfFailure(err) != c.class {
			t.Errorf("%s: got %v, %v (class %q), want %q (class %q)", name, got, err, integration.ClassOfFailure(err), c.want,
				c.class)
		}
		if n := s.Requests(); n != c.requests {
			t.Errorf("%s: %d requests, want %d", name, n, c.requests)
		}
	}
}

func TestJobsSlow(t *testing.T) {
	s, url := serve(t)
	end := make(chan struct{})
	s.Fault = func(_ http.ResponseWriter, r *http.Request) bool {
		select {
		case <-end:
		case <-r.Context().Done():
		}
		return true
	}
	defer close(end)
	c := New(&jsonapi.Client{Timeout: 20 * time.Millisecond, Pause: time.Millisecond})
	if _, err := c.Jobs(t.Context(), url, login, []string{"web"}); err == nil ||
		!strings.Contains(err.Error(), "in time") {
		t.Errorf("a server that does not answer: %v", err)
	}
}

func TestJobsDepth(t *testing.T) {
	if _, err := client().Jobs(t.Context(), "https://jenkins.test", login,
		[]string{strings.Repeat("a/job/", 9) + "b"}); err == nil {
		t.Error("a job in nine folders was asked for")
	}
	for _, server := range []string{"", "file:///etc/passwd", "https://user:" + password + "@host", "jenkins"} {
		if _, err := client().Jobs(t.Context(), server, login, []string{"a"}); err == nil ||
			strings.Contains(err.Error(), "word-of") {
			t.Errorf("%s: %v", server, err)
		}
	}
}

var _ services.Builds = (*Jenkins)(nil)
