package classes_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// readAll reads a specification and classifies all that it describes.
func readAll(t testing.TB, spec string) (properties int, errs []error) {
	t.Helper()
	set := openapi.NewSet(func(name string, _ int64) ([]byte, error) {
		if name != "a/spec.json" && name != "other.json" {
			return nil, fs.ErrNotExist
		}
		return []byte(spec), nil
	}, openapi.Limits{})
	d, err := set.Document("a/spec.json")
	if err != nil {
		return 0, []error{err}
	}
	index := resources.NewIndex([]*openapi.Document{d})
	errs = index.Mistakes()
	for _, one := range index.Types() {
		c, err := classes.New(one)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all, _, err := c.All()
		if err != nil {
			errs = append(errs, err)
		}
		properties += len(all)
		for i, p := range all {
			if i%50 != 0 {
				continue
			}
			if got, err := c.Explain(p.Pattern); err != nil || got.Pattern != p.Pattern {
				// A map that also describes a property of the name * has two of this pattern.
				if !strings.Contains(p.Pattern, "/*") {
					t.Errorf("%q is listed, and explained as %+v, %v", p.Pattern, got, err)
				}
			}
		}
	}
	return properties, errs
}

// Whatever a specification says, it is read or refused, and each refusal has a code and a
// place.
func FuzzSpecification(f *testing.F) {
	f.Add(
		`{"swagger":"2.0","paths":{"/things/{name}":{"get":{"responses":{"200":{"schema":{"$ref":"#/d"}}}},"put":{"parameters":[{"in":"body","schema":{"$ref":"../other.json#/d"}}]},"patch":{}}},
"d":{"allOf":[{"$ref":"#/d"},{"properties":{"a":{"$ref":"#/d"},"b":{"items":{"$ref":"#/d"}},"c":{"additionalProperties":{"$ref":"#/d"}}}}],"discriminator":"a"},
"definitions":{"V":{"allOf":[{"$ref":"#/d"}]}}}`)
	f.Add(
		`{"openapi":"3.1.0","paths":{"/apis/g/v1/things/{name}":{"get":{"responses":{"200":{"$ref":"#/r"}}},"put":{"requestBody":{"$ref":"#/r"}},"delete":{}}},
"r":{"content":{"application/json":{"schema":{"type":["object","null"],"oneOf":[{"$ref":"#/components/schemas/A"},{"$ref":"#/components/schemas/B"}],"discriminator":{"propertyName":"k","mapping":{"a":"A","b":"#/components/schemas/B"}}}}}},
"components":{"schemas":{"A":{"properties":{"k":{"enum":["a"]}}},"B":{"properties":{"k":{},"x":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{}}}}}}}`)
	f.Add(`{"swagger":"2.0","paths":{"/subscriptions/{s}/providers/P/{kind}/{n}/x/default":{"parameters":[{"in":"path","name":"kind","enum":["A","B"]}],"get":{},"put":{}}},"info":{"version":"1"}}`)
	f.Fuzz(func(t *testing.T, spec string) {
		start := time.Now()
		_, errs := readAll(t, spec)
		for _, err := range errs {
			var known *openapi.Error
			if !errors.As(err, &known) || known.Code == "" || known.Place == "" || known.Message == "" {
				t.Errorf("%v is no error with a code and a place", err)
			}
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// Small specifications that describe very much are read in bounded time, or refused.
func TestBombs(t *testing.T) {
	repeat := func(n int, format string) string {
		var out []string
		for i := range n {
			out = append(out, strings.ReplaceAll(format, "#N", fmt.Sprint(i)))
		}
		return strings.Join(out, ",")
	}
	// Levels of definitions, each with many properties that stand for the next.
	levels := func(n, width int, property string) string {
		var out []string
		for i := range n {
			next := strings.ReplaceAll(property, "NEXT", fmt.Sprintf("#/definitions/L%d", i+1))
			out = append(out, fmt.Sprintf(`"L%d":{"properties":{%s}}`, i, repeat(width, next)))
		}
		out = append(out, fmt.Sprintf(`"L%d":{"type":"string"}`, n))
		return strings.Join(out, ",")
	}
	for _, test := range []struct{ name, definitions string }{
		{"many references on many levels", levels(20, 300, `"p#N":{"$ref":"NEXT"}`)},
		{"many unions on many levels", levels(20, 300, `"p#N":{"allOf":[{"$ref":"NEXT"}]}`)},
		{"deep, two by two", levels(60, 2, `"p#N":{"$ref":"NEXT","description":"x"}`)},
		{"lists in lists", levels(60, 3, `"p#N":{"items":{"items":{"$ref":"NEXT"}}}`)},
		{"a wide union", `"L0":{"allOf":[` + repeat(5000, `{"properties":{"p#N":{}}}`) + `]}`},
		{"a union of unions", `"L0":{"allOf":[` + repeat(1000, `{"$ref":"#/definitions/U#N"}`) + `]},` +
			repeat(1000,
				`"U#N":{"allOf":[{"$ref":"#/definitions/L0"}],"properties":{"p#N":{"$ref":"#/definitions/L0"},"q":{"$ref":"#/definitions/L0"}}}`)},
		{"many variants", `"L0":{"discriminator":"k","properties":{"k":{},"in":{"$ref":"#/definitions/L0"}}},` +
			repeat(1500,
				`"V#N":{"allOf":[{"$ref":"#/definitions/L0"}],"properties":{"p#N":{"type":"array","items":{"$ref":"#/definitions/V#N"}}}}`)},
		{"a chain of references", repeat(3000, `"C#N":{"$ref":"#/definitions/C#N"}`) +
			`,"L0":{"properties":{"p":{"$ref":"#/definitions/C1"}}}`},
		{"a schema of itself",
			`"L0":{"properties":{"a":{"$ref":"#/definitions/L0"}},"additionalProperties":{"$ref":"#/definitions/L0"},"items":{"$ref":"#/definitions/L0"}}`},
	} {
		spec := `{"swagger":"2.0","paths":{"/things/{n}":{"get":{"responses":{"200":{"schema":{"$ref":"#/definitions/L0"}}}},
			"put":{"parameters":[{"in":"body","schema":{"$ref":"#/definitions/L0"}}]}}},"definitions":{` + test.definitions + `}}`
		start := time.Now()
		n, errs := readAll(t, spec)
		t.Logf("%s: %d bytes, %d properties, %v, errors %v", test.name, len(spec), n,
			time.Since(start).Round(time.Millisecond), len(errs))
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s: it took %v", test.name, took)
		}
	}
}
