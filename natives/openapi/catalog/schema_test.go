package catalog_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/catalog"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// The schema for editors has what requests take, no read-only member, and no member that nobody knows, unless a request
// takes any.
func TestSchema(t *testing.T) {
	const schema = `{"type": "object", "required": ["name"], "properties": {
		"id": {"type": "string", "readOnly": true}, "name": {"type": "string", "enum": ["a", "b"]},
		"labels": {"type": "object", "additionalProperties": {"type": "string"}},
		"ports": {"type": "array", "items": {"type": "object", "properties": {"port": {"type": "integer"}}}},
		"open": {"type": "object", "additionalProperties": true, "properties": {"x": {"type": "string"}}}}}`
	content := `"content": {"application/json": {"schema": ` + schema + `}}`
	text := `{"openapi": "3.0.0", "paths": {"/things/{name}": {"get": {"responses": {"200": {` + content +
		`}}}, "put": {"requestBody": {` + content + `}}}}}`
	set := openapi.NewSet(func(string, int64) ([]byte, error) { return []byte(text), nil }, openapi.Limits{})
	d, err := set.Document("a.json")
	if err != nil {
		t.Fatal(err)
	}
	types, err := resources.NewIndex([]*openapi.Document{d}).Find("things")
	if err != nil {
		t.Fatal(err)
	}
	out, err := catalog.NewSchema(types[0])
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Properties struct {
			Body struct {
				AdditionalProperties any
				Properties           map[string]struct {
					Description string
					AnyOf       []map[string]any
				}
			}
		}
	}
	if err := json.Unmarshal(raw, &read); err != nil {
		t.Fatal(err)
	}
	body := read.Properties.Body
	if body.AdditionalProperties != false || len(body.Properties) != 4 || body.Properties["id"].AnyOf != nil {
		t.Errorf("got %s", raw)
	}
	for name, want := range map[string]string{
		"name":   `{"enum":["a","b"],"type":"string"}`,
		"labels": `{"additionalProperties":{"anyOf":[{"type":"string"},{"$ref":"#/definitions/given"}]},"type":"object"}`,
		"ports":  `"port":{"anyOf":[{"type":"integer"}`,
		"open":   `{"properties":{"x":`,
	} {
		of := body.Properties[name].AnyOf
		if len(of) != 2 || of[1]["$ref"] != "#/definitions/given" {
			t.Errorf("%s: got %v", name, of)
			continue
		}
		got, err := json.Marshal(of[0])
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s: got %s, %v, want %s", name, got, err, want)
		}
		if _, isClosed := of[0]["additionalProperties"].(bool); isClosed != (name == "nothing") {
			t.Errorf("%s: got %s", name, got)
		}
	}
	if got := body.Properties["name"].Description; !strings.HasPrefix(got, "(required") {
		t.Errorf("got the description %q", got)
	}
}
