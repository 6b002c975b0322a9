package validate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/validate"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// typeWith returns a type whose body has some properties, in Swagger 2.0 or OpenAPI 3.1.
func typeWith(t *testing.T, version, properties string) *validate.Checker {
	t.Helper()
	schema := fmt.Sprintf(`{"type": "object", "properties": {"properties": {"type": "object", "properties": {%s}}}}`,
		properties)
	put := `{"parameters": [{"in": "body", "name": "b", "schema": ` + schema + `}], "responses": {"200": {"schema": ` +
		schema + `}}}`
	get := `{"responses": {"200": {"schema": ` + schema + `}}}`
	if strings.HasPrefix(version, `"openapi"`) {
		content := `"content": {"application/json": {"schema": ` + schema + `}}`
		put = `{"requestBody": {` + content + `}, "responses": {"200": {` + content + `}}}`
		get = `{"responses": {"200": {` + content + `}}}`
	}
	text := fmt.Sprintf(`{%s, "info": {"version": "1"}, "paths": {"/subscriptions/{s}/providers/Example.Zoo/cages/{name}": {"get": %s, "put": %s}}}`, version, get, put)
	d, err := openapi.NewSet(func(string, int64) ([]byte, error) {
		return []byte(text), nil
	}, openapi.Limits{}).Document("a.json")
	if err != nil {
		t.Fatal(err)
	}
	types, err := resources.NewIndex([]*openapi.Document{d}).Find("Example.Zoo/cages")
	if err != nil {
		t.Fatal(err)
	}
	c, err := classes.New(types[0])
	if err != nil {
		t.Fatal(err)
	}
	out, err := validate.NewType(types[0], rules.Of(c, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Numbers, and the lengths of texts and lists, are between their limits, without rounding.
func TestRanges(t *testing.T) {
	const swagger, modern = `"swagger": "2.0"`, `"openapi": "3.1.0"`
	huge := strings.Repeat("9", 400)
	for _, c := range []struct {
		version, schema string
		right, wrong    []string
		want            string
	}{
		{swagger, `{"type": "integer", "maximum": 10}`, []string{"10", "1e1", "-99", "null"}, []string{"11", "1e2", huge},
			"error VAL_RANGE it must be at most 10"},
		{swagger, `{"type": "integer", "minimum": 1}`, []string{"1", "1.0", huge, "1e99999999"},
			[]string{"0", "-1", "-" + huge, "-1e99999999"}, "error VAL_RANGE it must be at least 1"},
		{swagger, `{"type": "number", "minimum": 0.1}`, []string{"0.1", "0.10", "1e-1"},
			[]string{"0.09999999999999999999999999999", "1e-99999999"}, "error VAL_RANGE it must be at least 0.1"},
		{swagger, `{"type": "number", "maximum": 1, "exclusiveMaximum": true}`, []string{"0.9999999999999999999999"},
			[]string{"1", "1.0", "2"}, "error VAL_RANGE it must be less than 1"},
		{swagger, `{"type": "number", "minimum": 0, "exclusiveMinimum": true}`, []string{"1e-400"},
			[]string{"0", "-0", "0e9"}, "error VAL_RANGE it must be more than 0"},
		{swagger, `{"type": "integer", "maximum": 9223372036854775807}`, []string{"9223372036854775807"},
			[]string{"9223372036854775808"}, "error VAL_RANGE it must be at most 9223372036854775807"},
		{swagger, `{"allOf": [{"maximum": 5, "exclusiveMaximum": true}], "type": "integer", "maximum": 10}`, []string{"10"},
			[]string{"11"}, "error VAL_RANGE it must be at most 10"},
		{modern, `{"type": "number", "exclusiveMaximum": 1}`, []string{"0.5"}, []string{"1", "1.5"},
			"error VAL_RANGE it must be less than 1"},
		{modern, `{"type": "number", "minimum": 3, "exclusiveMinimum": 2}`, []string{"3"}, []string{"2", "2.5"},
			"error VAL_RANGE it must be at least 3"},
		{swagger, `{"type": "string", "maxLength": 3}`, []string{`"abc"`, `"äöü"`, `"日本語"`, `""`}, []string{`"abcd"`},
			"error VAL_RANGE it must have at most 3 characters"},
		{swagger, `{"type": "string", "minLength": 2}`, []string{`"ab"`}, []string{`""`, `"ä"`},
			"error VAL_RANGE it must have at least 2 characters"},
		{swagger, `{"type": "array", "items": {"type": "integer"}, "maxItems": 2}`, []string{"[]", "[1,2]"},
			[]string{"[1,2,3]"}, "error VAL_RANGE it must have at most 2 items"},
		{swagger, `{"type": "array", "items": {"type": "integer"}, "minItems": 2}`, []string{"[1,2]"}, []string{"[1]", "[]"},
			"error VAL_RANGE it must have at least 2 items"},
		{swagger,
			`{"type": "array", "items": {"type": "object", "properties": {"k": {"type": "string"}}}, "x-ms-identifiers": ["k"], "minItems": 2}`,
			[]string{`[{"k": "a"}, {"k": "b"}]`, `[]`}, []string{`[{"k": "a"}]`},
			"warning VAL_RANGE it must have at least 2 items, those of others among them"},
		{swagger, `{"type": "array", "items": {"type": "string"}, "uniqueItems": true, "minItems": 2, "maxItems": 3}`,
			[]string{`["a", "b"]`}, []string{`["a", "b", "c", "d"]`}, "error VAL_RANGE it must have at most 3 items"},
		{swagger, `{"type": "integer", "multipleOf": 1024}`, []string{"0", "1024", "-2048", "1024e3"},
			[]string{"1", "1000", "1024.5e1"}, "error VAL_RANGE it must be a multiple of 1024"},
		{swagger, `{"type": "number", "multipleOf": 0.01}`, []string{"1", "0.01", "19.99", "1e50"},
			[]string{"0.001", "19.999"}, "error VAL_RANGE it must be a multiple of 0.01"},
		{swagger, `{"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 2}`,
			[]string{`{}`, `{"a": "1", "b": "2", "c": null}`}, []string{`{"a": "1", "b": "2", "c": "3"}`},
			"error VAL_RANGE it must have at most 2 members"},
		{swagger, `{"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 2}`,
			[]string{`{"a": "1", "b": "2"}`, `{}`}, []string{`{"a": "1"}`, `{"a": "1", "b": null}`},
			"warning VAL_RANGE it must have at least 2 members, those of others among them"},
		// What says nothing, or nothing about this kind of value.
		{swagger, `{"type": "string", "maximum": 1, "minItems": 9}`, []string{`"99"`}, nil, ""},
		{swagger, `{"type": "integer", "maximum": "1", "minimum": null, "maxLength": 1}`, []string{"100"}, nil, ""},
		{swagger, `{"maxLength": 1, "maximum": 1, "multipleOf": 0}`, []string{"true", "{}", "[]", "1"}, nil, ""},
	} {
		typ := typeWith(t, c.version, `"p": `+c.schema)
		for _, value := range c.right {
			if got := check(t, typ, validate.Body{}, `{"properties": {"p": `+value+`}}`); len(got) > 0 {
				t.Errorf("%s: %.50s is called %q", c.schema, value, got)
			}
		}
		for _, value := range c.wrong {
			want := []string{strings.Replace(c.want, "VAL_RANGE ", "VAL_RANGE /properties/p: ", 1)}
			if got := check(t, typ, validate.Body{}, `{"properties": {"p": `+value+`}}`); !slices.Equal(got, want) {
				t.Errorf("%s: %.50s: got %q, want %q", c.schema, value, got, want)
			}
		}
	}
}

// Neither a secret nor its length is told.
func TestRangeOfSecret(t *testing.T) {
	typ := typeWith(t, `"swagger": "2.0"`, `"password": {"type": "string", "maxLength": 3}`)
	for _, f := range typ.Check(validate.Body{
		Value: map[string]any{"properties": map[string]any{"password": "canary-of-25-characters"}}}) {
		if f.Value != nil || strings.Contains(f.Message, "canary") || strings.Contains(f.Message, "23") {
			t.Errorf("got %+v", f)
		}
	}
}
