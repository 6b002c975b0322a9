package content_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/owners/difference"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/jsonpath"
)

// bundleOf makes a bundle of the text of its datafiles and resources.
func bundleOf(t *testing.T, data, resources string) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Parse(fmt.Appendf(nil,
		`{"data": {%s}, "resources": {%s}, "schemas": {}, "graphql": {"confs": []}, "git_commit": "", "git_commit_timestamp": ""}`, data, resources), nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Files differ as they must be asked about.
func TestChanges(t *testing.T) {
	for _, c := range []struct{ name, base, head, resources, changed, want string }{
		{"a value", `"/f": {"$schema": "/s", "a": 1}`, `"/f": {"$schema": "/s", "a": 2}`, "", "", "/f /s: changed a"},
		{"the text alone", `"/f": {"$schema": "/s", "$file_sha256sum": "1"}`,
			`"/f": {"$schema": "/s", "$file_sha256sum": "2"}`, "", "", "/f /s: text $"},
		{"only what the bundler adds", `"/f": {"$schema": "/s", "o": {"__identifier": "a", "v": 1}}`,
			`"/f": {"$schema": "/s", "o": {"__identifier": "b", "v": 1}}`, "", "", ""},
		{"another schema", `"/f": {"$schema": "/s", "a": 1}`, `"/f": {"$schema": "/t", "a": 1}`, "", "",
			"/f /s: removed $, /f /t: added $"},
		{"a move", `"/f": {"$schema": "/s", "$file_sha256sum": "1", "a": 1}`,
			`"/g": {"$schema": "/s", "$file_sha256sum": "1", "a": 1}`, "", "", "/f /s to /g: removed $, /g /s from /f: added $"},
		{"a resource that is a mapping", "", "", `"/r": {"path": "/r", "content": "a: 1\nb: 2\n", "sha256sum": "1"}`,
			`"/r": {"path": "/r", "content": "a: 1\nb: 3 # three\n", "sha256sum": "2"}`, "/r : changed b"},
		{"a resource that is a text", "", "", `"/r": {"path": "/r", "content": "hello", "sha256sum": "1"}`,
			`"/r": {"path": "/r", "content": "world", "sha256sum": "2"}`, "/r : changed $"},
		{"a resource with a comment", "", "", `"/r": {"path": "/r", "content": "a: 1\n", "sha256sum": "1"}`,
			`"/r": {"path": "/r", "content": "a: 1 # one\n", "sha256sum": "2"}`, "/r : text $"},
		{"a number that JSON and YAML read otherwise", "", "",
			`"/r": {"path": "/r", "content": "{\"a\": 1e3}", "sha256sum": "1"}`,
			`"/r": {"path": "/r", "content": "{\"a\": \"1e3\"}", "sha256sum": "2"}`, "/r : changed a"},
	} {
		b := content.Bundles{Base: bundleOf(t, c.base, c.resources), Head: bundleOf(t, c.head, c.changed)}
		got := ""
		for _, of := range b.Changes() {
			for _, d := range of.Differences {
				if got != "" {
					got += ", "
				}
				got += of.Path + " " + of.Schema
				if of.MovedTo != "" {
					got += " to " + of.MovedTo
				}
				if of.MovedFrom != "" {
					got += " from " + of.MovedFrom
				}
				got += ": " + d.Kind.String() + " " + d.Place().String()
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A resource knows the datafiles that mention it on either side, once each.
func TestReferring(t *testing.T) {
	resource := func(text, refs string) string {
		return fmt.Sprintf(`"/r": {"path": "/r", "content": %q, "sha256sum": %q, "backrefs": [%s]}`, text, text, refs)
	}
	const one, two = `{"path": "/a", "datafileSchema": "/s", "jsonpath": "x"}`, `{"path": "/b", "datafileSchema": "/s", "jsonpath": "x"}`
	b := content.Bundles{Base: bundleOf(t, "", resource("1", one+","+one)),
		Head: bundleOf(t, "", resource("2", one+","+two))}
	want := []content.Ref{{Kind: content.Datafile, Path: "/a", Schema: "/s"},
		{Kind: content.Datafile, Path: "/b", Schema: "/s"}}
	if got := b.Changes()[0].Referring(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Settings may say of single lists that their order is no content: of the files of a schema, where a selector chooses the
// list on both sides.
func TestUnorderedFields(t *testing.T) {
	list := func(n ...any) map[string]any {
		return map[string]any{"l": []any{map[string]any{"m": n, "k": "1"}}, "n": n}
	}
	for _, c := range []struct {
		schema, selector string
		old, new         map[string]any
		want             []difference.Kind
	}{
		{"/s.yml", "l[*].m", list("a", "b"), list("b", "a"), []difference.Kind{difference.Reordered}},
		{"/s.yml", "$..*", list("a", "b"), list("b", "a"), []difference.Kind{difference.Text}},
		{"/t.yml", "$..*", list("a", "b"), list("b", "a"), []difference.Kind{difference.Reordered, difference.Reordered}},
		{"/s.yml", "l", list("a", "b"), list("b", "a"), []difference.Kind{difference.Reordered, difference.Reordered}},
		{"/s.yml", "n[0]", list("a", "b"), list("b", "a"), []difference.Kind{difference.Reordered, difference.Reordered}},
		{"/s.yml", "$..*", list("a", "b"), list("b", "a", "a"),
			[]difference.Kind{difference.Added, difference.Added}},
		{"/s.yml", "l[?(@.x=='1')].m", map[string]any{"l": []any{map[string]any{"x": "0", "m": []any{"a", "b"}, "y": "1"}}},
			map[string]any{"l": []any{map[string]any{"x": "1", "m": []any{"b", "a"}, "y": "1"}}},
			[]difference.Kind{difference.Reordered, difference.Changed}},
	} {
		path, err := jsonpath.ParseSelector(c.selector)
		if err != nil {
			t.Fatal(err)
		}
		change := &content.Change{Ref: content.Ref{Kind: content.Datafile, Path: "/f.yml", Schema: c.schema},
			Old: c.old, New: c.new}
		change.Compare(true)
		change.IgnoreOrder(content.Unordered{Fields: map[string][]*jsonpath.Path{"/s.yml": {path}}})
		var got []difference.Kind
		for _, d := range change.Differences {
			got = append(got, d.Kind)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s by %s: %v, want %v, unasked %v", c.schema, c.selector, got, c.want, change.Unasked)
		}
	}
}
