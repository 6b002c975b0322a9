package bundle_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/qontract/bundle"
)

func TestFieldDiffs(t *testing.T) {
	type diffs = []bundle.FieldDiff
	long := strings.Repeat("é", 100)
	for _, c := range []struct {
		name, old, new string
		want           diffs
	}{
		{"a value", `{"$schema":"/s","x":1}`, `{"$schema":"/s","x":1.0}`, diffs{{"/x", bundle.Modified, false, "1", "1.0"}}},
		{"null is a value", `{"$schema":"/s","x":null}`, `{"$schema":"/s"}`,
			diffs{{"/x", bundle.Removed, false, "null", ""}}},
		{"became null", `{"$schema":"/s","x":1}`, `{"$schema":"/s","x":null}`,
			diffs{{"/x", bundle.Modified, false, "1", "null"}}},
		{"added", `{"$schema":"/s"}`, `{"$schema":"/s","x":{"b":"<&>","a":[]}}`,
			diffs{{"/x", bundle.Added, false, "", `{"a":[],"b":"<&>"}`}}},
		{"type", `{"$schema":"/s","x":["a"]}`, `{"$schema":"/s","x":{"a":1}}`,
			diffs{{"/x", bundle.Modified, false, `["a"]`, `{"a":1}`}}},
		{"order", `{"$schema":"/s","l":["a","b"]}`, `{"$schema":"/s","l":["b","a"]}`,
			diffs{{"/l", bundle.Modified, true, `["a","b"]`, `["b","a"]`}}},
		{"one item for another", `{"$schema":"/s","l":["a","b"]}`, `{"$schema":"/s","l":["a","c"]}`,
			diffs{{"/l/1", bundle.Modified, false, `"b"`, `"c"`}}},
		{"item that moved and changed", `{"$schema":"/s","l":[{"__identifier":"1","v":1},{"__identifier":"2"}]}`,
			`{"$schema":"/s","l":[{"__identifier":"2"},{"__identifier":"1","v":2}]}`, diffs{
				{"/l", bundle.Modified, true, `[{"__identifier":"1","v":1},{"__identifier":"2"}]`,
					`[{"__identifier":"2"},{"__identifier":"1","v":2}]`},
				{"/l/0/v", bundle.Modified, false, "1", "2"}}},
		{"indented", `{"$schema":"/s"}`,
			`{"$schema":"/s","x":["` + strings.Repeat("a", 40) + `",["` + strings.Repeat("b", 20) + `"]]}`,
			diffs{{"/x", bundle.Added, false, "",
				"[\n  \"" + strings.Repeat("a", 40) + "\",\n  [\n    \"" + strings.Repeat("b", 20) + "\"\n  ]\n]"}}},
		{"long", `{"$schema":"/s","x":"` + long + `"}`, `{"$schema":"/s","x":""}`,
			diffs{{"/x", bundle.Modified, false, `"` + strings.Repeat("é", 49) + "… (102 more bytes)", `""`}}},
		{"metadata of a modified file", `{"$schema":"/s","$file_sha256sum":"1","x":1}`,
			`{"$schema":"/s","$file_sha256sum":"2","x":2}`,
			diffs{{"/x", bundle.Modified, false, "1", "2"}}},
		{"new file", "", `{"$schema":"/s","$file_sha256sum":"1","__identifier":"1","b/c":1}`,
			diffs{{"/$schema", bundle.Added, false, "", `"/s"`}, {"/b~1c", bundle.Added, false, "", "1"}}},
		{"file gone", `{"$schema":"/s"}`, "", diffs{{"/$schema", bundle.Removed, false, `"/s"`, ""}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := parse(t, files(c.old), nil)
			d := bundle.Compare(b, parse(t, files(c.new), b))
			got := d.Datafiles[0].FieldDiffs(100)
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// files returns a bundle with one datafile, or none.
func files(datafile string) string {
	data := "{}"
	if datafile != "" {
		data = `{"/a.yml":` + datafile + `}`
	}
	return `{"data":` + data + `,"graphql":[],"resources":{}}`
}

func TestTextDiff(t *testing.T) {
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, `%d\n`, i)
	}
	for _, c := range []struct {
		name, old, new string
		limit          int
		want           string
	}{
		{"a line", `"a\nb\nc\n"`, `"a\nx\nc\n"`, 100, "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c"},
		{"new", ``, `"a\n"`, 100, "@@ -0,0 +1,1 @@\n+a"},
		{"gone", `"a\n"`, ``, 100, "@@ -1,1 +0,0 @@\n-a"},
		{"no newline at the end", `"a"`, `"b"`, 100,
			"@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file"},
		{"long", `""`, `"` + many.String() + `"`, 30, "@@ -0,0 +1,100 @@\n+0\n+1\n+2\n+3\n… (96 more lines)"},
		{"one long line", `""`, `"` + strings.Repeat("é", 100) + `\n"`, 22, "@@ -0,0 +1,1 @@\n… (1 more lines)"},
		{"same content", `"a"`, `"a","sha256sum":"2"`, 100, "(the content is the same, something else about it differs)"},
		{"large", `""`, `"` + strings.Repeat("a", 1<<20+1) + `"`, 100,
			"(too large to compare: 0 bytes on base, 1048577 on head)"},
		{"not a text", `1`, `2`, 100, "(the content is the same, something else about it differs)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := parse(t, resource(c.old), nil)
			d := bundle.Compare(b, parse(t, resource(c.new), b))
			if got := d.Resources[0].TextDiff(c.limit); got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// resource returns a bundle with one resource, or none.
func resource(content string) string {
	resources := "{}"
	if content != "" {
		resources = `{"/r":{"path":"/r","sha256sum":"1","content":` + content + `}}`
	}
	return `{"data":{},"graphql":[],"resources":` + resources + `}`
}

// TestFieldDiffsAreTheChangedFields checks that FieldDiffs has the same pointers as
// Change.Fields.
func TestFieldDiffsAreTheChangedFields(t *testing.T) {
	for _, name := range []string{"app-interface", "generated-300", "random-1"} {
		base, err := bundle.Open(shared.Path(t, "data", "bundles", name+"-base.json"), nil)
		if err != nil {
			t.Fatal(err)
		}
		head, err := bundle.Open(shared.Path(t, "data", "bundles", name+"-head.json"), base)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range bundle.Compare(base, head).Datafiles {
			if c.Old == nil || c.New == nil {
				continue
			}
			var got []string
			for _, f := range c.FieldDiffs(1000) {
				got = append(got, f.Pointer)
			}
			if !reflect.DeepEqual(got, c.Fields) {
				t.Errorf("%s: got %q, want %q", c.Path, got, c.Fields)
			}
		}
	}
}

// TestPlaces checks that a changed field is found in the new version, even if the lists
// around it changed.
func TestPlaces(t *testing.T) {
	type places = map[string]string
	for _, c := range []struct {
		name, old, new string
		want           places
	}{
		{"a value", `{"$schema":"/s","x":1}`, `{"$schema":"/s","x":2}`, places{"/x": "/x"}},
		{"gone", `{"$schema":"/s","x":{"y":1}}`, `{"$schema":"/s","x":{}}`, places{"/x/y": "/x"}},
		{"the whole of it gone", `{"$schema":"/s","x":1}`, `{"$schema":"/s"}`, places{"/x": ""}},
		{"added item", `{"$schema":"/s","l":["a"]}`, `{"$schema":"/s","l":["b","a"]}`, places{"/l/0": "/l/0"}},
		{"item gone", `{"$schema":"/s","l":["a","b"]}`, `{"$schema":"/s","l":["b"]}`, places{"/l/0": "/l"}},
		{"one item for another", `{"$schema":"/s","l":["a","b"]}`, `{"$schema":"/s","l":["a","c"]}`, places{"/l/1": "/l/1"}},
		{"moved and changed", `{"$schema":"/s","l":[{"__identifier":"1","v":1},{"__identifier":"2"}]}`,
			`{"$schema":"/s","l":[{"__identifier":"2"},{"__identifier":"1","v":2}]}`, places{"/l": "/l", "/l/0/v": "/l/1/v"}},
		{"below what moved", `{"$schema":"/s","l":[{"__identifier":"1","m":["x"]}]}`,
			`{"$schema":"/s","l":[{"__identifier":"0"},{"__identifier":"1","m":["y","x"]}]}`,
			places{"/l/0": "/l/0", "/l/0/m/0": "/l/1/m/0"}},
		{"escaped", `{"$schema":"/s","a/b~c":{"":1}}`, `{"$schema":"/s","a/b~c":{"":2}}`, places{"/a~1b~0c/": "/a~1b~0c/"}},
		{"a list became a value", `{"$schema":"/s","l":[1]}`, `{"$schema":"/s","l":2}`, places{"/l": "/l"}},
		{"new file", "", `{"$schema":"/s"}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := parse(t, files(c.old), nil)
			change := bundle.Compare(b, parse(t, files(c.new), b)).Datafiles[0]
			got := change.Places()
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if len(got) != len(change.Fields) {
				t.Errorf("got places of %d fields, want of %q", len(got), change.Fields)
			}
		})
	}
}
