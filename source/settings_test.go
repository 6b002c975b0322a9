package source_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
)

func TestName(t *testing.T) {
	sha := strings.Repeat("ab", 32)
	for ref, want := range map[string]string{
		"base.json":             "base.json",
		"./base.json":           "base.json",
		"a/../b//base.json":     "b/base.json",
		"../up/base.json":       "../up/base.json",
		"/home/someone/x.json":  "x.json",
		"/proc/self/fd/../fd/3": "3",
		"https://example.org/qontract/graphqlsha/" + sha: "https://example.org/qontract/graphqlsha/" + sha,
	} {
		if got := source.Name(ref); got != want {
			t.Errorf("%q: got %q, want %q", ref, got, want)
		}
	}
}

// Queries are read in the folder of the settings, up to a size.
func TestQueryReader(t *testing.T) {
	dir := t.TempDir()
	read := source.QueryReader(&settings.Settings{File: filepath.ToSlash(filepath.Join(dir, "in", "prcheck.yaml"))})
	if _, err := read("q.graphql"); err == nil {
		t.Error("read from a folder that is not there")
	}
	for name, text := range map[string]string{
		"in/q.graphql": "{ x }", "outside.graphql": "{ x }", "in/large.graphql": strings.Repeat(" ", 1<<20+1),
	} {
		put(t, dir, name, text)
	}
	if raw, err := read("q.graphql"); err != nil || string(raw) != "{ x }" {
		t.Errorf("got %q, %v", raw, err)
	}
	for name, want := range map[string]string{
		"../outside.graphql": "escapes",
		"large.graphql":      "large.graphql is larger than 1 MiB",
		"nowhere.graphql":    "no such file",
		".":                  "is a directory",
	} {
		if _, err := read(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}
