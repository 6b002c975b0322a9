package generic

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/armtest"
)

// No write takes away what the service never answers: neither that of a tag, nor that of a mark alone, nor the one that
// takes a resource. The service replaces all that a PUT leaves out.
func TestNoWriteLosesASecret(t *testing.T) {
	for name, c := range map[string]struct {
		with any // the version of the secret
		edit func(s *scene)
	}{
		"another tag":                  {1, func(s *scene) { s.body(cache)["tags"] = object{"team": "sales"} }},
		"another tag, without version": {nil, func(s *scene) { s.body(cache)["tags"] = object{"team": "sales"} }},
		"the mark was removed":         {1, func(s *scene) { s.unmark("") }},
		"it is taken": {1, func(s *scene) {
			s.unmark("")
			entry := s.Data[cache]
			s.forget()
			s.Data[cache], entry["adopt"] = entry, "if-exists"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.service.Describe("Example.Cache/caches", func(b *armtest.Behaviour) { b.Forgets, b.Patch = true, []string{} })
			delete(s.Data, rule)
			ref := s.Data[cache]["secrets"].([]any)[0].(object)["secret"].(object)
			if ref["version"] = c.with; c.with == nil {
				delete(ref, "version")
			}
			s.withoutPatch()
			s.must()
			c.edit(s)
			s.must()
			if s.writes() != "PUT sessions" {
				t.Fatalf("it writes %q\n%s", s.writes(), &s.log)
			}
			if is := s.service.Object(cacheID)["properties"].(map[string]any)["adminPassword"]; is != "canary-of-the-cache" {
				t.Errorf("the service has the password %v", is)
			}
			if s.must(); s.writes() != "" {
				t.Errorf("the next run writes %s", s.writes())
			}
		})
	}
}

// withoutPatch takes PATCH out of the specification of caches.
func (s *scene) withoutPatch() {
	const at = "/cloud/cache.json"
	s.Resources[at] = strings.Replace(s.Resources[at], `"patch": {`, `"x-patch": {`, 1)
}
