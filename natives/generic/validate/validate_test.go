package validate_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/validate"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// zoo returns the type of the specification in testdata that has a property of each kind.
func zoo(t testing.TB) *validate.Checker {
	t.Helper()
	read := func(name string, _ int64) ([]byte, error) {
		if strings.Contains(name, "..") {
			return nil, errors.New("outside")
		}
		return os.ReadFile("testdata/" + name)
	}
	d, err := openapi.NewSet(read, openapi.Limits{}).Document("zoo.json")
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

func check(t testing.TB, typ *validate.Checker, in validate.Body, text string) []string {
	t.Helper()
	v, err := body.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	in.Value = v
	out := []string{}
	for _, f := range typ.Check(in) {
		out = append(out, fmt.Sprintf("%s %s %s: %s", f.Severity, f.Code, f.Pointer, f.Message))
	}
	return out
}

// required is a body that has no mistake, but for what a test puts at its end.
const required = `"location": "westus", "properties": {"size": 1`

func TestMistakes(t *testing.T) {
	typ := zoo(t)
	for _, c := range []struct {
		name, body string
		in         validate.Body
		want       []string
	}{
		{"none", `{` + required + `}}`, validate.Body{}, nil},
		{"an unknown property", `{` + required + `, "colour": "red"}}`, validate.Body{},
			[]string{`error VAL_UNKNOWN /properties/colour: the type has no such property; do you mean "color"?`}},
		{"far from any", `{` + required + `, "xyzzyplugh": 1}}`, validate.Body{},
			[]string{`error VAL_UNKNOWN /properties/xyzzyplugh: the type has no such property; reconciler api show lists all`}},
		{"another case", `{` + required + `}, "Tags": {}}`, validate.Body{},
			[]string{`error VAL_UNKNOWN /Tags: the type has no such property; do you mean "tags"?`}},
		{"any tag", `{` + required + `}, "tags": {"a/b": "1"}}`, validate.Body{}, nil},
		{"a tag that is no text", `{` + required + `}, "tags": {"a/b": 1}}`, validate.Body{},
			[]string{`error VAL_TYPE /tags/a~1b: it is a whole number and must be a string`}},
		{"missing", `{"properties": {}}`, validate.Body{}, []string{"error VAL_REQUIRED /properties/size: it is required",
			"error VAL_REQUIRED /location: it is required"}},
		{"cleared", `{"location": null, "properties": {"size": 1}}`, validate.Body{},
			[]string{"error VAL_REQUIRED /location: it is required, and null would clear it"}},
		{"a part of what is there", `{"properties": {"size": 1}}`, validate.Body{IsPart: true},
			[]string{"warning VAL_REQUIRED /location: it is required when the resource is created; the one that is there keeps its value"}},
		{"given elsewhere", `{"location": "w"}`, validate.Body{Given: []string{"/properties/size"}}, nil},
		{"wrong types",
			`{"location": true, "properties": {"size": "1", "on": "true", "color": 1, "animals": {}, "door": []}}`,
			validate.Body{}, []string{
				"error VAL_TYPE /location: it is true or false and must be a string",
				"error VAL_TYPE /properties/animals: it is an object and must be a list",
				"error VAL_TYPE /properties/color: it is a whole number and must be a string",
				"error VAL_TYPE /properties/door: it is a list and must be an object",
				"error VAL_TYPE /properties/on: it is a string and must be true or false",
				"error VAL_TYPE /properties/size: it is a string and must be a whole number",
			}},
		{"numbers", `{"location": "w", "properties": {"size": 1.0, "weight": 3, "port": "http"}}`, validate.Body{}, nil},
		{"fractions", `{"location": "w", "properties": {"size": 15e-1, "weight": 0.5, "port": 80}}`, validate.Body{},
			[]string{"error VAL_TYPE /properties/size: it is a number and must be a whole number"}},
		{"an enumeration", `{` + required + `, "color": "bleu"}}`, validate.Body{},
			[]string{`error VAL_ENUM /properties/color: it is none of the allowed values; do you mean "blue"?`}},
		{"an open enumeration", `{` + required + `, "kindOf": "x"}}`, validate.Body{},
			[]string{
				`warning VAL_ENUM /properties/kindOf: it must be small, large; the specification says that there may be others`}},
		{"a pattern", `{` + required + `, "code": "abc"}}`, validate.Body{},
			[]string{`error VAL_PATTERN /properties/code: it must match "^[A-Z]{3}$"`}},
		{"a pattern that RE2 cannot read", `{` + required + `, "ahead": "abc"}}`, validate.Body{},
			[]string{`note VAL_PATTERN /properties/ahead: the pattern "^(?!x).*$" of the specification cannot be checked`}},
		{"read-only", `{` + required + `, "provisioningState": "Succeeded"}, "id": "/x"}`, validate.Body{}, []string{
			"error RO_SET /id: it is read-only: the service fills it in (family: all services of the family arm fill it in); remove it from the data",
			"error RO_SET /properties/provisioningState: it is read-only: the service fills it in (family: all services of the family arm fill it in); remove it from the data",
		}},
		{"only GET has it", `{` + required + `, "seen": "now"}}`, validate.Body{}, []string{
			"error RO_SET /properties/seen: it is read-only: the service fills it in (inferred: GET answers it and no request takes it, at zoo.json#/definitions/CageAnswer/properties/properties/allOf/1/properties/seen); remove it from the data"}},
		{"no opinion on a read-only object", `{` + required + `}, "systemData": {}}`, validate.Body{}, nil},
		{"a secret", `{` + required + `, "password": "swordfish"}}`, validate.Body{},
			[]string{"error SECRET_INLINE /properties/password: it is a secret (declared: x-ms-secret, at zoo.json#/definitions/Properties/properties/password/x-ms-secret); take the value out of the data, change the secret, and name it below secrets"}},
		{"a cleared secret", `{` + required + `, "password": null}}`, validate.Body{}, nil},
		{"a key twice", `{` + required + `, "animals": [{"name": "a"}, {"name": "b"}, {"name": "a"}]}}`, validate.Body{},
			[]string{
				"error DUPLICATE /properties/animals/name=a: another item of the list has the same name; remove one of them"}},
		{"an item without its key", `{` + required + `, "animals": [{"age": 1}]}}`, validate.Body{}, nil},
		{"a mistake in an item", `{` + required + `, "animals": [{"name": "a", "age": "x"}]}}`, validate.Body{},
			[]string{"error VAL_TYPE /properties/animals/name=a/age: it is a string and must be a whole number"}},
		{"a variant", `{` + required + `, "door": {"kind": "Slide", "rail": 1}}}`, validate.Body{}, nil},
		{"the property of another variant", `{` + required + `, "door": {"kind": "Slide", "hinge": 1}}}`, validate.Body{},
			[]string{`error VAL_UNKNOWN /properties/door/hinge: only other variants have it: kind is "Slide"`}},
		{"an unknown variant", `{` + required + `, "door": {"kind": "Slides", "rail": 1}}}`, validate.Body{},
			[]string{`error VAL_DISCRIMINATOR /properties/door/kind: there is no variant "Slides"; do you mean "Slide"?`}},
		{"no variant", `{` + required + `, "door": {"rail": 1}}}`, validate.Body{},
			[]string{`warning VAL_DISCRIMINATOR /properties/door/kind: nothing says which variant this is, so its own properties are not checked; it may be Slide, Swing`}},
		{"anything", `{` + required + `, "free": {"a": [1, {"b": null}]}}}`, validate.Body{}, nil},
		{"no object", `[]`, validate.Body{}, []string{"error VAL_TYPE : it is a list and must be an object"}},
		{"the identity", `{` + required + `, "color": "red"}}`,
			validate.Body{Fixed: map[string]string{"/location": "eastus"}}, []string{
				`error IMMUTABLE_ID /location: it is a part of the identity of the resource, which is "eastus"; leave it out here`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := check(t, typ, c.in, c.body); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// No finding has the value of a secret.
func TestSecretsAreNotShown(t *testing.T) {
	typ := zoo(t)
	v, err := body.Parse([]byte(`{` + required +
		`, "password": "canary", "accessKey": ["canary"], "provisioningState": "canary"}, "tags": {"a": 1}}`))
	if err != nil {
		t.Fatal(err)
	}
	typ.Rules = rules.With(typ.Rules,
		rules.Overlay{Secrets: []rules.SecretPlace{{At: "/properties/provisioningState"}, {At: "/tags"}}})
	found := typ.Check(validate.Body{Value: v})
	if len(found) < 3 || strings.Contains(fmt.Sprint(found), "canary") {
		t.Errorf("got %v", found)
	}
}

// A body that is hostile has a bounded answer.
func TestBounds(t *testing.T) {
	typ := zoo(t)
	deep := strings.Repeat(`{"a":`, 250) + "1" + strings.Repeat("}", 250)
	if got := check(t, typ, validate.Body{}, `{`+required+`, "free": `+deep+`}}`); len(got) != 1 ||
		!strings.Contains(got[0], "VAL_BOUNDS") {
		t.Errorf("deep: got %q", got)
	}
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, `, "x%d": 1`, i)
	}
	if got := check(t, typ, validate.Body{}, `{`+required+many.String()+`}}`); len(got) != 200 ||
		!strings.Contains(got[199], "more than 199 mistakes") {
		t.Errorf("many: got %d findings", len(got))
	}
}
