package validator

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// schemaBundle returns a bundle that consists of schema files.
func schemaBundle(t testing.TB, schemas map[string]string) *bundle.Bundle {
	t.Helper()
	files := map[string]json.RawMessage{}
	for path, text := range schemas {
		files[path] = json.RawMessage(text)
	}
	raw, err := json.Marshal(map[string]any{"data": map[string]any{}, "schemas": files})
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Parse(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func parseValue(t testing.TB, text string) any {
	t.Helper()
	v, err := bundle.ParseValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestEvaluateAgreesWithLibrary checks that random values fit random schemas exactly if the
// library that compiles the schemas says so.
func TestEvaluateAgreesWithLibrary(t *testing.T) {
	fit, unfit := 0, 0
	seeds := uint64(4000)
	if testing.Short() {
		seeds = 1000
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 7))
		schema := randomSchema(r, 3)
		l := newLibrary(schemaBundle(t,
			map[string]string{"/a.json": schema, "/b.json": `{"definitions":{"x":{"type":["integer","object"]}}}`}))
		n, err := l.compile("/a.json", "")
		if err != nil {
			t.Fatalf("seed %d: %s: %v", seed, schema, err)
		}
		compiled, err := l.compiler.Compile(schemaURL("/a.json", ""))
		if err != nil {
			t.Fatal(err)
		}
		for range 8 {
			text := randomValue(r, 3)
			plain, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			want := compiled.Validate(plain) == nil
			_, found := checkValue(Finding{}, n, parseValue(t, text))
			if got := len(found) == 0; got != want {
				t.Fatalf("seed %d: fits %t, want %t\nschema %s\nvalue %s\nfound %v", seed, got, want, schema, text, found)
			}
			if want {
				fit++
			} else {
				unfit++
			}
		}
	}
	if min(fit, unfit) < 3000 {
		t.Errorf("%d values fit and %d do not: one of them is too few", fit, unfit)
	}
}

var keys = []string{"a", "b", "ab"}

func key1(r *rand.Rand) string { return keys[r.IntN(len(keys))] }

// randomSchema returns a schema with some random keywords.
func randomSchema(r *rand.Rand, depth int) string {
	if depth == 0 {
		return []string{"{}", "true", "false", `{"type":"string"}`, `{"enum":[1,"a",[]]}`}[r.IntN(5)]
	}
	sub := func() string { return randomSchema(r, depth-1) }
	words := []func() string{
		func() string { return `"type":"` + types[r.IntN(len(types))] + `"` },
		func() string { return `"type":["object","` + types[r.IntN(len(types)-1)] + `"]` },
		func() string { return `"enum":[` + randomValue(r, 1) + `,{"a":1.0},"b"]` },
		func() string { return `"const":` + randomValue(r, 1) },
		func() string { return fmt.Sprintf(`"minimum":%d`, r.IntN(3)) },
		func() string { return fmt.Sprintf(`"exclusiveMaximum":%d`, r.IntN(3)) },
		func() string { return `"multipleOf":0.5` },
		func() string { return fmt.Sprintf(`"minLength":%d,"maxLength":%d`, r.IntN(2), r.IntN(4)) },
		func() string { return `"pattern":"^a"` },
		func() string { return fmt.Sprintf(`"maxItems":%d`, r.IntN(3)) },
		func() string { return fmt.Sprintf(`"minProperties":%d`, r.IntN(3)) },
		func() string { return `"uniqueItems":true` },
		func() string { return `"required":["` + key1(r) + `"]` },
		func() string { return `"properties":{"` + key1(r) + `":` + sub() + `}` },
		func() string { return `"patternProperties":{"b$":` + sub() + `}` },
		func() string { return `"additionalProperties":` + sub() },
		func() string { return `"propertyNames":` + sub() },
		func() string { return `"dependencies":{"a":["b"],"b":` + sub() + `}` },
		func() string { return `"items":` + sub() },
		func() string { return `"items":[` + sub() + `],"additionalItems":` + sub() },
		func() string { return `"contains":` + sub() },
		func() string { return `"allOf":[` + sub() + `,` + sub() + `]` },
		func() string { return `"anyOf":[` + sub() + `,` + sub() + `]` },
		func() string { return `"oneOf":[` + sub() + `,` + sub() + `]` },
		func() string { return `"not":` + sub() },
		func() string { return `"$ref":"/b.json#/definitions/x"` },
	}
	r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	seen := map[string]bool{}
	var out []string
	for _, w := range words[:1+r.IntN(3)] {
		text := w()
		if strings.HasPrefix(text, `"$ref"`) { // the library lets const count beside it
			return "{" + text + "}"
		}
		if name, _, _ := strings.Cut(text, ":"); !seen[name] {
			seen[name] = true
			out = append(out, text)
		}
	}
	return "{" + strings.Join(out, ",") + "}"
}

var types = []string{"null", "boolean", "integer", "number", "string", "array", "object"}

func randomValue(r *rand.Rand, depth int) string {
	leaves := []string{"null", "true", "0", "1", "1.0", "1.5", "-2", `""`, `"a"`, `"ab"`, `"é"`, "[]", "{}"}
	if depth == 0 || r.IntN(3) == 0 {
		return leaves[r.IntN(len(leaves))]
	}
	var parts []string
	isList := r.IntN(2) == 0
	for _, k := range keys[:r.IntN(len(keys)+1)] {
		part := randomValue(r, depth-1)
		if !isList {
			part = `"` + k + `":` + part
		}
		parts = append(parts, part)
	}
	if isList {
		return "[" + strings.Join(parts, ",") + "]"
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// TestEvaluateIsBounded checks that the check of hostile schemas and values ends soon, with
// a finding.
func TestEvaluateIsBounded(t *testing.T) {
	const doubled = `{"allOf":[{"$ref":"/a.json#/definitions/n%[2]d"},{"$ref":"/a.json#/definitions/n%[2]d"}]}`
	var twice []string
	for i := range 30 {
		twice = append(twice, fmt.Sprintf(`"n%[1]d":`+doubled, i, i+1))
	}
	tests := []struct{ name, schema, value, want string }{
		{"twice as much on each of many levels",
			`{"$ref":"/a.json#/definitions/n0","definitions":{` + strings.Join(twice, ",") + `,"n30":{}}}`, "1",
			"checking it takes too many steps; the rest of it is not checked"},
		{"the same below not",
			`{"not":{"anyOf":[{"$ref":"/a.json#/definitions/n0"}]},"definitions":{` +
				strings.ReplaceAll(strings.Join(twice, ","), "allOf", "anyOf") + `,"n30":false}}`, "1",
			"checking it takes too many steps; the rest of it is not checked"},
		{"twice as much in each deeper value",
			`{"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`,
			strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200),
			"checking it takes too many steps; the rest of it is not checked"},
		{"a schema that is itself", `{"allOf":[{"$ref":"#"}]}`, "1",
			"its schema refers to itself without end; the rest of it is not checked"},
		{"many mistakes", `{"items":{"type":"string"}}`, "[" + strings.Repeat("1,", 20_000) + "1]",
			"it has too many mistakes; the rest of it is not checked"},
		{"an exponent without end", `{"maximum":5,"type":"integer"}`, "1e999999999", "1e999999999 must be at most 5"},
		{"a small exponent without end", `{"multipleOf":3}`, "1e-999999999", ""},
		{"a quotient that is too large", `{"multipleOf":0.123456789}`, "1e308", "1e308 must be a multiple of 0.123456789"},
		{"a quotient that is too large and whole", `{"multipleOf":0.5}`, "1e308", ""},
		{"an integer without end", `{"maximum":5}`, strings.Repeat("9", 100_000),
			strings.Repeat("9", 80) + "… must be at most 5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLibrary(schemaBundle(t, map[string]string{"/a.json": tt.schema}))
			n, err := l.compile("/a.json", "")
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if _, found := checkValue(Finding{}, n, parseValue(t, tt.value)); len(found) > 0 {
				got = found[len(found)-1].Message
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestHostileSchemas checks that schemas cannot reach outside of the bundle, and that files
// are checked against the parts of a schema that are not broken.
func TestHostileSchemas(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"file", `"$ref":"file:///etc/passwd"`, `/properties/x/$ref: "file:///etc/passwd" is not in the bundle`},
		{"server", `"$ref":"http://localhost:1/x.json"`,
			`/properties/x/$ref: "http://localhost:1/x.json" is not in the bundle`},
		{"base elsewhere", `"$id":"file:///etc/","$ref":"passwd"`,
			`/properties/x/$ref: "/passwd" is not the path of a schema`},
		{"not an address", `"$ref":"%zz"`, `/properties/x/$ref: "%zz" is not an address`},
		{"exponent", `"minimum":1e999999999`, ""},
		{"keyword of another kind", `"allOf":[5,{}]`, `/properties/x/allOf/0: got integer, want boolean or object`},
		{"pattern", `"pattern":"("`,
			`/properties/x/pattern: the pattern "(" does not compile: error parsing regexp: missing closing ) in ` + "`(`"},
		{"pattern of keys", `"patternProperties":{"(":{}}`,
			`/properties/x/patternProperties/(: the pattern "(" does not compile: error parsing regexp: missing closing ) in ` +
				"`(`"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			raw := `{"data":{"/a":{"$schema":"/s.json","y":1}},"schemas":{"/s.json":{"$schema":"` + draft6 + `",
				"properties":{"x":{` + tt.schema + `},"y":{"type":"string"}}}}}`
			b, err := bundle.Parse([]byte(raw), nil)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Check(context.Background(), b, Options{Scope: All})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range r.Findings {
				got = append(got, strings.TrimPrefix(f.Pointer+": "+f.Message, ": "))
			}
			want := []string{"/y: got integer, want string"}
			if tt.want != "" {
				want = append([]string{tt.want}, want...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %q\nwant %q", got, want)
			}
		})
	}
}
