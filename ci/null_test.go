package ci

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/app-sre/prcheck/doubles/gitlabtest"
)

// withNulls puts null into each list that a handler answers with: before its items if
// there are any, and in their place if there are none.
func withNulls(s http.Handler) http.RoundTripper {
	return memory{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorded := httptest.NewRecorder()
		s.ServeHTTP(recorded, r)
		body := recorded.Body.String()
		if rest, isList := strings.CutPrefix(strings.TrimSpace(body), "["); isList && r.Method == http.MethodGet {
			body = "[null," + rest
			if rest == "]" {
				body = "[null]"
			}
		}
		for name, values := range recorded.Header() {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(recorded.Code)
		_, _ = w.Write([]byte(body)) // into a recorder
	})}
}

// Items of GitLab's lists that are null are left out.
func TestNullInLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := server(t)
		s.AddStatus(gitlabtest.Status{Name: "x/gone", State: "failed", Author: gitlabtest.Bot, Pipeline: gitlabtest.Pipeline})
		s.AddJob(gitlabtest.Job{ID: 9, Pipeline: 100, Child: 101, Name: "checks"})
		s.AddJob(gitlabtest.Job{ID: 1, Pipeline: 101, Name: "part", Status: "success",
			Archive: archived(t, [2]string{"results.json", "1"})})
		c := client(t, withNulls(s))
		for _, want := range []Change{Created, Updated} {
			if got, err := c.Publish(t.Context(), mr, fake{8, "a"}); err != nil || got.Change != want {
				t.Errorf("got %+v, %v, want %s", got, err, want)
			}
		}
		if err := c.SetStatuses(t.Context(), commit, CommitStatus{Name: "x", State: Success}, nil); err != nil {
			t.Error(err)
		}
		if got := strings.Join(shown1(s), ", "); !strings.Contains(got, "x/gone success") {
			t.Errorf("got %s", got)
		}
		if got, err := c.Collect(t.Context(), gitlabtest.Project, 100, t.TempDir()); err != nil || len(got) != 1 {
			t.Errorf("collected %+v, %v", got, err)
		}
	})
}
