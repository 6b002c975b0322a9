package openapi_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/openapi"
)

// reader reads documents from a map, and counts how often.
func reader(documents map[string]string, reads map[string]int) openapi.Reader {
	return func(name string, limit int64) ([]byte, error) {
		reads[name]++
		text, ok := documents[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return []byte(text[:min(int64(len(text)), limit+1)]), nil
	}
}

func TestFollow(t *testing.T) {
	documents := map[string]string{
		"a/b/spec.json":  "",
		"a/common.json":  `{"x":{"$ref":"b/more.json#/y"}}`,
		"a/b/more.json":  `{"y":{"type":"string"}}`,
		"root.json":      `{"definitions":{"a b":{"~/":1}}}`,
		"a/b/array.json": `[{"$ref":"#/1"},2]`,
		"a/b/html.json":  `<html>`,
	}
	for _, test := range []struct{ ref, want string }{
		{"#", "a/b/spec.json#"},
		{"#/here", "a/b/spec.json#/here"},
		{"../common.json#/x", "a/b/more.json#/y"},
		{"./more.json#/y/type", "a/b/more.json#/y/type"},
		{"more.json", "a/b/more.json#"},
		{"/root.json#/definitions/a%20b/~0~1", "root.json#/definitions/a b/~0~1"},
		{"../../root.json#/definitions", "root.json#/definitions"},
		{"array.json#/0", "a/b/array.json#/1"},
		{"#/nowhere", `SPEC_REF a/b/spec.json#/at: the reference "#/nowhere" leads to nothing`},
		{"#here", `SPEC_REF a/b/spec.json#/at: the reference "#here" leads to nothing`},
		{"#/at", "SPEC_REF a/b/spec.json#/at: its references lead in a circle, or there are more than 64 in a row"},
		{"../../../root.json",
			`SPEC_REF a/b/spec.json#/at: the reference "../../../root.json" leaves the folder of the specifications`},
		{"%2e%2e/%2e%2e/%2e%2e/root.json", "leaves the folder"},
		{"..\\root.json", "leaves the folder"},
		{"https://example.org/x.json#/y", "leads to another host"},
		{"//example.org/x.json", "leads to another host"},
		{"file:root.json", "leads to another host"},
		{"%zz.json", "has a broken escape"},
		{"#/%zz", "has a broken escape"},
		{"gone.json",
			`the reference "gone.json" leads to a document that cannot be read: SPEC_LOAD a/b/gone.json: there is no such file`},
		{"html.json", "SPEC_LOAD a/b/html.json: line 1: a JSON value is wanted"},
		{strings.Repeat("x", 5000), strings.Repeat("x", 200) + "…"},
	} {
		documents["a/b/spec.json"] = fmt.Sprintf(`{"here":{},"at":{"$ref":%q}}`, test.ref)
		set := openapi.NewSet(reader(documents, map[string]int{}), openapi.Limits{})
		d, err := set.Document("a/b/spec.json")
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Place(d.Root.Get("at")).Follow()
		got := p.String()
		if err != nil {
			got = err.Error()
		}
		if got != test.want && (err == nil || !strings.Contains(got, test.want)) {
			t.Errorf("%s: got %s, want %s", test.ref, got, test.want)
		}
	}
}

// Documents are read once, and not beyond the limits.
func TestLimits(t *testing.T) {
	text := `{"a":"` + strings.Repeat("x", 100) + `"}`
	documents := map[string]string{"a.json": text, "b.json": text, "c.json": text, "long.json": text + text}
	reads := map[string]int{}
	set := openapi.NewSet(reader(documents, reads), openapi.Limits{File: 150, Total: 260})
	for _, test := range []struct{ name, want string }{
		{"a.json", ""}, {"a.json", ""}, {"long.json", "it is larger than"}, {"long.json", "it is larger than"},
		{"b.json", ""}, {"c.json", "all specifications together are larger than"}, {"a.json", ""},
		{"../a.json", "this is not the name of a file"}, {"/a.json", "this is not the name"}, {".", "this is not the name"},
		{"", "this is not the name"},
	} {
		_, err := set.Document(test.name)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
	}
	if reads["a.json"] != 1 || reads["long.json"] != 1 || reads["../a.json"] != 0 {
		t.Errorf("read %v", reads)
	}
}

// A document is read only when something leads to it.
func TestLazy(t *testing.T) {
	reads := map[string]int{}
	set := openapi.NewSet(reader(map[string]string{
		"spec.json":  `{"definitions":{"A":{"properties":{"x":{"$ref":"other.json#/definitions/X"},"y":{"type":"string"}}}}}`,
		"other.json": `{"definitions":{"X":{"type":"integer"}}}`,
	}, reads), openapi.Limits{})
	d, err := set.Document("spec.json")
	if err != nil {
		t.Fatal(err)
	}
	a := d.View().Schema(d.Place(d.Root.At("/definitions/A")))
	y, err := a.Property("y")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := y.Keyword("type"); err != nil || reads["other.json"] != 0 {
		t.Errorf("%v, read %v", err, reads)
	}
	x, err := a.Property("x")
	if err != nil {
		t.Fatal(err)
	}
	if typ, err := x.Keyword("type"); err != nil || typ.String() != "other.json#/definitions/X/type" ||
		reads["other.json"] != 1 {
		t.Errorf("%v, %v, read %v", typ, err, reads)
	}
}
