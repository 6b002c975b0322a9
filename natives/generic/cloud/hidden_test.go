package cloud_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/cloudtest"
)

// What no output may show of the data: values that are secret by their class, by the data or by
// their name, and all of a body that cannot be judged.
func TestHidden(t *testing.T) {
	whole := []string{"/body", "/bodyText"}
	secretAt := func(at string) object {
		return object{"secrets": []any{object{"at": at, "secret": object{"path": "p", "field": "f"}}}}
	}
	password := object{"location": "x", "properties": object{"password": "s", "size": 1}}
	for name, c := range map[string]struct {
		entry object
		want  []string
	}{
		"nothing":           {object{"body": object{"location": "x", "properties": object{"size": 1}}}, nil},
		"by its class":      {object{"body": password}, []string{"/body/properties/password"}},
		"null":              {object{"body": object{"properties": object{"password": nil}}}, nil},
		"as text":           {object{"bodyText": `{"properties": {"password": "s"}}`}, []string{"/bodyText"}},
		"as text, harmless": {object{"bodyText": `{"location": "x"}`}, nil},
		"by its name": {
			object{"body": object{"properties": object{"adminPasword": "s", "theirPassword": "s", "a/token": "t", "key": 1}}},
			[]string{"/body/properties/a~1token", "/body/properties/theirPassword"}},
		"by the data": {with(object{"body": object{"tags": object{"x": "s", "y": "z"}}}, secretAt("/tags/x")),
			[]string{"/body/tags/x"}},
		"an unknown type": {object{"type": "Acme.Cache/store", "body": password}, whole},
		"a number too large": {object{"body": object{"properties": object{"password": "s", "size": json.Number("1e309")}}},
			whole},
		"no JSON":         {object{"bodyText": `{"password": "s"`}, whole},
		"another mistake": {object{"policy": "no", "body": password}, []string{"/body/properties/password"}},
	} {
		w := world()
		w.Add("/r/x.yml", with(object{"type": cloudtest.Store, "name": "x", "parent": cloudtest.Group}, c.entry))
		got := find(t, read(t, w), "/r/x.yml").Hidden()
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %s, want %s", name, strings.Join(got, " "), strings.Join(c.want, " "))
		}
	}
}

// with returns an object with the members of another one.
func with(o, more object) object {
	for name, v := range more {
		o[name] = v
	}
	return o
}
