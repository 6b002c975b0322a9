package classes_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// The shipped overrides can be read, and each is about a property that a shared specification
// has.
func TestShippedMatch(t *testing.T) {
	shipped, err := classes.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range corpusTypes(t) {
		if _, err := classes.New(one, shipped); err != nil {
			t.Errorf("%s: %v", one.ID(), err)
		}
	}
	for _, err := range shipped.Unused(true) {
		if !slices.ContainsFunc(servedOnly, func(name string) bool {
			return strings.Contains(err.Error(), strconv.Quote(name))
		}) {
			t.Error(err)
		}
	}
}

// servedOnly lists types of Kubernetes that no shared specification has. The tests with a real
// API server try their overrides.
var servedOnly = []string{"v1/secrets", "v1/services", "v1/configmaps", "rbac.authorization.k8s.io/v1/rolebindings",
	"rbac.authorization.k8s.io/v1/clusterrolebindings"}

// Each shipped override changes what the rules say, or makes what they only infer certain.
func TestShippedSaySomething(t *testing.T) {
	shipped, err := classes.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range corpusTypes(t) {
		plain, err := classes.New(one)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range shipped.Entries {
			if !e.IsAbout(one) {
				continue
			}
			p, err := plain.Explain(e.Path)
			if err != nil {
				continue // this version does not have it
			}
			if p.List != nil && e.Keys != nil && slices.Equal(p.List.Keys, e.Keys) {
				t.Errorf("%s %s: the keys are needless: %+v", one.ID(), e.Path, p.List)
			}
			if e.Class == "" {
				continue
			}
			grounds := map[string]*classes.Ground{"readOnly": p.ReadOnly, "createOnly": p.CreateOnly, "writeOnly": p.WriteOnly,
				"secret": p.Secret}
			if g := grounds[e.Class]; g != nil && g.Source != classes.Inferred {
				t.Errorf("%s %s: the override %s is needless: %+v", one.ID(), e.Path, e.Class, g)
			}
		}
	}
}

// What other tools confirm, and what no rule can find, is create-only with the shipped
// overrides.
func TestShippedConfirmed(t *testing.T) {
	type confirmedCase struct {
		Input     struct{ File, Path string }
		Confirmed []string `json:"create_only_confirmed"`
		Needs     []string `json:"create_only_needs_override"`
	}
	dir := shared.Path(t, "data", "specs")
	for _, c := range shared.Cases[confirmedCase](t, "classify_spec") {
		shipped, err := classes.Shipped()
		if err != nil {
			t.Fatal(err)
		}
		set := openapi.NewSet(files(dir), openapi.Limits{})
		one := typeAt(t, set, strings.TrimPrefix(c.Input.File, "data/specs/"), c.Input.Path)
		classifier, err := classes.New(one, shipped)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Concat(c.Confirmed, c.Needs) {
			if p, err := classifier.Explain(name); err != nil || p.CreateOnly == nil {
				t.Errorf("%s %s: got %+v, %v", one.ID(), name, p, err)
			}
		}
	}
}

func TestReadOverridesMistakes(t *testing.T) {
	for _, test := range []struct{ entry, want string }{
		{`{"type":"T","path":"a","class":"readOnly"}`, "needs a reason"},
		{`{"type":"T","path":"a","class":"readOnly","reason":" "}`, "needs a reason"},
		{`{"path":"a","class":"readOnly","reason":"r"}`, "needs a type"},
		{`{"type":"T","class":"readOnly","reason":"r"}`, "needs a path"},
		{`{"type":"T","path":"a","reason":"r"}`, "says nothing"},
		{`{"type":"T","path":"a","class":"readonly","reason":"r"}`, `no class "readonly"`},
		{`{"type":"T","path":"a","format":"x","reason":"r"}`, `no format "x"`},
		{`{"type":"T","path":"a","list":"x","reason":"r"}`, `no kind of list "x"`},
		{`{"type":"T","path":"a","list":"map","reason":"r"}`, "needs keys"},
		{`{"type":"T","path":"a","list":"set","keys":["k"],"reason":"r"}`, "only a list of the kind map"},
		{`{"type":"T","path":"","patch":"x","reason":"r"}`, `no way to patch "x"`},
		{`{"type":"T","path":"a","patch":"merge","reason":"r"}`, "its path is empty"},
		{`{"type":"T","path":"a","kind":"x","reason":"r"}`, `unknown field "kind"`},
		{`{"type":"T","path":"a","default":{"a":1,"a":2},"reason":"r"}`, "stands twice"},
		{`null`, "is null"},
	} {
		_, err := classes.ReadOverrides("o.json", []byte(`{"overrides":[`+test.entry+`]}`))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.entry, err, test.want)
		}
	}
	if _, err := classes.ReadOverrides("o.json", []byte(`{"overrides":[]} x`)); err == nil {
		t.Error("text after the end is no mistake")
	}
}

// An override that matches nothing, or contradicts another one, is a mistake.
func TestOverrideMatches(t *testing.T) {
	spec := plainSpec(`{"type":"object","properties":{"a":{"type":"string"},"capacity":{},"tags":{"type":"object","additionalProperties":{"type":"string"}}}}`)
	for _, test := range []struct{ name, entries, inNew, unused string }{
		{"good", `{"type":"THINGS","path":"/a","class":"readOnly","reason":"r"}`, "", ""},
		{"unknown property", `{"type":"things","path":"capcity","class":"readOnly","reason":"r"}`,
			`overrides/0: things: the resource has no property "capcity"; do you mean "capacity"?`, ""},
		{"unknown type", `{"type":"thing","path":"a","class":"readOnly","reason":"r"}`, "",
			`no specification has the type "thing"`},
		{"one key of a map", `{"type":"things","path":"tags.x","class":"readOnly","reason":"r"}`,
			`all of "tags{}"; write it so`, ""},
		{"contradiction",
			`{"type":"things","path":"a","class":"readOnly","reason":"r"},{"type":"things","path":"/a","class":"createOnly","reason":"r"}`, "overrides/1: it contradicts", ""},
		{"two classes that go together",
			`{"type":"things","path":"a","class":"secret","reason":"r"},{"type":"things","path":"a","class":"writeOnly","reason":"r"}`, "", ""},
	} {
		o, err := classes.ReadOverrides("o.json", json.RawMessage(`{"overrides":[`+test.entries+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		_, err = classes.New(typeOf(t, spec), o)
		if (err == nil) != (test.inNew == "") || err != nil && !strings.Contains(err.Error(), test.inNew) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.inNew)
			continue
		}
		if err != nil {
			continue
		}
		unused := o.Unused(true)
		if (len(unused) == 0) != (test.unused == "") || len(unused) > 0 && !strings.Contains(unused[0].Error(), test.unused) {
			t.Errorf("%s: got %v, want %q", test.name, unused, test.unused)
		}
	}
}

// What an override says of a property, and of what is inside of it.
func TestOverrideSays(t *testing.T) {
	spec := spec31(`{"properties":{"a":{"properties":{"x":{},"own":{}}},"l":{"type":"array","items":{"properties":{"k":{}}}},"s":{"type":"string"}}}`,
		`{"properties":{"a":{"properties":{"x":{},"own":{"readOnly":true}}},"l":{"type":"array","items":{"properties":{"k":{}}}},"s":{"type":"string"}}}`,
		`{"properties":{"a":{"properties":{"x":{},"y":{}}},"b":{}}}`)
	first, err := classes.ReadOverrides("first.json", []byte(`{"overrides":[
		{"type":"things","path":"a","class":"createOnly","reason":"1"},
		{"type":"things","path":"l","list":"map","keys":["k"],"reason":"2"},
		{"type":"things","path":"s","format":"enum-fold","default":1e400,"reason":"3"},
		{"type":"things","path":"","patch":"merge","reason":"4"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	second, err := classes.ReadOverrides("second.json",
		[]byte(`{"overrides":[{"type":"things","path":"/a","class":"mutable","reason":"5"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	explain := func(path string, files ...*classes.Overrides) *classes.Property {
		c, err := classes.New(typeOf(t, spec), files...)
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.Explain(path)
		if err != nil {
			t.Fatal(err)
		}
		if rule := c.Patch(); (rule != nil) != (len(files) > 0) || rule != nil && rule.Ground.Text != "4" {
			t.Errorf("PATCH: got %+v", rule)
		}
		return p
	}
	if p := explain("a.y"); p.CreateOnly == nil || p.CreateOnly.Source != classes.Inferred {
		t.Errorf("without overrides: got %+v", p)
	}
	if g := explain("a.x", first).CreateOnly; g == nil || g.Source != classes.Override || g.From != "a" ||
		g.Place != "first.json#/overrides/0" {
		t.Errorf("inherited: got %+v", g)
	}
	if p := explain("a.x", first, second); p.CreateOnly != nil || p.Mutable == nil || p.Mutable.Text != "5" {
		t.Errorf("a later file: got %+v", p)
	}
	if p := explain("a.y", first, second); p.CreateOnly != nil {
		t.Errorf("inside of what can be changed, nothing is inferred: got %+v", p.CreateOnly)
	}
	if p := explain("a.own", first, second); p.ReadOnly == nil || p.ReadOnly.Source != classes.Declared {
		t.Errorf("inside of what can be changed, what is declared counts: got %+v", p)
	}
	if l := explain("l", first).List; l.Kind != classes.Map || !slices.Equal(l.Keys, []string{"k"}) ||
		l.Ground.Text != "2" {
		t.Errorf("list: got %+v", l)
	}
	p := explain("s", first)
	if raw, err := p.Default.Value.MarshalJSON(); err != nil || string(raw) != "1e400" || !p.Default.Applies ||
		p.Format.Name != "enum-fold" {
		t.Errorf("default %s, %v, format %+v", raw, err, p.Format)
	}
}

// An entry is about types of its family alone, and what is shipped never breaks a foreign specification.
func TestShippedAreOfTheirFamily(t *testing.T) {
	shipped, err := classes.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range shipped.Entries {
		if e.Family == "" {
			t.Errorf("%s %s: an entry that is shipped names its family", e.Type, e.Path)
		}
	}
	const secret = `{"type": "object", "properties": {"name": {"type": "string"}, "data": {"type": "string"}, "stringData": {"type": "string"}}}`
	for _, text := range []string{
		`{"openapi": "3.0.0", "paths": {"/v1/secrets/{id}": {"get": {"responses": {"200": {"content": {"application/json": {"schema": SCHEMA}}}}}, "put": {"requestBody": {"content": {"application/json": {"schema": SCHEMA}}}}}}}`,
		`{"openapi": "3.0.0", "info": {"title": "Kubernetes"}, "paths": {"/api/v1/secrets/{name}": {"get": {"responses": {"200": {"content": {"application/json": {"schema": SCHEMA}}}}}, "put": {"requestBody": {"content": {"application/json": {"schema": SCHEMA}}}}}}}`,
	} {
		for _, schema := range []string{secret, `{"type": "object", "properties": {"x": {"type": "string"}}}`} {
			one := plainType(t, strings.ReplaceAll(text, "SCHEMA", schema))
			c, err := classes.New(one, shipped)
			if err != nil {
				t.Errorf("%s: %v", one.ID(), err)
				continue
			}
			if p, err := c.Explain("data"); err == nil && (p.Secret != nil) != (one.Family == resources.Kubernetes) {
				t.Errorf("%s of %s: data is %+v", one.ID(), one.Family.Name, p)
			}
		}
	}
}

func plainType(t *testing.T, text string) *resources.Type {
	t.Helper()
	set := openapi.NewSet(func(string, int64) ([]byte, error) { return []byte(text), nil }, openapi.Limits{})
	d, err := set.Document("spec.json")
	if err != nil {
		t.Fatal(err)
	}
	types := resources.NewIndex([]*openapi.Document{d}).Types()
	if len(types) != 1 {
		t.Fatalf("got %d types", len(types))
	}
	return types[0]
}
