package metrics

import (
	"strconv"
	"strings"
	"testing"
)

// The labels of paths are those that the metrics of qontract-server have.
func TestPathLabel(t *testing.T) {
	m := New()
	sha := strings.Repeat("0123456789abcdef", 4)
	for path, want := range map[string]string{
		"/":                              "/",
		"/graphql":                       "/graphql",
		"/graphqlsha/" + sha:             "/graphqlsha/#sha",
		"/graphqlsha/x/y":                "/graphqlsha/#sha",
		"/graphqlsha":                    "/graphqlsha",
		"/git-commit-info/" + sha:        "/git-commit-info/#val",
		"/diff/" + sha + "/" + sha:       "/diff/#val/#val",
		"/diff/" + sha + "/x/datafile/y": "/diff/#val/x/datafile/y",
		"/a/12/2026-01-02/-3":            "/a/#val/#val/#val",
		"/abcdef/ABCDEF0":                "/abcdef/#val",
		"//healthz/":                     "/healthz",
		"/" + strings.Repeat("a.", 200):  "#other",
	} {
		if got := m.pathLabel(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	for i := range maxPaths {
		m.pathLabel("/p" + strconv.Itoa(i))
	}
	if got := m.pathLabel("/one/more"); got != "#other" {
		t.Errorf("got %s after too many paths", got)
	}
	if got := m.pathLabel("/graphql"); got != "/graphql" {
		t.Errorf("got %s for a known path", got)
	}
	if got := methodLabel("BREW"); got != "OTHER" {
		t.Errorf("got %s", got)
	}
}
