package bundle_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/qontract/bundle"
)

func TestCompare(t *testing.T) {
	base := `{"data":{"/a.yml":%s},"graphql":[{"name":"T","fields":[{"name":"labels","type":"json"}]}],"resources":{}}`
	for _, c := range []struct{ name, old, new, want string }{
		{"nothing", `{"$schema":"/s","x":1}`, `{"$schema":"/s","x":1}`, ""},
		{"order of keys", `{"$schema":"/s","x":1}`, `{"x":1,"$schema":"/s"}`, ""},
		{"white space", `{"$schema":"/s","x":1}`, `{ "$schema" : "/s", "x":1 }`, ""},
		{"an escape", `{"$schema":"/s","x":"é"}`, `{"$schema":"/s","x":"\u00e9"}`, ""},
		{"a value", `{"$schema":"/s","x":1}`, `{"$schema":"/s","x":2}`, "modified [/x]"},
		{"text only", `{"$schema":"/s","$file_sha256sum":"1"}`, `{"$schema":"/s","$file_sha256sum":"2"}`,
			"metadata [/$file_sha256sum]"},
		{"identifier", `{"$schema":"/s","__identifier":"1"}`, `{"$schema":"/s"}`, "metadata [/__identifier]"},
		{"nested identifier", `{"$schema":"/s","l":[{"__identifier":"1","v":1}]}`,
			`{"$schema":"/s","l":[{"__identifier":"2","v":1}]}`, "metadata [/l/0]"},
		{"identifier in json", `{"$schema":"/s","labels":{"__identifier":"1"}}`,
			`{"$schema":"/s","labels":{"__identifier":"2"}}`, "modified [/labels/__identifier]"},
		{"identifier beside a reference", `{"$schema":"/s","r":{"$ref":"/x"}}`,
			`{"$schema":"/s","r":{"$ref":"/x","__identifier":"1"}}`, "modified [/r/__identifier]"},
		{"both", `{"$schema":"/s","$file_sha256sum":"1","x":1}`, `{"$schema":"/s","$file_sha256sum":"2","x":2}`,
			"modified [/x]"},
		{"huge number", `{"$schema":"/s","x":9007199254740993}`, `{"$schema":"/s","x":9007199254740992}`, "modified [/x]"},
		{"number as written", `{"$schema":"/s","x":1}`, `{"$schema":"/s","x":1.0}`, "modified [/x]"},
		{"null is not absent", `{"$schema":"/s","x":null}`, `{"$schema":"/s"}`, "modified [/x]"},
		{"type", `{"$schema":"/s","x":1}`, `{"$schema":"/s","x":"1"}`, "modified [/x]"},
		{"appended", `{"$schema":"/s","l":[1]}`, `{"$schema":"/s","l":[1,2]}`, "modified [/l/1]"},
		{"inserted", `{"$schema":"/s","l":["a","b"]}`, `{"$schema":"/s","l":["x","a","b"]}`, "modified [/l/0]"},
		{"removed", `{"$schema":"/s","l":["a","b","c"]}`, `{"$schema":"/s","l":["a","c"]}`, "modified [/l/1]"},
		{"reordered", `{"$schema":"/s","l":["a","b"]}`, `{"$schema":"/s","l":["b","a"]}`, "modified [/l]"},
		{"repeated", `{"$schema":"/s","l":[1,1,2]}`, `{"$schema":"/s","l":[1,2,2]}`, "modified [/l/1 /l/2]"},
		{"a reference more", `{"$schema":"/s","r":[{"$ref":"/x"}]}`, `{"$schema":"/s","r":[{"$ref":"/x"},{"$ref":"/y"}]}`,
			"modified [/r/1]"},
		{"in an item", `{"$schema":"/s","l":[{"n":1,"v":1},{"n":2,"v":1}]}`,
			`{"$schema":"/s","l":[{"n":1,"v":1},{"n":2,"v":2}]}`, "modified [/l/1/v]"},
		{"key with slash", `{"$schema":"/s","a/b~c":1}`, `{"$schema":"/s","a/b~c":2}`, "modified [/a~1b~0c]"},
		{"schema", `{"$schema":"/s"}`, `{"$schema":"/t"}`, "modified [/$schema]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := parse(t, fmt.Sprintf(base, c.old), nil)
			d := bundle.Compare(b, parse(t, fmt.Sprintf(base, c.new), b))
			got := ""
			for _, f := range d.Datafiles {
				got = strings.TrimSpace(fmt.Sprintf("%s %s %v", got, f.Kind, f.Fields))
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestCompareOtherSections(t *testing.T) {
	base := parse(t, small, nil)
	for _, c := range []struct{ name, old, new, want string }{
		{"commit", "c0ffee", "decade", "nothing"},
		{"backrefs", `"backrefs":[]`, `"backrefs":[{"path":"/a.yml"}]`, "backrefs /r.txt"},
		{"content", `"content":"x","sha256sum":"1"`, `"content":"y","sha256sum":"2"`, "resource /r.txt modified"},
		{"content alone", `"content":"x"`, `"content":"y"`, "resource /r.txt modified"},
		{"schema", `{"type":"object"}`, `{"type":"array"}`, "schema /thing-1.yml"},
		{"type", `"type":"json"`, `"type":"string"`, "type T"},
		{"removed resource", `"/r.txt":{"path":"/r.txt","content":"x","sha256sum":"1","backrefs":[]}`, ``,
			"resource /r.txt removed"},
		{"other form", `"graphql":[{"name":"T","fields":[{"name":"labels","type":"json"}]}]`,
			`"graphql":{"confs":[{"name":"T","fields":[{"name":"labels","type":"json"}]}]}`, "type T"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := bundle.Compare(base, parse(t, strings.Replace(small, c.old, c.new, 1), base))
			if got := describe(d); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func describe(d *bundle.Diff) string {
	var out []string
	for _, c := range d.Datafiles {
		out = append(out, fmt.Sprintf("datafile %s %s %v", c.Path, c.Kind, c.Fields))
	}
	for _, c := range d.Resources {
		out = append(out, fmt.Sprintf("resource %s %s", c.Path, c.Kind))
	}
	for _, c := range d.Backrefs {
		out = append(out, fmt.Sprintf("backrefs %s", c.Path))
	}
	for _, p := range d.Schemas {
		out = append(out, "schema "+string(p))
	}
	for _, name := range d.GraphQL {
		out = append(out, "type "+name)
	}
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, ", ")
}

// TestCompareLikeTheServer compares pairs of real and generated bundles and checks that the
// result agrees with qontract-server.
func TestCompareLikeTheServer(t *testing.T) {
	dir := shared.Path(t, "data", "bundles")
	for _, name := range []string{"app-interface", "generated-300", "random-1"} {
		t.Run(name, func(t *testing.T) {
			base, err := bundle.Open(filepath.Join(dir, name+"-base.json"), nil)
			if err != nil {
				t.Fatal(err)
			}
			head, err := bundle.Open(filepath.Join(dir, name+"-head.json"), base)
			if err != nil {
				t.Fatal(err)
			}
			d := bundle.Compare(base, head)
			var want struct {
				Datafiles, Resources map[string]struct {
					Old, New json.RawMessage
				}
			}
			raw, err := os.ReadFile(filepath.Join(dir, name+"-diff.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			for _, part := range []struct {
				got  []bundle.Change
				want map[string]struct{ Old, New json.RawMessage }
			}{{d.Datafiles, want.Datafiles}, {d.Resources, want.Resources}} {
				var got, wanted []string
				for _, c := range part.got {
					got = append(got, fmt.Sprint(c.Path, c.Old != nil, c.New != nil))
				}
				for path, c := range part.want {
					wanted = append(wanted, fmt.Sprint(path, c.Old != nil, c.New != nil))
				}
				slices.Sort(got)
				slices.Sort(wanted)
				if !slices.Equal(got, wanted) {
					t.Errorf("got %v, want %v", got, wanted)
				}
			}
		})
	}
}

// TestCompareFindsWhatWasGenerated checks that every change in the generator's own list is
// found, with its kind.
func TestCompareFindsWhatWasGenerated(t *testing.T) {
	dir := shared.Path(t, "data", "bundles")
	base, err := bundle.Open(filepath.Join(dir, "generated-300-base.json"), nil)
	if err != nil {
		t.Fatal(err)
	}
	head, err := bundle.Open(filepath.Join(dir, "generated-300-head.json"), base)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "generated-300-changes.json"))
	if err != nil {
		t.Fatal(err)
	}
	var made []struct {
		Kind string
		Path bundle.Path
	}
	if err := json.Unmarshal(raw, &made); err != nil {
		t.Fatal(err)
	}
	found := map[bundle.Path]bundle.Kind{}
	d := bundle.Compare(base, head)
	for _, c := range slices.Concat(d.Datafiles, d.Resources) {
		found[c.Path] = c.Kind
	}
	kinds := map[string]bundle.Kind{
		"text-only": bundle.Metadata, "user-add": bundle.Added, "resource-add": bundle.Added, "user-delete": bundle.Removed,
	}
	for _, m := range made {
		want, ok := kinds[m.Kind]
		if !ok {
			want = bundle.Modified
		}
		if found[m.Path] != want {
			t.Errorf("%s (%s): got %q, want %q", m.Path, m.Kind, found[m.Path], want)
		}
		delete(found, m.Path)
	}
	if len(made) == 0 || len(found) > 0 {
		t.Errorf("of %d changes these were not made: %v", len(made), found)
	}
}
