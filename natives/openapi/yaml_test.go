package openapi

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
)

func TestYAML(t *testing.T) {
	for _, test := range []struct{ yaml, json string }{
		{"a: 1\nb: [x, yes, 'true', true, True, null, ~]\n", `{"a":1,"b":["x","yes","true",true,true,null,null]}`},
		{"responses:\n  200: {description: OK}\n  4XX:\n", `{"responses":{"200":{"description":"OK"},"4XX":null}}`},
		{"on: 2019-09-01\nversion: 3.1.0\n", `{"on":"2019-09-01","version":"3.1.0"}`},
		{"[9007199254740993, 123456789012345678901234567890, 1.10, -0, 1.0e+400]",
			`[9007199254740993,123456789012345678901234567890,1.10,-0,1.0e+400]`},
		{"[0x1f, 0o17, 1_000, +1, .5, 5., -.5e3, 6.e2]", `[31,15,1000,1,0.5,5.0,-0.5e3,6.0e2]`},
		{"base: &b {x: 1}\nmore: [*b, *b]\n", `{"base":{"x":1},"more":[{"x":1},{"x":1}]}`},
		{"text: |\n  two\n  lines\n", `{"text":"two\nlines\n"}`},
	} {
		v, err := parseYAML([]byte(test.yaml), Limits{}.withDefaults())
		if err != nil {
			t.Errorf("%q: %v", test.yaml, err)
			continue
		}
		if got, err := v.MarshalJSON(); err != nil || string(got) != test.json {
			t.Errorf("%q: got %s, %v, want %s", test.yaml, got, err, test.json)
		}
	}
}

func TestYAMLMistakes(t *testing.T) {
	bomb := "a0: &a0 [x,x]\n"
	for i := range 30 {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d,*a%d]\n", i+1, i+1, i, i)
	}
	for _, test := range []struct{ text, want string }{
		{"", "it is no YAML: EOF"},
		{"a: 1\na: 2\n", `line 2: the key "a" stands twice in ""`},
		{"x:\n  200: 1\n  '200': 2\n", `line 3: the key "200" stands twice in "/x"`},
		{"a: 1\n---\nb: 2\n", "line 2: there is a second document"},
		{"{}\nx: [\n", "it is no YAML: line 1: did not find expected <document start>"},
		{"b: &b {x: 1}\nc:\n  <<: *b\n", "line 3: merge keys are not read: write the keys out"},
		{"? [a]\n: 1\n", "line 1: a key is a text"},
		{"a: .inf\n", "line 1: .inf is no number that JSON has"},
		{"a: !own x\n", "line 1: JSON has no value of the tag !own"},
		{"a: [1", "it is no YAML: line 1: did not find expected ',' or ']'"},
		{"a: \xff\n", "line 1: it is not valid UTF-8"},
		{"a: &a [*a]\n", "line 1: its values are nested too deeply"},
		{bomb, "line 1: it has too many values"},
		{strings.Repeat("-\n", 3<<20), "line 1: it has too many values"},
	} {
		_, err := parseYAML([]byte(test.text), Limits{}.withDefaults())
		if err == nil || err.Error() != test.want {
			t.Errorf("%.40q: got %v, want %s", test.text, err, test.want)
		}
	}
}

// A JSON text is a YAML text that says the same, so both readers agree about real specifications.
func TestYAMLIsJSON(t *testing.T) {
	tree, read := os.DirFS(shared.Path(t, "data", "specs")), 0
	err := fs.WalkDir(tree, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(name, ".json") || read >= 60 {
			return err
		}
		raw, err := fs.ReadFile(tree, name)
		if err != nil || len(raw) > 1<<20 {
			return err
		}
		text := strings.ReplaceAll(string(raw), "\t", " ") // YAML has no tabs between values
		want, _, err := parse([]byte(text), Limits{}.withDefaults())
		if err != nil {
			return nil //nolint:nilerr // it is no specification
		}
		read++
		got, err := parseYAML([]byte(text), Limits{}.withDefaults())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return nil
		}
		one, _ := want.MarshalJSON()
		two, _ := got.MarshalJSON()
		if string(one) != string(two) {
			t.Errorf("%s: the readers do not agree", name)
		}
		return nil
	})
	if err != nil || read < 10 {
		t.Errorf("%d files read, %v", read, err)
	}
}

// FuzzYAML holds that a text that is read says the same once it is written as JSON.
func FuzzYAML(f *testing.F) {
	for _, text := range []string{"a: [1, 0x1f, .5]", "x: &a {b: c}\ny: *a\n", "- |\n  t\n- 2019-01-01\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := parseYAML(raw, Limits{Values: 1000, Depth: 20}.withDefaults())
		if err != nil {
			return
		}
		text, err := v.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := parse(text, Limits{}.withDefaults())
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if twice, err := again.MarshalJSON(); err != nil || string(twice) != string(text) {
			t.Fatalf("%s and %s, %v", text, twice, err)
		}
	})
}
