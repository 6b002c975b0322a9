package cloud_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

type object = cloudtest.Fields

const (
	storeKey = "/subscriptions/s/resourcegroups/g/providers/acme.cache/stores/a"
	storeID  = "/subscriptions/s/resourceGroups/g/providers/Acme.Cache/stores/a"
)

// world returns a world with a store and a rule of it.
func world() *cloudtest.World {
	w := cloudtest.New("https://arm.example")
	w.Add("/r/a.yml", object{"type": "acme.cache/STORES", "name": "a", "parent": cloudtest.Group,
		"body": object{"location": "west", "properties": object{"size": 1}}})
	w.Add("/r/rule.yml", object{"type": cloudtest.Rule, "name": "r", "parent": "a",
		"body": object{"properties": object{"start": "1"}}})
	return w
}

func read(t *testing.T, w *cloudtest.World) *cloud.Model {
	t.Helper()
	m, err := new(cloud.Reader).Read(t.Context(), w.Query(t))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func find(t *testing.T, m *cloud.Model, file string) *cloud.Resource {
	t.Helper()
	for _, r := range m.Resources {
		if r.File == file {
			return r
		}
	}
	t.Fatalf("there is no resource %s", file)
	return nil
}

func TestRead(t *testing.T) {
	w := world()
	w.Add("/r/b.yml", object{"type": cloudtest.Store, "resourceId": storeID + "b/", "body": object{"properties": object{
		"peer": object{"$ref": "/r/a.yml"}, "size": 2}}, "adopt": "if-exists", "policy": "observe", "delete": true,
		"secrets": []any{object{"at": "/properties/password", "secret": object{"path": "p", "field": "f", "version": 3}}}})
	w.Add("/r/other.yml", object{"type": cloudtest.Store, "parent": "/subscriptions/t/resourceGroups/g", "name": "c",
		"body": object{"properties": object{
			"peer": strings.ToUpper(storeID)}}, "needs": []any{object{"$ref": "/r/other2.yml"}}})
	w.Add("/r/other2.yml", object{"type": cloudtest.Store, "parent": "/subscriptions/t/resourceGroups/g", "name": "d"})
	m := read(t, w)
	for _, r := range m.Resources {
		if !r.Mistake.IsZero() {
			t.Errorf("%s: %+v", r.File, r.Mistake)
		}
	}
	for file, want := range map[string]object{
		"/r/a.yml": {"key": storeKey, "root": "/subscriptions/s", "needs": nil, "around": "", "across": nil},
		"/r/rule.yml": {"key": storeKey + "/rules/r", "root": "/subscriptions/s", "needs": []any{storeKey},
			"around": storeKey, "across": nil},
		"/r/b.yml": {"key": storeKey + "b", "root": "/subscriptions/s", "needs": []any{storeKey}, "around": "",
			"across": nil},
		"/r/other.yml": {"key": "/subscriptions/t/resourcegroups/g/providers/acme.cache/stores/c", "root": "/subscriptions/t",
			"needs": []any{"/subscriptions/t/resourcegroups/g/providers/acme.cache/stores/d"}, "around": "",
			"across": []any{storeKey}},
	} {
		r := find(t, m, file)
		got := text(object{"key": r.Key, "root": r.Root, "needs": r.Needs, "around": r.Around, "across": r.Across})
		if got != text(want) {
			t.Errorf("%s:\n got %s\nwant %s", file, got, text(want))
		}
	}
	b := find(t, m, "/r/b.yml")
	if peer := b.Body.(object)["properties"].(object)["peer"]; peer != storeID {
		t.Errorf("the reference is %v, want %s", peer, storeID)
	}
	if !b.Delete || b.Policy != reconcile.Observe || b.Adopt != cloud.AdoptIfExists || len(b.Secrets) != 1 ||
		b.Secrets[0].Secret.Version != "3" {
		t.Errorf("got %+v", b)
	}
	if codes := codesOf(m.Findings); codes != "CROSS_SHARD" {
		t.Errorf("findings: got %s", codes)
	}
}

func text(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

func codesOf(findings []plan.Finding) string {
	var out []string
	for _, f := range findings {
		out = append(out, string(f.Code))
	}
	return strings.Join(out, " ")
}

// A mistake is told with its code and its place, and other entries go on.
func TestMistakes(t *testing.T) {
	group := cloudtest.Group
	for name, c := range map[string]struct {
		entry object
		want  string // code, pointer and a part of the message
	}{
		"no type": {object{"name": "x", "parent": group}, "VAL_REQUIRED /type a type"},
		"unknown type": {object{"type": "Acme.Cache/store", "name": "x", "parent": group},
			`TYPE_UNKNOWN /type do you mean "Acme.Cache/stores"?`},
		"unknown version": {object{"type": "Acme.Cache/stores@1", "name": "x", "parent": group},
			"VERSION_UNKNOWN /type Acme.Cache/stores@2020-01-01"},
		"no name": {object{"type": cloudtest.Store, "parent": group}, "IMMUTABLE_ID /name parent and name"},
		"wrong parent": {object{"type": cloudtest.Store, "name": "x", "parent": "/subscriptions/s"},
			"IMMUTABLE_ID /name is no address"},
		"a step up": {object{"type": cloudtest.Store, "name": "..", "parent": group},
			"IMMUTABLE_ID /name a step up"},
		"an escape": {object{"type": cloudtest.Store, "name": "x%2fy", "parent": group},
			"IMMUTABLE_ID /name escaped"},
		"a slash": {object{"type": cloudtest.Store, "name": "x/y", "parent": group},
			"IMMUTABLE_ID /name character"},
		"unknown parent": {object{"type": cloudtest.Rule, "name": "x", "parent": "b"},
			`VAL_REQUIRED /parent no entry of the API has the name "b"`},
		"itself": {object{"type": cloudtest.Rule, "name": "x", "parent": "x"},
			"DEPENDENCY_CYCLE /parent /r/x.yml"},
		"both": {object{"type": cloudtest.Store, "name": "x", "resourceId": storeID},
			"IMMUTABLE_ID /resourceId not by both"},
		"policy": {object{"type": cloudtest.Store, "name": "x", "parent": group, "policy": "no"},
			"VAL_ENUM /policy no policy"},
		"adopt": {object{"type": cloudtest.Store, "name": "x", "parent": group, "adopt": "yes"},
			"VAL_ENUM /adopt never"},
		"soft delete": {object{"type": cloudtest.Store, "name": "x", "parent": group, "onSoftDeleted": "yes"},
			"VAL_ENUM /onSoftDeleted stop"},
		"delete": {object{"type": cloudtest.Store, "name": "x", "parent": group, "delete": "true"},
			"VAL_TYPE /delete Boolean"},
		"body": {object{"type": cloudtest.Store, "name": "x", "parent": group, "body": []any{}},
			"VAL_TYPE /body an object"},
		"body as text": {object{"type": cloudtest.Store, "name": "x", "parent": group, "bodyText": `{"a": 1`},
			"VAL_TYPE /bodyText "},
		"two bodies": {object{"type": cloudtest.Store, "name": "x", "parent": group, "bodyText": `{}`,
			"body": object{}}, "VAL_TYPE /bodyText one of them"},
		"a huge number": {object{"type": cloudtest.Store, "name": "x", "parent": group,
			"body": object{"l": []any{nil, object{"a/b": json.Number("1" + strings.Repeat("0", 309))}}}},
			"VAL_TYPE /body/l/1/a~1b bodyText"},
		"a huge exponent": {object{"type": cloudtest.Store, "name": "x", "parent": group,
			"body": object{"a": json.Number("-1e309")}}, "VAL_TYPE /body/a bodyText"},
		"a large number": {object{"type": cloudtest.Store, "name": "x", "parent": group,
			"body": object{"a": json.Number("9007199254740993")}}, "VAL_TYPE /body/a bodyText"},
		"a null": {object{"type": cloudtest.Store, "name": nil, "parent": group},
			"VAL_TYPE /name it is null and must be a text"},
		"a path": {object{"type": cloudtest.Store, "name": "x", "parent": group, "ignore": []any{"a"}},
			"VAL_PATTERN /ignore/0 JSON pointer"},
		"a secret inline": {object{"type": cloudtest.Store, "name": "x", "parent": group, "body": object{"a": "s"},
			"secrets": []any{object{"at": "/a", "secret": object{"path": "p", "field": "f"}}}}, "SECRET_INLINE /body/a remove"},
		"no secret": {object{"type": cloudtest.Store, "name": "x", "parent": group,
			"secrets": []any{object{"at": "/a"}}}, "VAL_REQUIRED /secrets/0/secret path"},
		"an unknown hook": {object{"type": cloudtest.Store, "name": "x", "parent": group, "hooks": []any{"no"}},
			`VAL_ENUM /hooks/0 there is no hook "no"`},
		"duplicate": {object{"type": cloudtest.Store, "name": "A", "parent": strings.ToUpper(group)},
			"DUPLICATE /name /r/a.yml"},
		"a broken reference": {object{"type": cloudtest.Store, "name": "x", "parent": group,
			"body": object{"a": object{"$ref": "/cloud/api.yml"}}}, "VAL_REQUIRED /body/a no usable entry"},
	} {
		w := world()
		w.Add("/r/x.yml", c.entry)
		m := read(t, w)
		got := find(t, m, "/r/x.yml").Mistake
		code, rest, _ := strings.Cut(c.want, " ")
		pointer, message, _ := strings.Cut(rest, " ")
		if string(got.Code) != code || got.Pointer != pointer || !strings.Contains(got.Message, message) {
			t.Errorf("%s: got %+v, want %s", name, got, c.want)
		}
		if wrong := find(t, m, "/r/a.yml").Mistake; name != "duplicate" && !wrong.IsZero() {
			t.Errorf("%s: another entry has a mistake: %+v", name, wrong)
		}
	}
}

// A mistake of an API is told once, and holds its resources.
func TestMistakesOfAPIs(t *testing.T) {
	for name, c := range map[string]struct {
		field string
		value any
		want  string
	}{
		"family":          {"family", "aws", "VAL_ENUM /family"},
		"endpoint":        {"endpoint", "arm.example", "VAL_PATTERN /endpoint"},
		"without TLS":     {"endpoint", "http://arm.example", "VAL_PATTERN /endpoint"},
		"no spec":         {"specifications", []any{}, "VAL_REQUIRED /specifications"},
		"a wrong spec":    {"specifications", []any{"specs/a.json"}, "VAL_PATTERN /specifications/0"},
		"a missing spec":  {"specifications", []any{"/specs/no.json"}, "SPEC_LOAD /specifications"},
		"no overrides":    {"overrides", "/specs/no.json", "SPEC_LOAD /overrides"},
		"wrong overrides": {"overrides", cloudtest.Spec, "SPEC_LOAD /overrides"},
	} {
		w := world()
		w.Data[cloudtest.API][c.field] = c.value
		m := read(t, w)
		if len(m.Findings) != 1 || string(m.Findings[0].Code)+" "+m.Findings[0].Pointer != c.want {
			t.Errorf("%s: got %+v, want %s", name, m.Findings, c.want)
		}
		if len(m.Findings) > 0 && strings.Contains(m.Findings[0].Message, string(m.Findings[0].Code)) {
			t.Errorf("%s: the message says the code again: %s", name, m.Findings[0].Message)
		}
		if find(t, m, "/r/a.yml").Mistake.IsZero() {
			t.Errorf("%s: its resources have no mistake", name)
		}
	}
	w := world()
	other := w.Clone().Data[cloudtest.API]
	other["name"], other["token"] = "second", object{"path": "other", "field": "token"}
	w.Data["/cloud/second.yml"] = other
	if got := codesOf(read(t, w).Findings); got != "DUPLICATE" {
		t.Errorf("two tokens for one endpoint: got %s", got)
	}
}

// A new specification, or an override, changes the digest of exactly the resources that it may
// describe in another way.
func TestDigests(t *testing.T) {
	before := read(t, world())
	digests := func(m *cloud.Model) [2]bool {
		var out [2]bool
		for i, file := range []string{"/r/a.yml", "/r/rule.yml"} {
			out[i] = find(t, m, file).Digest != find(t, before, file).Digest
		}
		return out
	}
	for name, c := range map[string]struct {
		edit func(w *cloudtest.World)
		want [2]bool
	}{
		"nothing": {func(*cloudtest.World) {}, [2]bool{}},
		"an unused document": {func(w *cloudtest.World) {
			w.Resources["/specs/unused.json"] = "{}"
		}, [2]bool{}},
		"another specification": {func(w *cloudtest.World) {
			w.Resources["/specs/b.json"] = strings.ReplaceAll(cloudtest.Specification, "Acme.Cache", "Acme.Other")
			w.Data[cloudtest.API]["specifications"] = []any{cloudtest.Spec, "/specs/b.json"}
		}, [2]bool{}},
		"a document that it leads to": {func(w *cloudtest.World) {
			w.Resources["/specs/common.json"] += " "
		}, [2]bool{true, true}},
		"an override": {func(w *cloudtest.World) {
			w.Resources["/o.json"] = `{"overrides": [{"type": "Acme.Cache/stores/rules", "path": "properties.start", "class": "createOnly", "reason": "x"}]}`
			w.Data[cloudtest.API]["overrides"] = "/o.json"
		}, [2]bool{false, true}},
	} {
		w := world()
		c.edit(w)
		m := read(t, w)
		if got := digests(m); got != c.want || len(m.Findings) > 0 {
			t.Errorf("%s: got %v, want %v; findings %v", name, got, c.want, m.Findings)
		}
	}
	w := world()
	w.Resources["/o.json"] = `{"overrides": [{"type": "Acme.Cache/stores/rules", "path": "properties.none", "class": "createOnly", "reason": "x"}]}`
	w.Data[cloudtest.API]["overrides"] = "/o.json"
	if m := read(t, w); len(m.Findings) == 0 {
		t.Error("an override that corrects nothing is not told")
	}
}

// Specifications with the same content are read once for two bundles.
func TestReaderKeeps(t *testing.T) {
	r := new(cloud.Reader)
	var got [2]*cloud.Model
	for i := range got {
		var err error
		if got[i], err = r.Read(t.Context(), world().Query(t)); err != nil {
			t.Fatal(err)
		}
	}
	if got[0].APIs[0].Specs() != got[1].APIs[0].Specs() {
		t.Error("they are read twice")
	}
}
