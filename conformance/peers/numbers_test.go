package peers

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/validator"
)

// Numbers hold the limits of schemas as they do for python-jsonschema.
func TestSchemaNumbers(t *testing.T) { shared.Judge(t, "schema-numbers", isValid) }

// isValid compares whether the value of an input is valid by its schema.
func isValid(t *testing.T, l shared.Answer) (bool, string) {
	t.Helper()
	var input struct{ Schema, Value json.RawMessage }
	var want bool
	if err := json.Unmarshal(l.Input, &input); err != nil {
		t.Fatal(err)
	}
	if l.IsRefused() {
		return false, "the value was judged"
	}
	if err := json.Unmarshal(l.Answer, &want); err != nil {
		t.Fatal(err)
	}
	raw := fmt.Sprintf(`{"data": {"/d.yml": {"$schema": "/s.json", "value": %s}}, "resources": {}, "graphql": [], `+
		`"schemas": {"/s.json": {"$schema": "/metaschema-1.json", "type": "object", `+
		`"properties": {"$schema": {}, "value": %s}}}}`, input.Value, input.Schema)
	b, err := bundle.Parse([]byte(raw), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := validator.Check(t.Context(), b, validator.Options{Scope: validator.All})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, f := range r.Findings {
		if f.Path == "/d.yml" {
			said = append(said, f.Message)
		}
	}
	return (len(said) == 0) == want, fmt.Sprint(said)
}
