package effects_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/runner/effects"
)

// twoSides returns how two bundles with some datafiles differ.
func twoSides(t *testing.T, base, head map[string]string) *bundle.Diff {
	t.Helper()
	open := func(files map[string]string) *bundle.Bundle {
		var data []string
		for path, text := range files {
			data = append(data, fmt.Sprintf(`%q: {"$schema": "/a.yml", %s}`, path, text))
		}
		b, err := bundle.Parse([]byte(`{"data": {`+strings.Join(data, ", ")+
			`}, "resources": {}, "schemas": {}, "graphql": [], "git_commit": "x"}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	return bundle.Compare(open(base), open(head))
}

// A cause is a place that the change altered, the nearest one to what the native names.
func TestCausesAreAlteredPlaces(t *testing.T) {
	diff := twoSides(t,
		map[string]string{"/a.yml": `"labels": {"x": "1"}, "name": "a", "delete": false`, "/gone.yml": `"name": "g"`,
			"/list.yml": `"l": [{"name": "one", "v": 1}, {"name": "two", "v": 2}]`, "/same.yml": `"name": "s"`},
		map[string]string{"/a.yml": `"labels": {"x": "2", "y": "3"}, "name": "a", "delete": true`, "/new.yml": `"name": "n"`,
			"/list.yml": `"l": [{"name": "two", "v": 3}]`, "/same.yml": `"name": "s"`})
	for _, c := range []struct{ file, pointer, want string }{
		{"/a.yml", "/labels/x", "/a.yml#/labels/x changed"},
		{"/a.yml", "/labels/y", "/a.yml#/labels/y added"},
		{"/a.yml", "/labels", "/a.yml#/labels/x changed, /a.yml#/labels/y added"},
		{"/a.yml", "/delete", "/a.yml#/delete changed"},
		{"/a.yml", "/labels/y/z", "/a.yml#/labels/y/z added"},
		{"/a.yml", "/name", "/a.yml#/delete changed, /a.yml#/labels/x changed, /a.yml#/labels/y added"},
		{"/new.yml", "/name", "/new.yml added"},
		{"/gone.yml", "/name", "/gone.yml removed"},
		{"/list.yml", "/l/0/v", "/list.yml#/l/0/v changed"},
		{"/same.yml", "", ""},
		{"/nowhere.yml", "", ""},
	} {
		e := &plan.Effects{Items: []plan.Effect{{Kind: plan.EffectChange, Subject: "x", Since: plan.SinceChange,
			Known: plan.Known{How: plan.KnownLive}, Cause: []plan.Cause{{Place: plan.Place{File: c.file, Pointer: c.pointer}}}}}}
		effects.NewCauses(diff).Explain(e)
		var words []string
		for _, at := range e.Items[0].Cause {
			words = append(words, at.Where()+" "+string(at.What))
		}
		if got := strings.Join(words, ", "); got != c.want || (got == "") != (e.Items[0].CauseUnknown != "") {
			t.Errorf("%s %s: got %q (%s), want %q", c.file, c.pointer, got, e.Items[0].CauseUnknown, c.want)
		}
	}
}
