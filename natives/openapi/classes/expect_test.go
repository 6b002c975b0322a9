package classes_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

func checkDetails(t *testing.T, all []*classes.Property, want expectation) {
	t.Helper()
	lists, defaults := map[string]string{}, map[string]string{}
	byPath := map[string]*classes.Property{}
	for _, p := range all {
		byPath[p.Path] = p
		if l := p.List; l != nil && (l.Kind != classes.Atomic || want.Lists[p.Path].Kind == "atomic") {
			lists[p.Path] = fmt.Sprint(l.Kind, l.Keys)
		}
		if p.Default != nil {
			raw, err := p.Default.Value.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			defaults[p.Path] = string(raw)
		}
	}
	if want.Lists != nil {
		wanted := map[string]string{}
		for path, l := range want.Lists {
			wanted[path] = fmt.Sprint(l.Kind, l.Keys)
		}
		if !maps.Equal(lists, wanted) {
			t.Errorf("lists: got %v, want %v", lists, wanted)
		}
	}
	if want.Defaults != nil {
		wanted := map[string]string{}
		for path, v := range want.Defaults {
			raw, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			wanted[path] = string(raw)
		}
		if !maps.Equal(defaults, wanted) {
			t.Errorf("defaults: got %v, want %v", defaults, wanted)
		}
	}
	for path, source := range want.Source {
		if p := byPath[path]; p == nil || p.CreateOnly == nil || string(p.CreateOnly.Source) != source {
			t.Errorf("create-only %s: got %+v, want the source %s", path, p, source)
		}
	}
	for path, v := range want.Variants {
		if p := byPath[path]; p == nil || p.Variants == nil || fmt.Sprint(*p.Variants) != fmt.Sprint(v) {
			t.Errorf("variants of %s: got %+v, want %v", path, p, v)
		}
	}
}

func checkOperations(t *testing.T, one *resources.Type, want expectation) {
	t.Helper()
	bodies, err := one.Bodies()
	if err != nil {
		t.Fatal(err)
	}
	kind, err := bodies.PatchKind()
	if err != nil || string(kind) != want.PatchKind && want.PatchKind != "" {
		t.Errorf("PATCH: got %q, %v, want %q", kind, err, want.PatchKind)
	}
	if want.Verbs != nil {
		compare(t, "verbs", one.Verbs(), want.Verbs)
	}
	if want.PatchMedia != nil {
		compare(t, "media types of PATCH", bodies.PatchMedia, want.PatchMedia)
	}
	if (one.CreatesByPost() != "") != (want.CreateVia != "") && want.CreateVia != "" {
		t.Errorf("create by POST: got %q, want %q", one.CreatesByPost(), want.CreateVia)
	}
	if want.Status != nil && slices.Contains(one.Joins, "status") != *want.Status {
		t.Errorf("joins: got %q", one.Joins)
	}
	styles, err := one.Styles()
	if err != nil {
		t.Fatal(err)
	}
	long, final := map[string]bool{}, map[string]string{}
	for _, s := range styles {
		long[s.Verb] = s.LongRunning
		if s.FinalState != "" {
			final[s.Verb] = s.FinalState
		}
	}
	if want.LongRunning != nil && !maps.Equal(long, want.LongRunning) {
		t.Errorf("long running: got %v, want %v", long, want.LongRunning)
	}
	if want.FinalState != nil && !maps.Equal(final, want.FinalState) {
		t.Errorf("final state: got %v, want %v", final, want.FinalState)
	}
	if want.Paths != nil {
		if n := count(t, bodies.Put, nil); n != *want.Paths {
			t.Errorf("paths of the body of PUT: got %d, want %d", n, *want.Paths)
		}
	}
}

// count returns how many properties a schema and what is inside of it have, down to where it
// holds itself.
func count(t *testing.T, s *openapi.Schema, around []*openapi.Value) int {
	for _, target := range s.Targets() {
		if slices.Contains(around, target) {
			return 0
		}
	}
	around = append(slices.Clone(around), s.Targets()...)
	names, err := s.Properties()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range names {
		p, err := s.Property(name)
		if err != nil {
			t.Fatal(err)
		}
		n += 1 + count(t, p, around)
	}
	for _, inner := range []func() (*openapi.Schema, error){s.ItemsOf, s.ValuesOf} {
		p, err := inner()
		if err != nil {
			t.Fatal(err)
		}
		if p != nil {
			n += count(t, p, around)
		}
	}
	return n
}
