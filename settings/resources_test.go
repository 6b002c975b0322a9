package settings_test

import (
	"testing"

	"github.com/app-sre/prcheck/settings"
)

func TestResources(t *testing.T) {
	s, err := settings.Read("prcheck.yaml", []byte(`version: 1
exec: {argv: [x]}
integrations:
  none: {resources: none}
  some: {resources: ["resources/a/*", "**/b.txt"]}
  all: {resources: ["resources/**"]}
  unset: {trace: none}
  more: {resources: none, trace: none}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path            string
		allow, list, harmless bool
	}{
		{"none", "/a/x", false, false, true},
		{"some", "/a/x", true, false, true},
		{"some", "/c/b.txt", true, false, true},
		{"some", "/c/x", false, false, true},
		{"all", "/c/x", true, true, true},
		{"unset", "/c/x", true, true, false},
		{"more", "/c/x", false, false, false},
		{"unknown", "/c/x", true, true, false},
	} {
		it := s.For(c.name)
		if it.Resources.Allow(c.path) != c.allow || it.Resources.AllowAll() != c.list || it.Harmless != c.harmless {
			t.Errorf("%s, %s: got %+v", c.name, c.path, it.Resources)
		}
	}
}
