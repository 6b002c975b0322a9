package bundle_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
)

const small = `{"data":{"/a.yml":{"$schema":"/thing-1.yml","name":"a","other":{"$ref":"/b.yml"}},` +
	`"/b.yml":{"$schema":"/thing-1.yml","name":"b","res":"/r.txt"}},` +
	`"git_commit":"c0ffee","git_commit_timestamp":"7","graphql":[{"name":"T","fields":[{"name":"labels","type":"json"}]}],` +
	`"resources":{"/r.txt":{"path":"/r.txt","content":"x","sha256sum":"1","backrefs":[]}},"schemas":{"/thing-1.yml":{"type":"object"}}}`

func TestParse(t *testing.T) {
	b := parse(t, small, nil)
	if b.Commit() != "c0ffee" || b.Timestamp() != "7" {
		t.Errorf("got commit %q, timestamp %q", b.Commit(), b.Timestamp())
	}
	if got, want := len(b.BySchema("/thing-1.yml")), 2; got != want {
		t.Errorf("got %d datafiles of the schema, want %d", got, want)
	}
	f, ok := b.Datafile("/a.yml")
	if !ok || f.Object().String("path") != "/a.yml" || f.Object().String("name") != "a" {
		t.Errorf("got %v, want /a.yml with its path", f)
	}
	if r, ok := b.Resource("/r.txt"); !ok || r.Object().String("content") != "x" {
		t.Errorf("got %v, want the resource", r)
	}
	if _, isList := b.GraphQL().([]any); !isList {
		t.Errorf("got %T as GraphQL types, want a list", b.GraphQL())
	}
}

func TestParseRefuses(t *testing.T) {
	deep := strings.Repeat("[", 600) + strings.Repeat("]", 600)
	for name, c := range map[string]struct{ in, want string }{
		"nothing":            {"", "empty"},
		"binary":             {"\x7fELF\x02", "not a bundle"},
		"a list":             {"[]", "not a bundle"},
		"no data":            {`{"resources":{}}`, `no "data"`},
		"data is a list":     {`{"data":[]}`, `"data" is not an object`},
		"cut in data":        {small[:60], "ends too early"},
		"cut at the end":     {small[:len(small)-1], "ends too early"},
		"something behind":   {small + "{}", "after the bundle"},
		"no $schema":         {`{"data":{"/a.yml":{"name":"a"}}}`, `"/a.yml" has no $schema`},
		"$schema no string":  {`{"data":{"/a.yml":{"$schema":7}}}`, `"/a.yml" has no $schema`},
		"a datafile twice":   {`{"data":{"/a.yml":{"$schema":"/s"},"/a.yml":{"$schema":"/s"}}}`, `"/a.yml" occurs twice`},
		"data twice":         {`{"data":{},"data":{}}`, `"data" occurs twice`},
		"resource w/o sum":   {`{"data":{},"resources":{"/r":{"path":"/r","content":""}}}`, `"/r" has no sha256sum`},
		"datafile no object": {`{"data":{"/a.yml":null}}`, `"/a.yml" is not an object`},
		"too deep":           {`{"data":{"/a.yml":{"$schema":"/s","x":` + deep + `}}}`, "levels deep"},
		"bad escape":         {`{"data":{"/a.yml":{"$schema":"/s","x":"\q"}}}`, `unknown escape`},
		"bad number":         {`{"data":{"/a.yml":{"$schema":"/s","x":01}}}`, "byte"},
		"control character":  {"{\"data\":{\"/a.yml\":{\"$schema\":\"/s\",\"x\":\"\n\"}}}", "control character"},
		"trailing comma":     {`{"data":{"/a.yml":{"$schema":"/s",}}}`, "key in quotes"},
		"half a surrogate":   {`{"data":{"/a.yml":{"$schema":"/s","x":"\ud8"}}}`, "hex digits"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := bundle.Parse([]byte(c.in), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// TestParseRefusesEveryPrefix checks that no prefix of a bundle is accepted or causes a panic.
func TestParseRefusesEveryPrefix(t *testing.T) {
	for i := range small {
		if _, err := bundle.Parse([]byte(small[:i]), nil); err == nil {
			t.Fatalf("the first %d bytes were accepted", i)
		}
	}
}

func TestOpenNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.json")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dir, empty, filepath.Join(dir, "none.json")} {
		if _, err := bundle.Open(name, nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, want an error that names it", name, err)
		}
	}
}

// TestReuseChangesNothing checks that a bundle is the same whether or not it reuses another one.
func TestReuseChangesNothing(t *testing.T) {
	base := parse(t, small, nil)
	for _, text := range []string{
		small,
		strings.Replace(small, `"name":"a"`, `"name":"new"`, 1),
		strings.Replace(small, `"/a.yml"`, `"/0.yml"`, 1),
		strings.ReplaceAll(small, `,`, ` , `),
		strings.Replace(small, `"name":"b"`, `"name":"b","x":{}`, 1),
	} {
		alone, reuse := parse(t, text, nil), parse(t, text, base)
		if alone.SHA256() != reuse.SHA256() {
			t.Error("the sha256 differs")
		}
		if d := bundle.Compare(alone, reuse); !d.Empty() {
			t.Errorf("read alone and read with reuse differ: %+v", d)
		}
		want, got := bundle.Compare(base, alone), bundle.Compare(base, reuse)
		if a, b := describe(want), describe(got); a != b {
			t.Errorf("got %s, want %s", b, a)
		}
	}
}

func TestMentions(t *testing.T) {
	b := parse(t, `{"data":{`+
		`"/a.yml":{"$schema":"/s","x":{"$ref":"/b.yml"},"y":["/r.txt"]},`+
		`"/b.yml":{"$schema":"/s","x":{"\u0024ref":"\/a.yml"},"in":{"path":"/a.yml"}},`+
		`"/é.yml":{"$schema":"/s","x":{"$ref":"/\u00e9.yml"}}},"resources":{}}`, nil)
	m := bundle.IndexMentions(b, b)
	for path, want := range map[bundle.Path]string{
		"/b.yml": "[/a.yml]", "/r.txt": "[/a.yml]", "/a.yml": "[/b.yml]", "/é.yml": "[/é.yml]", "/none": "[]", "/s": "[]",
	} {
		if got := fmt.Sprint(names(m.Of(path))); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	if got := fmt.Sprint(names(m.WithPathValue("/a.yml"))); got != "[/b.yml]" {
		t.Errorf("got %s, want the file in which it is a path", got)
	}
	if d := bundle.IndexMentions(b).DanglingRefs(b); len(d) != 0 {
		t.Errorf("got %v, want no reference that leads nowhere", d)
	}
}

func TestDanglingRefs(t *testing.T) {
	b := parse(t, strings.Replace(small, `{"$ref":"/b.yml"}`, `{"$ref":"/gone.yml"}`, 1), nil)
	if got := fmt.Sprint(bundle.IndexMentions(b).DanglingRefs(b)); got != "[{/a.yml /gone.yml}]" {
		t.Errorf("got %s", got)
	}
}

func names(files []*bundle.File) []bundle.Path {
	out := []bundle.Path{}
	for _, f := range files {
		out = append(out, f.Path)
	}
	return out
}

func parse(t *testing.T, text string, reuse *bundle.Bundle) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Parse([]byte(text), reuse)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small), []byte(small))
	f.Add([]byte(`{"data":{}}`), []byte(`{"data":{"/a":{"$schema":"/s","x":"\ud83d\ude00\ud800"}}}`))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		a, err := bundle.Parse(one, nil)
		if err != nil {
			return
		}
		b, err := bundle.Parse(two, a)
		if err != nil {
			return
		}
		if d := bundle.Compare(a, a); !d.Empty() {
			t.Errorf("a bundle differs from itself: %+v", d)
		}
		there, back := bundle.Compare(a, b), bundle.Compare(b, a)
		if len(there.Datafiles) != len(back.Datafiles) || len(there.Resources) != len(back.Resources) {
			t.Errorf("there %s, and back %s", describe(there), describe(back))
		}
		bundle.IndexMentions(a, b)
		bundle.IndexMentions(a).DanglingRefs(a)
	})
}

func TestEachHolder(t *testing.T) {
	b := parse(t, `{"data":{"/a.yml":{"$schema":"/s","one":{"$ref":"/b"},"many" : [ {"$ref":"/c"}, [{"$ref":"/b"}] ],`+
		`"in":{"de\u0065p":{"$ref":"/b"},"x":[{"y":{"$ref":"/b"}}]}}}}`, nil)
	f, _ := b.Datafile("/a.yml")
	var got []string
	f.EachHolder("/b", func(key string) { got = append(got, key) })
	if fmt.Sprint(got) != "[one many deep y]" {
		t.Errorf("got %v", got)
	}
}
