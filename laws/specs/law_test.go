package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
)

// example are the documents of the example, which are there everywhere.
var example = filepath.Join("..", "..", "examples", "cloud", "resources", "cloud")

// The laws hold for the types of the example.
func TestLaws(t *testing.T) { held(t, example, "", 4) }

// The laws hold for some types of the shared specifications.
func TestLawsOfShared(t *testing.T) {
	held(t, shared.Path(t, "data", "specs", "azure-2026-04-22"), "Microsoft.App/", 1)
}

func held(t *testing.T, dir, only string, seeds int) {
	t.Helper()
	b, err := openBook(dir)
	if err != nil {
		t.Fatal(err)
	}
	kinds, _ := b.kinds()
	kinds = slices.DeleteFunc(kinds, func(k *kind) bool { return !strings.HasPrefix(k.name, only) })
	if len(kinds) < 3 {
		t.Fatalf("%d types", len(kinds))
	}
	for seed := range seeds {
		l, err := hold(t.Context(), b, kinds, uint64(seed)+1) //nolint:gosec // a small number
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range l.breaches {
			t.Errorf("%s: %s, seed %d: %s", names[one.law], one.kind.name, seed+1, one.why)
		}
		if l.service.requests < 10*len(kinds) {
			t.Errorf("%d requests for %d types", l.service.requests, len(kinds))
		}
	}
}

// The service loses what a PUT leaves out, and a law sees it.
func TestLost(t *testing.T) {
	want := object{"a": object{"b": 1.0, "l": []any{object{"n": "x"}, object{"n": "y"}}}}
	for _, c := range []struct {
		is   object
		want string
	}{
		{object{"a": object{"b": 1.0, "c": 2.0, "l": []any{object{"n": "Y", "m": 1.0}, object{"n": "x"}}}}, ""},
		{object{"a": object{"b": 2.0, "l": []any{object{"n": "y"}, object{"n": "x"}}}}, "/a/b"},
		{object{"a": object{"b": 1.0, "l": []any{object{"n": "y"}}}}, "/a/l/0"},
		{nil, "/a/b"},
	} {
		if got := lost(want, c.is, ""); got != c.want {
			t.Errorf("%v: got %q, want %q", c.is, got, c.want)
		}
	}
}

// A seed makes the same body each time, and others make others.
func TestBodies(t *testing.T) {
	b, err := openBook(example)
	if err != nil {
		t.Fatal(err)
	}
	kinds, _ := b.kinds()
	for _, k := range kinds {
		var seen []string
		for seed := range uint64(8) {
			body, _ := bodyOf(k, seed)
			if again, _ := bodyOf(k, seed); canonical(body) != canonical(again) {
				t.Errorf("%s: seed %d makes two bodies", k.name, seed)
			}
			if text := canonical(body); !slices.Contains(seen, text) {
				seen = append(seen, text)
			}
		}
		if len(seen) < 3 {
			t.Errorf("%s: 8 seeds make %d bodies", k.name, len(seen))
		}
	}
}
