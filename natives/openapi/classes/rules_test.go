package classes_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// plainSpec returns a specification of OpenAPI 3.1 with one type, whose GET and PUT have one
// schema.
func plainSpec(schema string) string {
	return spec31(schema, schema, "")
}

// spec31 returns a specification of one type at /things/{name}. An operation without a schema
// is left out.
func spec31(get, put, post string) string {
	content := func(schema string) string { return `{"content":{"application/json":{"schema":` + schema + `}}}` }
	item := `"get":{"responses":{"200":` + content(get) + `}},"delete":{}`
	if put != "" {
		item += `,"put":{"requestBody":` + content(put) + `}`
	}
	collection := ""
	if post != "" {
		collection = `"/things":{"post":{"requestBody":` + content(post) + `}},`
	}
	return fmt.Sprintf(`{"openapi":"3.1.0","paths":{%s"/things/{name}":{%s}}}`, collection, item)
}

// typeOf returns the only type of a specification.
func typeOf(t testing.TB, spec string) *resources.Type {
	t.Helper()
	set := openapi.NewSet(func(name string, _ int64) ([]byte, error) {
		if name != "spec.json" {
			return nil, fs.ErrNotExist
		}
		return []byte(spec), nil
	}, openapi.Limits{})
	return typeAt(t, set, "spec.json", "/things/{name}")
}

// Rules that the shared cases do not have.
func TestRules(t *testing.T) {
	for _, test := range []struct {
		name, spec, path string
		want             string // class and source, or "" if it can be changed
		is               func(*classes.Property) *classes.Ground
	}{
		{"POST takes it and PUT does not: create-only",
			spec31(`{"properties":{"a":{},"b":{}}}`, `{"properties":{"a":{}}}`, `{"properties":{"a":{},"b":{}}}`), "b",
			"inferred", createOnly},
		{"POST and PUT take it",
			spec31(`{"properties":{"a":{}}}`, `{"properties":{"a":{}}}`, `{"properties":{"a":{}}}`), "a", "", createOnly},
		{"a body of any members proves nothing",
			spec31(`{"properties":{"a":{"properties":{"x":{}}}}}`, `{"properties":{"a":{"type":"object"}}}`, ""), "a.x", "",
			readOnly},
		{"additionalProperties: true proves nothing",
			spec31(`{"properties":{"x":{}}}`, `{"properties":{"a":{}},"additionalProperties":true}`, ""), "x", "", readOnly},
		{"GET without a schema proves nothing",
			spec31(`{}`, `{"properties":{"a":{}}}`, ""), "a", "", writeOnly},
		{"writeOnly", plainSpec(`{"properties":{"a":{"type":"string","writeOnly":true}}}`), "a", "declared", writeOnly},
		{"a transition rule", plainSpec(`{"properties":{"a":{"x-kubernetes-validations":[{"rule":"self == oldSelf"}]}}}`),
			"a", "declared", createOnly},
		{"a rule of the object around it",
			plainSpec(
				`{"x-kubernetes-validations":[{"rule":"self.a.b == oldSelf.a.b"}],"properties":{"a":{"properties":{"b":{}}}}}`),
			"a.b", "declared", createOnly},
		{"a rule about another property",
			plainSpec(`{"x-kubernetes-validations":[{"rule":"self.c == oldSelf.c"}],"properties":{"a":{},"c":{}}}`), "a", "",
			createOnly},
		{"another rule", plainSpec(`{"properties":{"a":{"x-kubernetes-validations":[{"rule":"self >= oldSelf"}]}}}`), "a", "",
			createOnly},
		{"readOnly in allOf", plainSpec(`{"properties":{"a":{"allOf":[{"type":"string"},{"readOnly":true}]}}}`), "a",
			"declared", readOnly},
		{"readOnly of one choice of many", plainSpec(`{"properties":{"a":{"oneOf":[{"type":"string"},{"readOnly":true}]}}}`),
			"a", "", readOnly},
		{"readOnly of the only choice beside null",
			plainSpec(`{"properties":{"a":{"anyOf":[{"type":"null"},{"readOnly":true}]}}}`), "a", "declared", readOnly},
		{"a body of another JSON type", strings.ReplaceAll(plainSpec(`{"properties":{"a":{"readOnly":true}}}`),
			"application/json", "application/merge-patch+json; q=1"), "a", "declared", readOnly},
		{"JSON goes before other types",
			strings.ReplaceAll(strings.ReplaceAll(plainSpec(`{"properties":{"a":{"readOnly":true}}}`), "application/json",
				"application/x+json"),
				`"content":{`, `"content":{"a/a":{"schema":{"properties":{"a":{}}}},`), "a", "declared", readOnly},
		{"properties beside $ref count",
			plainSpec(`{"properties":{"a":{"$ref":"#/paths/~1things~1{name}/delete","properties":{"z":{"readOnly":true}}}}}`),
			"a.z", "declared", readOnly},
		{"readOnly is inherited", plainSpec(`{"properties":{"a":{"readOnly":true,"properties":{"x":{}}}}}`), "a.x",
			"declared", readOnly},
		{"mutability is inherited",
			plainSpec(`{"properties":{"a":{"x-ms-mutability":["create","read"],"properties":{"x":{}}}}}`), "a.x", "declared",
			createOnly},
		{"what is inside of a create-only object is so too",
			plainSpec(`{"properties":{"a":{"x-ms-mutability":["create"],"properties":{"x":{"x-ms-mutability":["create","update","read"]}}}}}`), "a.x", "declared", createOnly},
	} {
		c, err := classes.New(typeOf(t, test.spec))
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.Explain(test.path)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		got := ""
		if g := test.is(p); g != nil {
			got = string(g.Source)
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// A transition rule at a value counts only while the value is there before and after.
func TestFreeToSetAndUnset(t *testing.T) {
	const rule = `"x-kubernetes-validations":[{"rule":"self == oldSelf"}]`
	for _, test := range []struct {
		name, schema, path string
		set, unset         bool
		depth              int
	}{
		{"optional", `{"properties":{"a":{` + rule + `}}}`, "a", true, true, 1},
		{"required", `{"required":["a"],"properties":{"a":{` + rule + `}}}`, "a", true, false, 1},
		{"with a default", `{"properties":{"a":{"default":1,` + rule + `}}}`, "a", false, false, 1},
		{"in an object whose default is empty", `{"properties":{"o":{"default":{},"properties":{"a":{` + rule + `}}}}}`,
			"o.a", true, true, 2},
		{"in an object with a default", `{"properties":{"o":{"default":{"a":1},"properties":{"a":{` + rule + `}}}}}`, "o.a",
			false, false, 2},
		{"inside of it", `{"properties":{"a":{"properties":{"x":{}},` + rule + `}}}`, "a.x", true, true, 1},
		{"the object around says that it stays",
			`{"properties":{"o":{"x-kubernetes-validations":[{"rule":"!has(oldSelf.a) || has(self.a)"}],"properties":{"a":{` +
				rule + `}}}}}`, "o.a", true, false, 2},
		{"the object around needs it", `{"x-kubernetes-validations":[{"rule":"self.a == oldSelf.a"}],"properties":{"a":{}}}`,
			"a", false, false, 1},
		{"an old value that may be missing",
			`{"properties":{"a":{"x-kubernetes-validations":[{"rule":"self == oldSelf","optionalOldSelf":true}]}}}`, "a", false,
			false, 1},
		{"mutability", `{"properties":{"a":{"x-ms-mutability":["create","read"]}}}`, "a", false, false, 0},
	} {
		c, err := classes.New(typeOf(t, plainSpec(test.schema)))
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.Explain(test.path)
		if err != nil || p.CreateOnly == nil {
			t.Errorf("%s: %v, %+v", test.name, err, p)
			continue
		}
		if g := p.CreateOnly; g.FreeToSet != test.set || g.FreeToUnset != test.unset || g.Depth != test.depth {
			t.Errorf("%s: got %+v", test.name, g)
		}
	}
}

func createOnly(p *classes.Property) *classes.Ground { return p.CreateOnly }
func readOnly(p *classes.Property) *classes.Ground   { return p.ReadOnly }
func writeOnly(p *classes.Property) *classes.Ground  { return p.WriteOnly }

// Variants are found by inheritance and by choices, and have the values that the mapping
// gives them.
func TestVariants(t *testing.T) {
	const head = `{"openapi":"3.1.0","paths":{"/things/{name}":{"get":{},"put":{"requestBody":{"content":{"text/plain":{"schema":{"type":"string"}},"application/json":{"schema":{"properties":{"a":`
	const tail = `}}}}}}}},"components":{"schemas":{
		"Base":{"discriminator":{"propertyName":"kind","mapping":{"one":"One","uno":"#/components/schemas/One"}},"properties":{"kind":{"type":"string"}}},
		"One":{"allOf":[{"$ref":"#/components/schemas/Base"}],"properties":{"x":{}}},
		"Two":{"allOf":[{"$ref":"#/components/schemas/One"}],"properties":{"y":{}}},
		"Cat":{"properties":{"kind":{},"lives":{}}},"Dog":{"properties":{"kind":{},"bones":{}}}}}}`
	const of, kind = `"discriminator":{"propertyName":"kind","mapping":{"cat":"Cat"}}`, `[{"$ref":"#/components/schemas/Cat"},{"$ref":"#/components/schemas/Dog"}]`
	for _, test := range []struct{ name, schema, want string }{
		{"inheritance", `{"$ref":"#/components/schemas/Base"}`, "&{kind map[Two:[kind x y] one:[kind x] uno:[kind x]]}"},
		{"of a variant only its own", `{"$ref":"#/components/schemas/One"}`, "&{kind map[Two:[kind x y]]}"},
		{"choices", `{"oneOf":` + kind + `,` + of + `}`, "&{kind map[Dog:[bones kind] cat:[kind lives]]}"},
		{"a discriminator of one choice", `{"oneOf":[{"$ref":"#/components/schemas/Base"},{"type":"string"}]}`, "<nil>"},
		{"none", `{"properties":{"kind":{}}}`, "<nil>"},
	} {
		c, err := classes.New(typeOf(t, head+test.schema+tail))
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.Explain("a")
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if got := fmt.Sprint(p.Variants); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

// A definition of a family has the format that the family gives it, also behind allOf.
func TestFormatOfADefinition(t *testing.T) {
	const quantity = `"io.k8s.apimachinery.pkg.api.resource.Quantity":{"type":"string"}`
	const body = `{"content":{"application/json":{"schema":{"properties":{"a":{"additionalProperties":{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"}},"b":{"type":"string"},
		"c":{"default":{},"allOf":[{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"}]}}}}}}`
	c, err := classes.New(typeAt(t, openapi.NewSet(func(string, int64) ([]byte, error) {
		return []byte(
			`{"openapi":"3.0.0","info":{"title":"Kubernetes"},"paths":{"/apis/g/v1/things/{name}":{"get":{"responses":{"200":` +
				body + `}},"put":{"requestBody":` + body +
				`}}},"components":{"schemas":{` + quantity + `}}}`), nil
	}, openapi.Limits{}), "spec.json", "/apis/g/v1/things/{name}"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"a{}": "quantity", "b": "", "c": "quantity"} {
		p, err := c.Explain(path)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if p.Format != nil {
			got = p.Format.Name
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}
