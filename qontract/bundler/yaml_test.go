package bundler

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// A pyyamlCase is a document and what PyYAML 6.0.3 with libyaml, and then Python's
// json, make of it: JSON, or the kind of error.
type pyyamlCase struct{ YAML, Want, Error string }

func readCases(t testing.TB) []pyyamlCase {
	t.Helper()
	f, err := os.Open("testdata/pyyaml.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []pyyamlCase
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var r pyyamlCase
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if len(all) < 500 {
		t.Fatalf("only %d readings", len(all))
	}
	return all
}

// toJSON returns what we make of a document, or the first problem.
func toJSON(read func([]byte) (*node, []Problem), raw string) (string, *Problem) {
	root, found := read([]byte(raw))
	switch {
	case found != nil:
		return "", &found[0]
	case root == nil:
		return "null", nil
	}
	return string(appendValue(nil, root)), nil
}

// refusedOnPurpose lists words of problems with documents that PyYAML accepts and we
// refuse on purpose. All other documents must give the same result.
var refusedOnPurpose = []string{"duplicate key", "byte order mark", "the tag ! by itself", "so the value has no end",
	`\/ and \v`, "did not find expected ',' or"}

func TestPyYAML(t *testing.T) {
	for _, r := range readCases(t) {
		for name, read := range map[string]func([]byte) (*node, []Problem){"full": readFullYAML, "quick": readYAML} {
			got, problem := toJSON(read, r.YAML)
			switch {
			case problem == nil && r.Error != "":
				t.Errorf("%s: %q: read as %s, PyYAML refuses it (%s)", name, r.YAML, got, r.Error)
			case problem == nil && got != r.Want:
				t.Errorf("%s: %q:\ngot  %s\nwant %s", name, r.YAML, got, r.Want)
			case problem != nil && r.Error == "":
				known := false
				for _, words := range refusedOnPurpose {
					known = known || strings.Contains(problem.Msg, words)
				}
				if !known {
					t.Errorf("%s: %q: refused: %v, want %s", name, r.YAML, problem, r.Want)
				}
			}
		}
	}
}

// FuzzRead checks that reading any bytes ends without a panic, either in JSON or in
// problems whose lines and columns are inside of the file.
func FuzzRead(f *testing.F) {
	for _, r := range readCases(f) {
		f.Add([]byte(r.YAML))
	}
	f.Add([]byte(`{"a": [1, 1.5e3, "\ud83d\ude00\n", null, true, {}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, read := range []func([]byte) (*node, []Problem){readYAML, readFullYAML, readJSON} {
			root, found := read(raw)
			if root != nil && found == nil && !json.Valid(appendValue(nil, root)) {
				t.Fatalf("%q: no JSON: %s", raw, appendValue(nil, root))
			}
			for _, p := range found {
				if p.Line < 0 || p.Line > strings.Count(string(raw), "\n")+strings.Count(string(raw), "\r")+2*len(raw)+1 ||
					p.Msg == "" {
					t.Fatalf("%q: %+v", raw, p)
				}
			}
		}
	})
}

func TestProblems(t *testing.T) {
	for _, c := range []struct{ name, raw, want string }{
		{"duplicate key", "a: 1\nb:\n  c: 1\n  c: 2\n", `f.yml:4:3: duplicate key "c", first on line 3: remove one`},
		{"date", "a:\n  since: 2020-01-01\n",
			`f.yml:2:10: "2020-01-01" is an unquoted date, which JSON cannot express: quote it`},
		{"infinity", "a: .inf\n", `f.yml:1:4: ".inf" is infinity or not a number, which JSON cannot express: quote it`},
		{"mixed keys", "1: a\nb: c\n",
			`f.yml:1:1: the key "1" is not text but another key is, so the keys cannot be sorted: quote it`},
		{"list as key", "? [a]\n: 1\n", "f.yml:1:3: a key cannot be a list or a mapping: write it as text"},
		{"two documents", "a: 1\n---\nb: 1\n", "f.yml:2:1: a second document begins here: keep one document per file"},
		{"tab", "a:\n\tb: 1\n", "f.yml:2:1: this is not YAML: found character that cannot start any token"},
		{"not UTF-8", "a: é\nb: \xff\n", "f.yml:2:4: is not UTF-8 from here on: save it as UTF-8"},
		{"unknown tag", "a: !foo 1\n", `f.yml:1:4: "1" with the tag "!foo" cannot be expressed in JSON: remove the tag`},
		{"endless alias", "a: &a [*a]\n",
			`f.yml:1:8: the alias *"a" is inside of the value that it repeats, so the value has no end`},
		{"anchor twice", "a: &a 1\nb: &a 2\n", `f.yml:2:4: the anchor &"a" occurs twice: rename one`},
		{"alias bomb", aliasBomb(), "f.yml:6:35: aliases make this file larger than 64 MiB"},
		{"deep", strings.Repeat("[", 500) + strings.Repeat("]", 500), "f.yml:1:402: is more than 400 levels deep"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, found := readYAML([]byte(c.raw))
			if len(found) == 0 {
				t.Fatal("got no problem")
			}
			found[0].File = "f.yml"
			if got := found[0].Error(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// After a file has become too large, no other problem is made up about its keys.
func TestProblemsAfterBomb(t *testing.T) {
	_, found := readYAML([]byte(aliasBomb() + "rest:\n  a: 1\n  b: 2\n  <<: {c: 3}\n  <<: [*a0]\n? [x]\n: 1\n"))
	if len(found) < 5 {
		t.Fatalf("got %v", found)
	}
	for _, p := range found {
		if p.Msg != "aliases make this file larger than 64 MiB" {
			t.Errorf("got %q", p.Msg)
		}
	}
}

// aliasBomb returns a small file with aliases of aliases: a terabyte with aliases
// replaced by their values.
func aliasBomb() string {
	s := "a0: &a0 " + strings.Repeat("x", 1000) + "\n"
	for i := range 8 {
		n := string(rune('0' + i))
		s += "a" + string(rune('1'+i)) + ": &a" + string(rune('1'+i)) + " [" +
			strings.TrimSuffix(strings.Repeat("*a"+n+", ", 10), ", ") + "]\n"
	}
	return s
}

func TestJSON(t *testing.T) {
	for _, c := range []struct{ name, raw, want string }{
		{"all kinds", `{"b": [1, -0, 1.5, 1E5, 1e-7, "x\/y", null, true], "a": {}}`,
			`{"a":{},"b":[1,0,1.5,100000.0,1e-07,"x/y",null,true]}`},
		{"pair", `["\ud83d\ude00"]`, `["\ud83d\ude00"]`},
		{"half a pair", `["\ud83d", "\udc00x"]`, `["\ud83d","\udc00x"]`},
		{"byte order mark", "\ufeff[1]", "[1]"},
		{"big", "[123456789012345678901234567890]", "[123456789012345678901234567890]"},
		{"duplicate key", "{\"a\": 1,\n \"a\": 2}", `:2:2: duplicate key "a", first on line 1: remove one`},
		{"not a number", "[NaN]", ":1:2: this is not JSON: a value is missing"},
		{"too large", "[1e999]", `:1:2: "1e999" is infinity or not a number, which JSON cannot express: quote it`},
		{"more", "[1] x", ":1:5: there is more text after the end of the JSON value: remove it"},
		{"open", "[1", ":1:3: this is not JSON: a comma or ] is missing"},
		{"control character", "[\"a\tb\"]", ":1:4: this is not JSON: a string contains a control character"},
		{"comma", "[1,]", ":1:4: this is not JSON: a value is missing"},
		{"escape", `["\q"]`, ":1:4: this is not JSON: this escape does not exist"},
		{"deep", strings.Repeat("[", 100000), ":1:402: this is not JSON: it is more than 400 levels deep"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, problem := toJSON(readJSON, c.raw)
			if problem != nil {
				got = problem.Error()
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
