package validator_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/validator"
)

func ExampleCheck() {
	b, err := bundle.Parse([]byte(`{
		"data": {"/users/ana.yml": {"$schema": "/user-1.yml", "name": 5}},
		"schemas": {"/user-1.yml": {
			"$schema": "http://json-schema.org/draft-06/schema",
			"properties": {"name": {"type": "string"}}, "required": ["name", "email"]}}}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := validator.Check(context.Background(), b, validator.Options{Scope: validator.All})
	if err != nil {
		fmt.Println(err)
		return
	}
	report.Locate(b, func(validator.Section, bundle.Path) ([]byte, error) {
		return []byte("---\n$schema: /user-1.yml\nname: 5\n"), nil
	})
	_ = report.WriteText(os.Stdout, nil)
	// Output:
	// data/users/ana.yml:2:1: FILE/VALIDATION_ERROR: the key "email" is missing
	// data/users/ana.yml:3:1: FILE/VALIDATION_ERROR: /name: got integer, want string
	// 2 findings
}

func TestCheckRefuses(t *testing.T) {
	b := smallTree(t).bundle(t)
	if _, err := validator.Check(context.Background(), b, validator.Options{Scope: validator.Changed}); err == nil {
		t.Error("changes are checked without a base")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := validator.Check(ctx, b, validator.Options{Scope: validator.All}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v after the end, want %v", err, context.Canceled)
	}
	r, err := validator.Check(context.Background(),
		smallTree(t).edit(t, [3]string{desk, "name: desk", "name: 5"}).bundle(t), validator.Options{})
	if err != nil || len(r.Findings) != 0 {
		t.Errorf("the scope none gives %v, %v", r, err)
	}
}

func TestScope(t *testing.T) {
	for _, word := range []string{"none", "changed", "all"} {
		var s validator.Scope
		if err := s.Set(word); err != nil || s.String() != word {
			t.Errorf("%q is read as %q, %v", word, s, err)
		}
	}
	s := validator.All
	if err := s.Set("some"); err == nil || s != validator.All {
		t.Errorf("another word gives %v, %v", s, err)
	}
}

// TestLimit checks that a report keeps as many findings as asked for, and always the same
// ones.
func TestLimit(t *testing.T) {
	var items []string
	for i := range 50 {
		items = append(items, fmt.Sprintf(`"/%02d.yml": {"$schema": "/gone.yml"}`, i))
	}
	b, err := bundle.Parse([]byte(`{"data": {`+strings.Join(items, ",")+`}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := validator.Check(context.Background(), b, validator.Options{Scope: validator.All, Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	if err := r.WriteText(&got, nil); err != nil {
		t.Fatal(err)
	}
	const want = `data/00.yml: FILE/SCHEMA_NOT_FOUND: /$schema: "/gone.yml" is not the path of a schema
data/01.yml: FILE/SCHEMA_NOT_FOUND: /$schema: "/gone.yml" is not the path of a schema
50 findings; 48 more are left out
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", &got, want)
	}
}

// TestHostileWords checks that the text of a report cannot steer a terminal or forge a
// line.
func TestHostileWords(t *testing.T) {
	b, err := bundle.ParseUnchecked([]byte(`{"data": {"/a\u001b[2J\nb.yml": {"$schema": "/x\u001b]0;t\u0007\ny", "$ref\u202e": 1, "k": {"$ref": "/n\nowhere"}}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := validator.Check(context.Background(), b, validator.Options{Scope: validator.All})
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	if err := r.WriteText(&got, nil); err != nil {
		t.Fatal(err)
	}
	const want = `data/a b.yml: FILE/SCHEMA_NOT_FOUND: /$schema: "/x\x1b]0;t\a\ny" is not the path of a schema
data/a b.yml: REF/FILE_NOT_FOUND: /k/$ref: "/n\nowhere" is not the path of a datafile
2 findings
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", &got, want)
	}
}

// TestOddBundles checks that strange documents cause a finding or nothing, but never an
// error.
func TestOddBundles(t *testing.T) {
	const schema = `"schemas": {"/s.yml": {"$schema": "http://json-schema.org/draft-06/schema"}}`
	for name, text := range map[string]string{
		"no sections":              `{"data": {}}`,
		"graphql is a word":        `{"data": {}, "graphql": "x"}`,
		"graphql is a list":        `{"data": {}, "graphql": [1, null, {}, {"name": "A", "fields": [1, {}, {"name": 2}]}]}`,
		"types of nothing":         `{"data": {}, "graphql": {"$schema": 5, "confs": {"a": 1}}}`,
		"interface of itself":      `{"data": {}, "graphql": [{"name": "A", "isInterface": true, "interface": "A", "interfaceResolve": {"strategy": "fieldMap", "field": "k", "fieldMap": {"a": "A"}}, "fields": [{"name": "k", "type": "A"}]}]}`,
		"fieldMap is a list":       `{"data": {}, "graphql": [{"name": "A", "isInterface": true, "interfaceResolve": {"strategy": "fieldMap", "fieldMap": [1]}, "fields": []}]}`,
		"schema of odd keywords":   `{"data": {"/a": {"$schema": "/s.yml"}}, "schemas": {"/s.yml": {"$schema": [], "properties": [], "$ref": 5, "oneOf": {}, "items": 5, "pattern": 1, "$schemaRef": 7, "enum": 1}}}`,
		"schema that refers to it": `{"data": {"/a": {"$schema": "/s.yml"}}, "schemas": {"/s.yml": {"$schema": "/s.yml", "$ref": "#"}}}`,
		"path of odd characters":   `{"data": {"/a": {"$schema": "/s %25?#.yml"}}, "schemas": {"/s %25?#.yml": {"type": "object"}, "x y": {}, "": {}, "//h/x": {}}}`,
		"references of all kinds":  `{"data": {"/a": {"$schema": "/s.yml", "a": {"$ref": 5}, "b": {"$ref": null}, "c": {"$ref": {"$ref": []}}, "d": [{"$ref": "/a"}, {"$ref": "/a"}]}}, ` + schema + `}`,
		"resource of odd content":  `{"data": {}, "resources": {"/r": {"path": "/r", "content": 5, "sha256sum": "", "$schema": "/s.yml"}, "/q": {"path": "/q", "content": "- 1", "sha256sum": "", "$schema": "/s.yml"}}, ` + schema + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			b, err := bundle.ParseUnchecked([]byte(text), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range []validator.Options{{Scope: validator.All}, {Scope: validator.All, Base: b},
				{Scope: validator.Changed, Base: b}} {
				r, err := validator.Check(context.Background(), b, o)
				if err != nil {
					t.Errorf("%v: %v", o.Scope, err)
					continue
				}
				for _, f := range r.Findings {
					if o.Scope == validator.Changed {
						t.Errorf("nothing changed, got %v", f)
					}
					if f.Rule == "" || f.Message == "" || f.Section == "" {
						t.Errorf("an empty finding: %+v", f)
					}
				}
			}
		})
	}
}
