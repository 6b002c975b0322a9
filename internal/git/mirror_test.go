package git

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
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
