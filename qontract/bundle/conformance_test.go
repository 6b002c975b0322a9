package bundle_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// A diffCase is one case of the area extract_diffs.
type diffCase struct {
	Area, Name string
	Input      struct{ Old, New map[string]any }
	Expected   []struct {
		Path, Type string
		Old, New   json.RawMessage
	}
}

// reportsMore lists the cases in which we report more than the reference on purpose, or
// name a place differently. Every difference that the reference reports we report too: with
// the same pointer, or with one above or below it.
var reportsMore = map[string]string{
	"mixed identified and unidentified items, shuffled (paths use OLD indexes)": "a list whose items changed their order is named itself, since a query answers in that order",
	"old empty dict counts as absent -> root ADDED":                             "an empty document is there, so each of its fields is named",
	"new empty dict counts as absent -> root REMOVED":                           "an empty document is there, so each of its fields is named",
	"multiplicity change is INVISIBLE (ignore_order without report_repetition)": "how often an item occurs counts",
	"duplicate added is INVISIBLE":                                              "how often an item occurs counts",
	"identifier moved between two lists":                                        "each list is compared by itself, so an item that moves is removed in one and added in the other",
	"nested identified lists":                                                   "items are paired by identity also when they change, so the changed field is named and not the whole item",
}

func TestExtractDiffs(t *testing.T) {
	seen := map[string]bool{}
	shared.Each(t, "extract_diffs", func(t *testing.T, c diffCase) {
		seen[c.Name] = true
		got := fieldsOf(t, c.Input.Old, c.Input.New)
		want := []string{}
		for _, e := range c.Expected {
			want = append(want, pointer(t, e.Path))
		}
		slices.Sort(want)
		why, more := reportsMore[c.Name]
		switch {
		case !more && !slices.Equal(got, want):
			t.Errorf("got %v, want %v", got, want)
		case more && slices.Equal(got, want):
			t.Errorf("got just what the reference reports, %v; it is no longer true that %s", got, why)
		case more:
			covers(t, got, want)
		}
	})
	for name := range reportsMore {
		if !seen[name] {
			t.Errorf("there is no case %q", name)
		}
	}
}

// covers checks that every wanted pointer is among the pointers we got, or one above or
// below it.
func covers(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) == 0 {
		t.Error("got nothing, want more than the reference reports")
	}
	for _, w := range want {
		if !slices.ContainsFunc(got, func(g string) bool {
			return g == w || strings.HasPrefix(g, w+"/") || strings.HasPrefix(w, g+"/")
		}) {
			t.Errorf("got %v, want also %s", got, w)
		}
	}
}

// fieldsOf returns the fields that change when a datafile has first one content and then
// another.
func fieldsOf(t *testing.T, before, after map[string]any) []string {
	t.Helper()
	base := parse(t, datafile(t, before), nil)
	d := bundle.Compare(base, parse(t, datafile(t, after), base))
	switch len(d.Datafiles) {
	case 0:
		return []string{}
	case 1:
		return d.Datafiles[0].Fields
	}
	t.Fatalf("got %s, want one datafile at most", describe(d))
	return nil
}

func datafile(t *testing.T, content map[string]any) string {
	t.Helper()
	file := map[string]any{"$schema": "/s"}
	for k, v := range content {
		file[k] = v
	}
	raw, err := json.Marshal(map[string]any{"data": map[string]any{"/a.yml": file}, "resources": map[string]any{}})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// pointer converts a path of the reference, such as a.[0].'b.c', to a JSON pointer. The
// path $ is the whole document.
func pointer(t *testing.T, path string) string {
	t.Helper()
	if path == "$" {
		return ""
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	out := ""
	for rest := path; rest != ""; {
		var part string
		if quote := rest[:1]; quote == "'" || quote == `"` {
			var closed bool
			if part, rest, closed = strings.Cut(rest[1:], quote); !closed {
				t.Fatalf("path %s: a quote is never closed", path)
			}
			rest = strings.TrimPrefix(rest, ".")
		} else {
			part, rest, _ = strings.Cut(rest, ".")
			part = strings.TrimSuffix(strings.TrimPrefix(part, "["), "]")
		}
		out += "/" + escape.Replace(part)
	}
	return out
}

func TestPointer(t *testing.T) {
	for path, want := range map[string]string{
		"$": "", "a": "/a", "a.[0].b": "/a/0/b", "state.'cl.a.b'.hash": "/state/cl.a.b/hash",
		`s."it's"`: "/s/it's", "s.'a-b/c d'": "/s/a-b~1c d",
	} {
		if got := pointer(t, path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// TestExtractDiffsBack checks that a change and its reversal report the same fields, except
// for positions in lists.
func TestExtractDiffsBack(t *testing.T) {
	for _, c := range shared.Cases[diffCase](t, "extract_diffs") {
		there, back := fieldsOf(t, c.Input.Old, c.Input.New), fieldsOf(t, c.Input.New, c.Input.Old)
		if len(there) != len(back) || fmt.Sprint(shapeOf(there)) != fmt.Sprint(shapeOf(back)) {
			t.Errorf("%s: there %v, and back %v", c.Name, there, back)
		}
	}
}

// shapeOf replaces positions in lists by a star.
func shapeOf(pointers []string) []string {
	var out []string
	for _, p := range pointers {
		parts := strings.Split(p, "/")
		for i, part := range parts {
			if part != "" && strings.Trim(part, "0123456789") == "" {
				parts[i] = "*"
			}
		}
		out = append(out, strings.Join(parts, "/"))
	}
	slices.Sort(out)
	return out
}
