package check_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/check"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/validate"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

var update = flag.Bool("update", false, "rewrite the golden files")

type object = cloudtest.Fields

// world returns data with one store, and a rule in it.
func world() *cloudtest.World {
	w := cloudtest.New("https://arm.example")
	w.Add("/r/store.yml", object{"type": cloudtest.Store, "name": "a", "parent": cloudtest.Group,
		"body": object{"location": "westus", "properties": object{"size": 1}}})
	w.Add("/r/rule.yml", object{"type": cloudtest.Rule, "name": "r", "parent": "/r/store.yml",
		"body": object{"properties": object{"start": "1", "end": "2"}}})
	return w
}

// run checks a change of the world.
func run(t testing.TB, change func(w *cloudtest.World)) *check.Report {
	t.Helper()
	base, head := world(), world()
	change(head)
	return between(t, base, head)
}

func between(t testing.TB, base, head *cloudtest.World) *check.Report {
	t.Helper()
	reader := &cloud.Reader{}
	var models []*cloud.Model
	for _, w := range []*cloudtest.World{base, head} {
		m, err := reader.Read(t.Context(), w.Query(t))
		if err != nil {
			t.Fatal(err)
		}
		models = append(models, m)
	}
	return check.Run(models[0], models[1])
}

func told(r *check.Report) []string {
	var out []string
	for _, f := range r.Findings {
		old := ""
		if f.Old {
			old = " old"
		}
		out = append(out, fmt.Sprintf("%s%s %s %s#%s", f.Severity, old, f.Code, f.File, f.Pointer))
	}
	return out
}

func bodyOf(w *cloudtest.World, file string) object { return w.Data[file]["body"].(object) }

func TestChanges(t *testing.T) {
	mutable := `{"overrides": [{"type": "Acme.Cache/stores", "path": "location", "class": "mutable", "reason": "a test"}]}`
	move := func(w *cloudtest.World) { bodyOf(w, "/r/store.yml")["location"] = "eastus" }
	for _, c := range []struct {
		name   string
		change func(w *cloudtest.World)
		want   []string
	}{
		{"nothing", func(*cloudtest.World) {}, nil},
		{"a file moves", func(w *cloudtest.World) {
			w.Data["/r/moved.yml"] = w.Data["/r/rule.yml"]
			delete(w.Data, "/r/rule.yml")
		}, nil},
		{"create-only", move, []string{"error CREATE_ONLY /r/store.yml#/body/location"}},
		{"create-only and allowed, with a child that would be lost", func(w *cloudtest.World) {
			move(w)
			w.Data["/r/store.yml"]["allowReplace"] = true
		}, []string{"error ORPHAN /r/store.yml#/body", "error CREATE_ONLY /r/store.yml#/body/location"}},
		{"create-only and allowed", func(w *cloudtest.World) {
			move(w)
			w.Data["/r/store.yml"]["allowReplace"] = true
			w.Data["/r/rule.yml"]["delete"] = true
		}, []string{"note DELETE /r/rule.yml#/delete", "warning REPLACE /r/store.yml#/body/location"}},
		{"create-only and ignored", func(w *cloudtest.World) {
			move(w)
			w.Data["/r/store.yml"]["ignore"] = []any{"/location"}
		}, nil},
		{"create-only of what is only observed", func(w *cloudtest.World) {
			move(w)
			w.Data["/r/store.yml"]["policy"] = "observe"
		}, []string{"note POLICY /r/store.yml#/policy"}},
		{"an override of the same change does not count", func(w *cloudtest.World) {
			move(w)
			w.Data[cloudtest.API]["overrides"] = "/specs/overrides.json"
			w.Resources["/specs/overrides.json"] = mutable
		}, []string{"note RULES_CHANGED /cloud/api.yml#/specifications", "error CREATE_ONLY /r/store.yml#/body/location"}},
		{"a specification of the same change does not count", func(w *cloudtest.World) {
			move(w)
			w.Resources[cloudtest.Spec] = strings.Replace(cloudtest.Specification, `"x-ms-mutability": ["create", "read"]`,
				`"x-ms-mutability": ["create", "read", "update"]`, 1)
		}, []string{"note RULES_CHANGED /cloud/api.yml#/specifications", "error CREATE_ONLY /r/store.yml#/body/location"}},
		{"a specification that loses a type", func(w *cloudtest.World) {
			w.Resources[cloudtest.Spec] = strings.ReplaceAll(cloudtest.Specification, "/rules/", "/rulers/")
		}, []string{"note RULES_CHANGED /cloud/api.yml#/specifications", "error TYPE_UNKNOWN /r/rule.yml#/type"}},
		{"a misspelt type", func(w *cloudtest.World) { w.Data["/r/rule.yml"]["type"] = "Acme.Cache/stores/rule" },
			[]string{"error TYPE_UNKNOWN /r/rule.yml#/type"}},
		{"a new entry with mistakes", func(w *cloudtest.World) {
			w.Add("/r/new.yml", object{"type": cloudtest.Store, "name": "b", "parent": cloudtest.Group,
				"body": object{"id": "/x", "properties": object{"sise": 1, "password": "p"}}})
		}, []string{"error RO_SET /r/new.yml#/body/id", "error VAL_REQUIRED /r/new.yml#/body/location",
			"error SECRET_INLINE /r/new.yml#/body/properties/password", "error VAL_UNKNOWN /r/new.yml#/body/properties/sise"}},
		{"a parent that goes, and what stands in it stays", func(w *cloudtest.World) {
			w.Data["/r/store.yml"]["delete"] = true
		},
			[]string{"error DELETE_WITH_CHILD /r/store.yml#/delete"}},
		{"a secret of a property that the type lacks", func(w *cloudtest.World) {
			w.Data["/r/store.yml"]["secrets"] = []any{object{"at": "/properties/pasword",
				"secret": object{"path": "a", "field": "b"}}}
		}, []string{"error SECRET_PLACE /r/store.yml#/secrets/0/at"}},
		{"renamed", func(w *cloudtest.World) {
			w.Data["/r/rule.yml"]["name"] = "s"
		}, []string{"warning ORPHAN /r/rule.yml#"}},
		{"another endpoint", func(w *cloudtest.World) { w.Data[cloudtest.API]["endpoint"] = "https://other.example" },
			[]string{"warning IMMUTABLE_ID /cloud/api.yml#/endpoint"}},
		{"an entry moves to another endpoint", func(w *cloudtest.World) {
			w.Data["/cloud/other.yml"] = maps.Clone(w.Data[cloudtest.API])
			w.Data["/cloud/other.yml"]["name"], w.Data["/cloud/other.yml"]["endpoint"] = "other", "https://other.example"
			w.Data["/r/rule.yml"]["api"] = object{"$ref": "/cloud/other.yml"}
		}, []string{"warning IMMUTABLE_ID /r/rule.yml#/api"}},
		{"another token", func(w *cloudtest.World) { w.Data[cloudtest.API]["token"] = object{"path": "x", "field": "y"} },
			[]string{"warning NEW_TARGET /cloud/api.yml#"}},
		{"other read actions", func(w *cloudtest.World) { w.Data[cloudtest.API]["readActions"] = []any{"listKeys"} },
			[]string{"note RULES_CHANGED /cloud/api.yml#/readActions"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := told(run(t, c.change)); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// Of a type without properties nothing can be checked, which is told of what changes.
func TestTypeWithoutProperties(t *testing.T) {
	base, head := world(), world()
	for _, w := range []*cloudtest.World{base, head} {
		w.Resources[cloudtest.Spec] = strings.ReplaceAll(cloudtest.Specification, `{"$ref": "common.json#/definitions/Rule"}`,
			`{"type": "object"}`)
	}
	head.Add("/r/new.yml", object{"type": cloudtest.Rule, "name": "b", "parent": "/r/store.yml",
		"body": object{"properties": object{"start": "1"}}})
	if got, want := told(between(t, base, head)), []string{"warning SPEC_LOAD /r/new.yml#/type"}; !slices.Equal(got,
		want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What stood in base is old, wherever it is in its list, and fails nothing.
func TestOldMistakes(t *testing.T) {
	base := world()
	bodyOf(base, "/r/store.yml")["properties"] = object{"sise": 1, "size": "x"}
	head := base.Clone()
	head.Data["/r/store.yml"] = object{}
	for name, v := range base.Data["/r/store.yml"] {
		head.Data["/r/store.yml"][name] = v
	}
	head.Data["/r/store.yml"]["body"] = object{"location": "West US", "tags": object{"a": "1"},
		"properties": object{"sise": 2, "size": "x", "peer": true}}
	r := between(t, base, head)
	want := []string{"error VAL_TYPE /r/store.yml#/body/properties/peer",
		"error old VAL_UNKNOWN /r/store.yml#/body/properties/sise", "error old VAL_TYPE /r/store.yml#/body/properties/size"}
	if got := told(r); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What is protected on base is protected from its own change.
func TestProtected(t *testing.T) {
	base := world()
	base.Data["/r/rule.yml"]["protected"] = true
	base.Data["/r/store.yml"]["protected"] = true
	head := world()
	head.Data["/r/rule.yml"]["delete"] = true
	head.Data["/r/store.yml"]["allowReplace"] = true
	bodyOf(head, "/r/store.yml")["location"] = "eastus"
	want := []string{"error PROTECTED /r/rule.yml#/delete", "error PROTECTED /r/store.yml#/allowReplace",
		"warning REPLACE /r/store.yml#/body/location"}
	if got := told(between(t, base, head)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Create-only properties that the data no longer have are told beside the findings.
func TestKept(t *testing.T) {
	base := world()
	w := world()
	delete(bodyOf(w, "/r/store.yml"), "location")
	r := between(t, base, w)
	if len(r.Kept) != 1 || r.Kept[0].Property != "/location" || r.Kept[0].Code != "KEPT_CREATE_ONLY" {
		t.Errorf("got %+v", r.Kept)
	}
	bodyOf(base, "/r/store.yml")["properties"] = object{"size": 1, "password": "canary"}
	r = between(t, base, w)
	if len(r.Kept) != 2 || r.Kept[1].Property != "/properties/password" || r.Kept[1].Code != "KEPT_CONTESTED" {
		t.Errorf("got %+v", r.Kept)
	}
}

// The three forms of a report.
func TestReport(t *testing.T) {
	base, head := world(), world()
	bodyOf(base, "/r/store.yml")["properties"] = object{"size": 1, "password": "canary"}
	bodyOf(head, "/r/store.yml")["location"] = "east|us`\n\x1b[31m"
	bodyOf(head, "/r/store.yml")["properties"] = object{"size": "2", "password": "canary"}
	delete(head.Data, "/r/rule.yml")
	r := between(t, base, head)
	r.Locate(func(string, string) int { return 3 })
	for form, write := range map[string]func(*check.Report, *strings.Builder) error{
		"txt":  func(r *check.Report, w *strings.Builder) error { return r.WriteText(w) },
		"json": func(r *check.Report, w *strings.Builder) error { return r.WriteJSON(w) },
		"md":   func(r *check.Report, w *strings.Builder) error { return r.WriteMarkdown(w) },
	} {
		var out strings.Builder
		if err := write(r, &out); err != nil {
			t.Fatal(err)
		}
		name := "testdata/report." + form + ".golden"
		if *update {
			if err := os.WriteFile(name, []byte(out.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil || out.String() != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, out.String(), want)
		}
		if strings.Contains(out.String(), "canary") || strings.Contains(out.String(), "\x1b") {
			t.Errorf("%s shows a secret, or controls the terminal", name)
		}
	}
}

// A finding about an item stands at the index that the item has in the file of head.
func TestItemsHaveTheirPlace(t *testing.T) {
	typ := &validate.Checker{Rules: rules.Table{
		{At: "/disks", Rule: rules.Rule{List: "map", Keys: []string{"lun"}}},
		{At: "/disks/*/type", Rule: rules.Rule{CreateOnly: rules.Declared}},
	}}
	base := &cloud.Resource{File: "/a.yml",
		Body: parse(t, `{"disks": [{"lun": 0, "type": "x"}, {"lun": 1, "type": "x"}]}`)}
	head := &cloud.Resource{File: "/a.yml",
		Body: parse(t, `{"disks": [{"lun": 1, "type": "x"}, {"lun": 0, "type": "y"}]}`)}
	got := check.Pair{Base: base, Head: head, Types: []*validate.Checker{typ}}.Check().Findings
	if len(got) != 1 || got[0].Property != "/disks/lun=0/type" || got[0].Pointer != "/body/disks/1/type" ||
		got[0].Name() != "disks[lun=0].type" {
		t.Errorf("got %+v", got)
	}
}

// Two items with the same keys have one name. The mistake stands at the second one.
func TestDuplicateStandsAtTheSecondItem(t *testing.T) {
	typ := &validate.Checker{Rules: rules.Table{{At: "/disks", Rule: rules.Rule{List: "map", Keys: []string{"lun"}}}}}
	head := &cloud.Resource{File: "/a.yml", Body: parse(t, `{"disks": [{"lun": 1}, {"lun": 0}, {"lun": 0}]}`)}
	got := check.Pair{Head: head, Types: []*validate.Checker{typ}}.Check().Findings
	if len(got) != 1 || got[0].Code != "DUPLICATE" || got[0].Property != "/disks/lun=0" ||
		got[0].Pointer != "/body/disks/2" {
		t.Errorf("got %+v", got)
	}
}

// A rule at an optional property of a custom resource counts only while the property is there
// before and after the change.
func TestTransitionRuleOfOptionalProperty(t *testing.T) {
	typ := &validate.Checker{Rules: rules.Table{{At: "/spec/tier",
		Rule: rules.Rule{CreateOnly: rules.Declared, FreeToSet: true, FreeToUnset: true}}}}
	without, with, other := `{"spec": {"size": 1}}`, `{"spec": {"size": 1, "tier": "a"}}`,
		`{"spec": {"size": 1, "tier": "b"}}`
	for _, c := range []struct {
		base, head  string
		want, notes int
	}{{without, with, 0, 1}, {with, without, 0, 0}, {with, other, 1, 0}, {without, without, 0, 0}} {
		pair := check.Pair{Base: &cloud.Resource{Body: parse(t, c.base)}, Head: &cloud.Resource{Body: parse(t, c.head)},
			Types: []*validate.Checker{typ}}
		if got := pair.Check(); len(got.Findings) != c.want || len(got.Kept) != c.notes ||
			c.notes > 0 && (got.Kept[0].Code != check.CodeFirstSet || got.Kept[0].Pointer != "/body/spec/tier") {
			t.Errorf("%s to %s: got %+v", c.base, c.head, got)
		}
	}
}

// The name and the namespace in the body of an object of Kubernetes are those of its entry.
func TestIdentityInBody(t *testing.T) {
	r := &cloud.Resource{File: "/a.yml", Of: &resources.Type{Family: resources.Kubernetes},
		Address: family.Address{Name: "n", ID: "/api/v1/namespaces/x/configmaps/n"},
		Body:    parse(t, `{"metadata": {"name": "m", "namespace": "x", "labels": {"a": "1"}}}`)}
	got := check.Pair{Head: r, Types: []*validate.Checker{{Rules: rules.None}}}.Check().Findings
	if len(got) != 1 || got[0].Code != "IMMUTABLE_ID" || got[0].Pointer != "/body/metadata/name" {
		t.Errorf("got %+v", got)
	}
}

// allowUpdate lifts what is inferred, and nothing that is declared. The message names the ground.
func TestAllowUpdate(t *testing.T) {
	typ := &validate.Checker{Rules: rules.Table{
		{At: "/a", Rule: rules.Rule{CreateOnly: rules.Inferred, Ground: "PATCH does not take it"}},
		{At: "/b", Rule: rules.Rule{CreateOnly: rules.Declared}},
	}}
	pair := check.Pair{Base: &cloud.Resource{Body: parse(t, `{"a": 1, "b": 1}`)},
		Head: &cloud.Resource{Body: parse(t, `{"a": 2, "b": 2}`)}, Types: []*validate.Checker{typ}}
	got := pair.Check().Findings
	if len(got) != 2 || !strings.Contains(got[0].Message, "probably") ||
		!strings.Contains(got[0].Message, "PATCH does not take it") ||
		!strings.Contains(got[0].Message, "allowUpdate: [/a]") {
		t.Errorf("got %+v", got)
	}
	pair.Head.AllowUpdate = []string{"/a", "/b"}
	if got := pair.Check().Findings; len(got) != 1 || got[0].Code != check.CodeCreateOnly || got[0].Property != "/b" {
		t.Errorf("allowed: got %+v", got)
	}
}
