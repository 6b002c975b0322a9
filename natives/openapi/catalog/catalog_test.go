package catalog_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/catalog"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// index reads the types of the examples.
func index(t testing.TB, documents ...string) *resources.Index {
	t.Helper()
	set := openapi.NewSet(func(name string, _ int64) ([]byte, error) {
		return os.ReadFile("../../../examples/specs/" + name)
	}, openapi.Limits{})
	var all []*openapi.Document
	for _, name := range documents {
		d, err := set.Document(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return resources.NewIndex(all)
}

// The tree has each type once, its parent before it, and does not depend on the order of the
// documents.
func TestTree(t *testing.T) {
	var texts []string
	for _, names := range [][]string{{"lighting.json", "library.json", "common.json"},
		{"common.json", "library.json", "lighting.json"}} {
		tree := catalog.NewTree(index(t, names...), "")
		var out bytes.Buffer
		if err := tree.Text(&out); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, out.String())
		seen := map[string]bool{"": true}
		for _, b := range tree.Types {
			if name, _, _ := strings.Cut(b.Type, "@"); seen[name] || !seen[b.Parent] {
				t.Errorf("%s: it stands twice, or before its parent %q", b.Type, b.Parent)
			} else {
				seen[name] = true
			}
		}
	}
	if texts[0] != texts[1] || strings.Count(texts[0], "\n") != 4 {
		t.Errorf("got %s and %s", texts[0], texts[1])
	}
}

// What a specification says cannot move the cursor of a terminal or forge a line.
func TestForeignText(t *testing.T) {
	spec := `{"swagger":"2.0","paths":{"/a\u001b[2J\nforged/{n}":{"get":{},"put":{"parameters":[{"in":"body","schema":{"properties":{
		"x\nforged\u202e":{"readOnly":true,"description":"one\n\ntwo\u0007 three"}}}}]}}}}`
	set := openapi.NewSet(func(name string, _ int64) ([]byte, error) {
		if name != "spec.json" {
			return nil, fs.ErrNotExist
		}
		return []byte(spec), nil
	}, openapi.Limits{})
	d, err := set.Document("spec.json")
	if err != nil {
		t.Fatal(err)
	}
	x := resources.NewIndex([]*openapi.Document{d})
	page, err := catalog.NewPage(x.Types())
	if err != nil {
		t.Fatal(err)
	}
	one, err := catalog.NewPropertyPage(x.Types()[0], "x\nforged\u202e")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, write := range []func() error{
		func() error {
			return catalog.NewTree(x, "").Text(&out)
		}, func() error { return page.Text(&out) }, func() error { return one.Text(&out) },
	} {
		if err := write(); err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "forged") || strings.ContainsAny(line, "\x1b\x07\u202e\r") {
			t.Errorf("foreign text got through: %q", line)
		}
	}
	if !strings.Contains(out.String(), "one two three") {
		t.Errorf("the description is not there: %s", out.String())
	}
}

// The JSON of a page holds what a program needs.
func TestJSON(t *testing.T) {
	types, err := index(t, "lighting.json").Find("example.lighting/halls")
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := classes.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	page, err := catalog.NewPage(types, shipped)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := catalog.JSON(&out, page); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Version    int
		Type       string
		PatchKind  string
		Operations []struct {
			Verb        string
			LongRunning bool
		}
		Properties []struct{ Path, Pattern, ValueType string }
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Version != 1 || got.Type != "Example.Lighting/halls@2024-01-01" || got.PatchKind != "real" ||
		len(got.Operations) != 3 || !got.Operations[0].LongRunning {
		t.Errorf("got %+v", got)
	}
	if p := got.Properties[0]; p.Path != "id" || p.Pattern != "/id" || p.ValueType != "string" {
		t.Errorf("got %+v", p)
	}
}
