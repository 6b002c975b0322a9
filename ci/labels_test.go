package ci

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/app-sre/prcheck/doubles/gitlabtest"
	"github.com/app-sre/prcheck/report"
)

func TestLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := server(t)
		s.SetLabels("bug", "deletions-reviewed")
		s.Fault = func(n int, _ *http.Request) gitlabtest.Fault {
			if n == 1 {
				return gitlabtest.Fault{Status: http.StatusBadGateway}
			}
			return gitlabtest.Fault{}
		}
		got, err := client(t, memory{s}).Labels(t.Context(), mr)
		if want := []string{"bug", "deletions-reviewed"}; err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	})
}

// TestMissingLabels checks that labels that cannot be read never look like labels that are
// there.
func TestMissingLabels(t *testing.T) {
	needed := []report.NeededLabel{{Label: "a", Why: "1 to delete"}, {Label: "b", Why: "1 to create"}}
	s := &gitlabtest.Server{Token: "glpat-secret"}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	at := Environment{API: h.URL + "/api/v4", Token: Token{Value: "glpat-secret"},
		MergeRequest: MergeRequest{Project: gitlabtest.Project, IID: gitlabtest.IID}}
	s.SetLabels("A", "b", "ab")
	if got, err := MissingLabels(t.Context(), at, needed); err != nil || !reflect.DeepEqual(got, needed[:1]) {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, c := range []struct {
		name   string
		change func(*Environment)
		want   string
	}{
		{"another token", func(e *Environment) { e.Token.Value = "glpat-other" }, "status 401"},
		{"no token", func(e *Environment) { e.Token.Value = "" }, "a token with scope read_api"},
		{"no address", func(e *Environment) { e.API = "" }, "CI_API_V4_URL"},
		{"another merge request", func(e *Environment) { e.MergeRequest.IID++ }, "status 404"},
	} {
		other := at
		c.change(&other)
		if got, err := MissingLabels(t.Context(), other, needed); err == nil || got != nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %+v, %v, want an error with %q", c.name, got, err, c.want)
		}
		if got, err := MissingLabels(t.Context(), other, nil); got != nil || err != nil {
			t.Errorf("%s: got %+v, %v although nothing is needed", c.name, got, err)
		}
	}
	if got, err := MissingLabels(t.Context(), Environment{}, needed); got != nil || err != nil {
		t.Errorf("outside of a merge request: got %+v, %v", got, err)
	}
}
