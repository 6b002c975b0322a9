package resources_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// indexOf returns the types of specifications.
func indexOf(t testing.TB, specs ...string) *resources.Index {
	t.Helper()
	set := openapi.NewSet(func(name string, _ int64) ([]byte, error) {
		var i int
		if _, err := fmt.Sscanf(name, "%d.json", &i); err != nil || i >= len(specs) {
			return nil, fs.ErrNotExist
		}
		return []byte(specs[i]), nil
	}, openapi.Limits{})
	var documents []*openapi.Document
	for i := range specs {
		d, err := set.Document(fmt.Sprintf("%d.json", i))
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, d)
	}
	return resources.NewIndex(documents)
}

// What is a type, and what is none.
func TestTypes(t *testing.T) {
	const item = `{"get":{},"put":{}}`
	for _, test := range []struct{ name, paths, want string }{
		{"GET and PUT", `"/a/{n}":` + item, "a"},
		{"PUT without GET is an action", `"/a/{n}":{"put":{}}`, ""},
		{"GET alone", `"/a/{n}":{"get":{}}`, ""},
		{"GET and DELETE", `"/a/{n}":{"get":{},"delete":{}}`, ""},
		{"GET and DELETE with POST on the collection", `"/a":{"post":{}},"/a/{n}":{"get":{},"delete":{}}`, "a"},
		{"POST on a collection of another case", `"/A":{"post":{}},"/a/{n}":{"get":{},"delete":{}}`, "a"},
		{"a fixed name", `"/a/default":` + item, "a/default!"},
		{"a parameter with one value", `"/a/{n}":{"get":{"parameters":[{"in":"path","name":"n","enum":["x"]}]},"put":{}}`,
			"a!"},
		{"a parameter with one value, OpenAPI 3",
			`"/a/{n}":{"parameters":[{"in":"path","name":"n","schema":{"enum":["x"]}}],"get":{},"put":{}}`, "a!"},
		{"a join", `"/a/{n}":` + item + `,"/a/{m}/instanceView":{"get":{}}`, "a+instanceView"},
		{"a list is no join",
			`"/a/{n}":` + item +
				`,"/a/{n}/sizes":{"get":{"responses":{"200":{"schema":{"properties":{"value":{"items":{}}}}}}}}`, "a"},
		{"pages are no join", `"/a/{n}":` + item + `,"/a/{n}/sizes":{"get":{"x-ms-pageable":{}}}`, "a"},
		{"a question is no join",
			`"/a/{n}":` + item + `,"/a/{n}/check":{"get":{"parameters":[{"in":"query","name":"q","required":true}]}}`, "a"},
		{"a type is no join", `"/a/{n}":` + item + `,"/a/{n}/b":` + item, "a a/b!<a"},
		{"Kubernetes",
			`"/apis/g/v1/namespaces/{namespace}/things/{name}":` + item +
				`,"/apis/g/v1/namespaces/{namespace}/things/{name}/status":` + item +
				`,"/apis/g/v1/namespaces/{namespace}/things/{name}/log":{"get":{}},"/api/v1/namespaces/{name}":{"get":{"x-kubernetes-group-version-kind":{}},"put":{}}`,
			"g/v1/things+status<v1/namespaces v1/namespaces"},
		{"a plain API below /api", `"/api/v1/things/{id}":` + item + `,"/api/v1/things/{id}/parts/{part}":` + item,
			"api/v1/things api/v1/things/parts<api/v1/things"},
		{"groups and subscriptions",
			`"/subscriptions/{s}":` + item + `,"/subscriptions/{s}/resourcegroups/{g}":` + item +
				`,"/subscriptions/{s}/resourceGroups/{g}/providers/A/b/{c}":` + item,
			"A/b@7<Microsoft.Resources/resourceGroups Microsoft.Resources/resourceGroups@7<Microsoft.Resources/subscriptions Microsoft.Resources/subscriptions@7"},
		{"a provider of any name", `"/subscriptions/{s}/providers/{p}/b/{c}":` + item, ""},
		{"the parent of a parent",
			`"/subscriptions/{s}/providers/A/b/{c}/d/{e}/f/{g}":` + item + `,"/subscriptions/{s}/providers/A/b/{x}":` + item,
			"A/b@7 A/b/d/f@7<A/b"},
		{"a broken parameter", `"/a/{n}":{"parameters":[{"$ref":"#/gone"}],"get":{},"put":{}},"/b/{n}":` + item, "b ?"},
	} {
		x := indexOf(t, `{"swagger":"2.0","info":{"version":"7"},"paths":{`+test.paths+`}}`)
		var got []string
		for _, one := range x.Types() {
			text := one.ID()
			if one.IsSingleton {
				text += "!"
			}
			for _, j := range one.Joins {
				text += "+" + j
			}
			if one.Parent != "" {
				text += "<" + one.Parent
			}
			got = append(got, text)
		}
		for range x.Mistakes() {
			got = append(got, "?")
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%s: got %q, want %q", test.name, text, test.want)
		}
	}
}

func TestFind(t *testing.T) {
	spec := func(version string) string {
		return `{"swagger":"2.0","info":{"version":"` + version +
			`"},"paths":{"/subscriptions/{s}/providers/A.B/things/{c}":{"get":{},"put":{}},"/subscriptions/{s}/providers/A.B/only` + version + `/{c}":{"get":{},"put":{}}}}`
	}
	x := indexOf(t, spec("1"), spec("2"))
	for _, test := range []struct{ text, want, path, err string }{
		{"a.b/THINGS@2", "A.B/things@2", "", ""},
		{"A.B/things@1.properties.x", "A.B/things@1", "properties.x", ""},
		{"A.B/only1", "A.B/only1@1", "", ""},
		{"A.B/only1./x/y", "A.B/only1@1", "/x/y", ""},
		{"A.B/things", "", "",
			"VERSION_UNKNOWN A.B/things: there are several versions; choose one of A.B/things@1, A.B/things@2"},
		{"A.B/things@3.x", "", "", `there is no version "3`},
		{"A.B/thing.x", "", "", `TYPE_UNKNOWN A.B/thing.x: no specification has this type; do you mean "A.B/things"?`},
		{"quite/another", "", "", "no specification has this type; reconciler api types lists all"},
		{strings.Repeat("x", 10000), "", "", "TYPE_UNKNOWN"},
	} {
		types, path, err := x.Split(test.text)
		switch {
		case (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err):
			t.Errorf("%.50s: got %v, want %q", test.text, err, test.err)
		case err == nil && (types[0].ID() != test.want || path != test.path):
			t.Errorf("%s: got %s and %q, want %s and %q", test.text, types[0].ID(), path, test.want, test.path)
		}
	}
}

// IDs that the shared cases do not have.
func TestParseID(t *testing.T) {
	for _, test := range []struct{ id, want string }{
		{"/subscriptions/S", "{Microsoft.Resources/subscriptions S  /subscriptions/s}"},
		{"/subscriptions/S/resourceGroups/g/providers/A/b/n/", "{A/b n /subscriptions/S/resourceGroups/g /subscriptions/s}"},
		{"/subscriptions/S/resourceGroups/g/providers/A/b/n/c/m",
			"{A/b/c m /subscriptions/S/resourceGroups/g/providers/A/b/n /subscriptions/s}"},
		{"/subscriptions/S/resourceGroups/g/providers/A/b/n/PROVIDERS/C/d/m",
			"{C/d m /subscriptions/S/resourceGroups/g/providers/A/b/n /subscriptions/s}"},
		{"/providers/M/groups/G", "{M/groups G  /providers/m/groups/g}"},
		{"/subscriptions/S/resourceGroups/providers",
			"{Microsoft.Resources/resourceGroups providers /subscriptions/S /subscriptions/s}"},
		{"/subscriptions/S/resourceGroups", "a type without a name"},
		{"/subscriptions/S/resourceGroups/g/providers/A", "a provider without a type"},
		{"/subscriptions//resourceGroups/g", "an empty part"},
		{"/subscriptions/{subscriptionId}", "a placeholder in the place of a name"},
		{"/subscriptions/S%2e%2e", "an escaped character"},
		{"/subscriptions/S\\x", "a character that no id has"},
		{"/subscriptions/S?api-version=1", "a character that no id has"},
		{"/a/b", "it names no resource"},
		{"/" + strings.Repeat("a/b", 1000), "it is too long"},
	} {
		id, err := resources.ParseID(test.id)
		got := fmt.Sprint(id)
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%.80s: got %s, want %s", test.id, got, test.want)
		}
	}
}

// Path items and operations behind references are read where they stand, also in another document; one that cannot be
// followed is told, and is no type.
func TestPathItemsBehindReferences(t *testing.T) {
	const schema = `{"type": "object", "properties": {"a": {"type": "string"}}}`
	const item = `{"get": {"responses": {"200": {"schema": ` + schema + `}}}, "put": {"$ref": "#/x-operations/put"}}`
	documents := map[string]string{
		"spec.json": `{"swagger": "2.0", "info": {"version": "1"}, "x-operations": {"delete": {"responses": {}}}, "paths": {
			"/subscriptions/{s}/providers/A.B/things/{n}": {"$ref": "parts/items.json#/x-items/thing", "delete": {"$ref": "#/x-operations/delete"}},
			"/subscriptions/{s}/providers/A.B/others/{n}": {"$ref": "parts/items.json#/x-items/other"},
			"/subscriptions/{s}/providers/A.B/wrongs/{n}": {"get": {"$ref": "#/nowhere"}, "put": {}}}}`,
		"parts/items.json": `{"x-items": {"thing": ` + item +
			`}, "x-operations": {"put": {"parameters": [{"in": "body", "name": "b", "schema": ` + schema + `}]}}}`,
	}
	set := openapi.NewSet(func(name string, _ int64) ([]byte, error) {
		if text, ok := documents[name]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}, openapi.Limits{})
	d, err := set.Document("spec.json")
	if err != nil {
		t.Fatal(err)
	}
	x := resources.NewIndex([]*openapi.Document{d})
	if all := x.Types(); len(all) != 1 || all[0].ID() != "A.B/things@1" ||
		fmt.Sprint(all[0].Verbs()) != "[get put delete]" {
		t.Errorf("got %+v", all)
	} else if b, err := all[0].Bodies(); err != nil || b.Put == nil || b.Get == nil {
		t.Errorf("got %+v, %v", b, err)
	}
	if all := x.Mistakes(); len(all) != 2 || !strings.HasPrefix(all[0].Error(), "SPEC_REF ") ||
		!strings.HasPrefix(all[1].Error(), "SPEC_REF ") {
		t.Errorf("got %v", all)
	}
}
