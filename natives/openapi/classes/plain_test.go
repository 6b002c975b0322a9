package classes_test

import (
	"fmt"
	"testing"

	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// A key is the name of something in the types that every server of Kubernetes has. In a custom
// resource and in other services it can be a secret, and what else looks like one is one everywhere.
func TestPlainNames(t *testing.T) {
	const schema = `{"type": "object", "properties": {"key": {"type": "string"}, "topologyKey": {"type": "string"}, "token": {"type": "string"}, "apiKey": {"type": "string"}}}`
	for path, want := range map[string]string{
		"/apis/apps/v1/namespaces/{namespace}/things/{name}":              "false false true true",
		"/api/v1/namespaces/{namespace}/things/{name}":                    "false false true true",
		"/apis/networking.k8s.io/v1/namespaces/{namespace}/things/{name}": "false false true true",
		"/apis/example.com/v1/namespaces/{namespace}/things/{name}":       "true true true true",
		"/apis/evilk8s.io/v1/namespaces/{namespace}/things/{name}":        "true true true true",
		"/subscriptions/{s}/providers/Example.Zoo/things/{name}":          "true true true true",
	} {
		content := `"content": {"application/json": {"schema": ` + schema + `}}`
		text := fmt.Sprintf(`{"openapi": "3.0.0", "info": {"version": "1"}, "paths": {%q: {"get": {"responses": {"200": {%s}}}, "put": {"requestBody": {%s}, "responses": {}}}}}`, path, content, content)
		d, err := openapi.NewSet(func(string, int64) ([]byte, error) {
			return []byte(text), nil
		}, openapi.Limits{}).Document("a.json")
		if err != nil {
			t.Fatal(err)
		}
		types := resources.NewIndex([]*openapi.Document{d}).Types()
		if len(types) != 1 {
			t.Fatalf("%s: got %d types", path, len(types))
		}
		c, err := classes.New(types[0])
		if err != nil {
			t.Fatal(err)
		}
		var got []any
		for _, name := range []string{"key", "topologyKey", "token", "apiKey"} {
			p, err := c.Explain(name)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, p.Masked)
		}
		if text := fmt.Sprint(got...); text != want {
			t.Errorf("%s: masked %s, want %s", path, text, want)
		}
	}
}

// null is a value of what PATCH declares so, in the words of each version.
func TestNullInPatch(t *testing.T) {
	patch := func(of string) string {
		content := func(schema string) string { return `{"content": {"application/json": {"schema": ` + schema + `}}}` }
		whole := `{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}`
		return `{"openapi": "3.1.0", "paths": {"/things/{name}": {"get": {"responses": {"200": ` + content(whole) +
			`}}, "put": {"requestBody": ` + content(whole) +
			`}, "patch": {"requestBody": ` + content(`{"type": "object", "properties": {"a": `+of+`}}`) + `}}}}`
	}
	for of, want := range map[string]bool{`{"type": "string"}`: false, `{"type": ["string", "null"]}`: true,
		`{"type": "string", "nullable": true}`: true, `{"type": "string", "x-nullable": true}`: true} {
		c, err := classes.New(typeOf(t, patch(of)))
		if err != nil {
			t.Fatal(err)
		}
		for path, isNull := range map[string]bool{"a": want, "b": false} {
			if p, err := c.Explain(path); err != nil || p.NullInPatch != isNull {
				t.Errorf("%s: %s: %+v, %v", of, path, p, err)
			}
		}
	}
}
