package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What git prints is bounded, also when it is copied by a reader of its own.
func TestLimited(t *testing.T) {
	dir := commitAll(t, map[string]string{"large": strings.Repeat("0123456789abcdef", maxPrinted/16+1)})
	m := &Mirror{dir: filepath.Join(dir, ".git")}
	if _, err := m.run(t.Context(), Remote{}, nil, "cat-file", "blob", "HEAD:large"); err == nil ||
		!strings.Contains(err.Error(), "prints more than 8 MiB") {
		t.Errorf("got %.100v", err)
	}
}

func TestMirrorIsForHTTP(t *testing.T) {
	for _, url := range []string{"", "/etc", "file:///etc", "ext::sh -c x", "-x", "https://a b"} {
		if _, err := NewMirror(t.Context(), filepath.Join(t.TempDir(), "m"), url); err == nil {
			t.Errorf("%q became a mirror", url)
		}
	}
}

// A server of the oldest protocol names another one where objects are as well. That one is not asked.
func TestAlternateServer(t *testing.T) {
	const id = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	var asked []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another server got %s", r.URL)
	}))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		switch r.URL.Path {
		case "/a.git/info/refs":
			fmt.Fprintf(w, "%s\trefs/heads/main\n", id)
		case "/a.git/objects/info/http-alternates":
			fmt.Fprintf(w, "%s/b.git/objects\n", other.URL)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	from := Remote{URL: server.URL + "/a.git"}
	m, err := NewMirror(t.Context(), filepath.Join(t.TempDir(), "m"), from.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.FetchFiles(t.Context(), from, []string{id}); err == nil ||
		!slices.Contains(asked, "/a.git/objects/info/http-alternates") {
		t.Errorf("got %v, and the server was asked %q", err, asked)
	}
}

func TestMirrorLists(t *testing.T) {
	dir := commitAll(t, map[string]string{"a/b/c": "1", "a/d": "2", "a/:(glob)*": "3"})
	commit, err := OpenCommit(t.Context(), dir, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	m := &Mirror{dir: filepath.Join(dir, ".git")}
	for _, c := range []struct {
		path string
		deep bool
		want string
	}{
		{"a", false, ":(glob)* d"}, {"a", true, ":(glob)* b/c d"}, {"a/d", false, ""}, {"", false, "link"},
		{"a/b/c", true, ""}, {"a/*", false, "none"}, {"a/:(glob)*", false, ""},
	} {
		list, err := m.List(t.Context(), commit.Hash(), c.path, c.deep)
		var names []string
		for _, e := range list {
			names = append(names, e.Name)
		}
		got := strings.Join(names, " ")
		if errors.Is(err, fs.ErrNotExist) {
			got, err = "none", nil
		}
		if err != nil || got != c.want {
			t.Errorf("%q deep %t: got %q and %v, want %q", c.path, c.deep, got, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.List(ctx, commit.Hash(), "a", false); err == nil {
		t.Error("a context that ended lists")
	}
}
