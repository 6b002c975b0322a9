package promotions

import (
	"slices"
	"strings"
	"testing"
)

// A secret that does not open a repository holds the targets of its saas file, and no others.
func TestEachSecretOfARepositoryIsAsked(t *testing.T) {
	s := newScene(t, 2, 1)
	s.codes, s.opens, s.own = []string{"app/wrong", "app/right"}, "app/right", ", hosts: [github.com]"
	s.code = []string{sha(2), sha(1)}
	s.deployAll(sha(2))
	if _, err := s.loop(); err == nil || !strings.Contains(err.Error(), "status 403") ||
		strings.Contains(err.Error(), "saas-1") {
		t.Errorf("got %v", err)
	}
	if len(s.forge.requests) != 1 || !strings.Contains(s.forge.requests[0].Title, "saas-1") {
		t.Errorf("got %+v", s.forge.requests)
	}
	// A login of the settings opens it for all, with one request.
	s.own = ", hosts: [github.com], logins: {github.com: {path: app/right, field: token}}"
	s.asked = nil
	if _, err := s.loop(); err != nil || len(s.forge.requests) != 2 {
		t.Errorf("got %v, %d merge requests", err, len(s.forge.requests))
	}
	if got := slices.Compact(s.asked); !slices.Equal(got, []string{"app/right"}) || len(s.asked) > 3 {
		t.Errorf("asked with %q", s.asked)
	}
}
