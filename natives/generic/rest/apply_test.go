package rest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// applying is what a type takes that has server-side apply.
var applying = Abilities{Verbs: []string{"get", "put", "patch", "delete"}, HasPost: true,
	PatchKind:  resources.PatchOpaque,
	PatchMedia: []string{mediaApply, mediaMerge}}

// conflicting is the answer of an API server to an apply that takes fields of others.
func conflicting(fields ...string) *http.Response {
	var causes []any
	for _, f := range fields {
		manager, field, _ := strings.Cut(f, " ")
		causes = append(causes, object{"reason": "FieldManagerConflict", "message": fmt.Sprintf("conflict with %q using v1",
			manager), "field": field})
	}
	return answer(409, object{"kind": "Status", "reason": "Conflict", "message": "Apply failed",
		"details": object{"causes": causes}})
}

// Fields of others are left alone and told; all that is ours is taken.
func TestApply(t *testing.T) {
	containers := func(image string) []any { return []any{object{"name": "app", "image": image}} }
	live := props("replicas", "5", "image", "1", "containers", containers("1"))
	desired := props("replicas", "2", "image", "2", "containers", containers("2"))
	for _, test := range []struct {
		name     string
		applied  any
		conflict *http.Response
		want     string // the requests
		put      any
		notes    string
	}{
		{"no conflict", nil, nil, "GET PATCH/false GET", desired, ""},
		{"the autoscaler's", nil, conflicting("hpa .properties.replicas"), "GET PATCH/false PATCH/false GET",
			props("replicas", "5", "image", "2", "containers", containers("2")), "/properties/replicas"},
		{"ours by the state", props("replicas", "1"), conflicting("somebody .properties.replicas"),
			"GET PATCH/false PATCH/true GET", desired, ""},
		{"ours by another kind of request", nil, conflicting(family.FieldManager + " .properties.replicas"),
			"GET PATCH/false PATCH/true GET", desired, ""},
		{"one is not ours", props("replicas", "1"), conflicting("a .properties.replicas", "b .properties.image"),
			"GET PATCH/false PATCH/false PATCH/true GET",
			props("replicas", "2", "image", "1", "containers", containers("2")), "/properties/image"},
		{"in an item", nil, conflicting(`x .properties.containers[name="app"].image`), "GET PATCH/false PATCH/false GET",
			props("replicas", "2", "image", "2", "containers", []any{object{"name": "app"}}),
			"/properties/containers/name=app/image"},
	} {
		s := newService(t, *family.Kubernetes)
		s.put(thing, live)
		n := 0
		s.before = func(r sent) *http.Response {
			if r.method == http.MethodPatch {
				switch n++; {
				case n == 1:
					return test.conflict
				case n == 2 && test.name == "one is not ours": // without what is not ours, the rest still is in conflict
					return conflicting("a .properties.replicas")
				}
			}
			return nil
		}
		p := &planner{desired: desired, applied: test.applied,
			rules: rules.Table{{At: "/properties/containers", Rule: rules.Rule{List: classes.Map, Keys: []string{"name"}}}}}
		to := target(applying)
		r, err := s.client().Write(t.Context(), to, p, &memory{})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		var got, notes []string
		for _, r := range s.log {
			if _, force, ok := strings.Cut(r.query, "force="); ok {
				r.method += "/" + force
			}
			got = append(got, r.method)
		}
		for _, n := range r.Notes {
			notes = append(notes, n.Path)
		}
		if strings.Join(got, " ") != test.want || strings.Join(notes, " ") != test.notes {
			t.Errorf("%s: got %q and %q, want %q and %q", test.name, got, notes, test.want, test.notes)
		}
		if body.Canonical(s.things[thing]) != body.Canonical(test.put) {
			t.Errorf("%s: got %v, want %v", test.name, s.things[thing], test.put)
		}
	}
}

// What an apply cannot take away goes by a merge patch that holds for the version that was read.
func TestApplyTakesAway(t *testing.T) {
	s := newService(t, *family.Kubernetes)
	whole := props("a", "1", "gone", "x", "list", []any{object{"name": "a"}, object{"name": "b"}})
	whole["metadata"] = object{"resourceVersion": "7"}
	s.put(thing, whole)
	p := &planner{desired: props("a", "2", "list", []any{object{"name": "a"}}),
		applied: props("a", "1", "gone", "x", "list", []any{object{"name": "a"}, object{"name": "b"}}),
		rules:   rules.Table{{At: "/properties/list", Rule: rules.Rule{List: classes.Map, Keys: []string{"name"}}}}}
	s.before = func(r sent) *http.Response { // an apply that leaves what others own
		if r.media != mediaApply {
			return nil
		}
		s.things[thing]["properties"].(object)["a"] = "2"
		return answer(200, s.things[thing])
	}
	if _, err := s.client().Write(t.Context(), target(applying), p, &memory{}); err != nil {
		t.Fatal(err)
	}
	sent := s.writes()
	last := sent[len(sent)-1]
	want := object{"metadata": object{"resourceVersion": "7"},
		"properties": object{"gone": nil, "list": []any{object{"name": "a"}}}}
	if len(sent) != 2 || last.media != mediaMerge || body.Canonical(last.body) != body.Canonical(want) {
		t.Errorf("got %d writes, the last %s %v, want %v", len(sent), last.media, last.body, want)
	}
}

// Paths of fields are read as API servers write them.
func TestFieldSteps(t *testing.T) {
	for field, want := range map[string]string{
		`.spec.replicas`: "/spec/replicas",
		`.spec.ports[port=80,protocol="TCP"].nodePort`: "/spec/ports/port=80,protocol=TCP/nodePort",
		`.metadata.finalizers[="a/b"]`:                 `/metadata/finalizers/"a~1b"`,
		`.a[k="x]\"y=,"].b`:                            `/a/k=x]"y=,/b`,
		`spec`:                                         "no",
		`.a[`:                                          "no",
		`.a[b]`:                                        "no",
		`.a[b=]`:                                       "no",
		``:                                             "no",
	} {
		steps, ok := fieldSteps(field)
		got := pointerOf(steps)
		if !ok {
			got = "no"
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", field, got, want)
		}
	}
}

// A field that a service names becomes the path of an override.
func TestFieldPath(t *testing.T) {
	for field, want := range map[string]string{
		"properties.osProfile.computerName":            "properties.osProfile.computerName",
		"/properties/rules/0/port":                     "properties.rules[].port",
		"spec.template.spec.containers[0].image":       "spec.template.spec.containers[].image",
		"metadata.annotations[example.com/a]":          "metadata.annotations{}",
		`.spec.ports[port=80,protocol="TCP"].nodePort`: "spec.ports[].nodePort",
		"$.properties.x":                               "properties.x",
		"a[":                                           "a[",
		"":                                             "",
	} {
		if got := fieldPath(field); got != want {
			t.Errorf("%s: got %s, want %s", field, got, want)
		}
	}
}

func FuzzFields(f *testing.F) {
	for _, seed := range []string{`.spec.ports[port=80,protocol="TCP"].nodePort`, `.a[="x"]`, "a[0].b", "/a/0/b", "[[]]",
		".[", "..", "a]["} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, field string) {
		fieldPath(field)
		if steps, ok := fieldSteps(field); ok {
			if len(steps) == 0 || !strings.HasPrefix(pointerOf(steps), "/") {
				t.Errorf("%q: got %v", field, steps)
			}
			cut(object{"a": []any{object{"b": "c"}, "x"}}, steps)
		}
	})
}

// Any error of a service becomes an error with a class, and its text is bounded.
func FuzzFailure(f *testing.F) {
	f.Add(409, `{"error":{"code":"PropertyChangeNotAllowed","target":"a","details":[{"code":"x","message":"y"}]}}`)
	f.Add(422, `{"kind":"Status","details":{"causes":[{"field":"a[0]","message":"x: field is immutable"}]}}`)
	f.Add(500, `{"error":[]}`)
	f.Fuzz(func(t *testing.T, status int, raw string) {
		v, err := body.Parse([]byte(raw))
		if err != nil {
			return
		}
		c := &Client{}
		e := readFailure(status, v).error("a/b@1", c.text)
		if e.Class == "" || len(e.Message) > 20*maxMessage {
			t.Errorf("got %+v", e)
		}
		for _, o := range e.Overrides {
			if o.Path == "" || o.Reason == "" || o.Type != "a/b" {
				t.Errorf("got the override %+v", o)
			}
		}
	})
}

// A plan that changes nothing, or is blocked, is no change.
func TestChangeOf(t *testing.T) {
	for _, action := range []threeway.Action{threeway.None, threeway.Blocked, threeway.Replace} {
		if c := ChangeOf(&threeway.Plan{Action: action}, nil, nil); c != nil {
			t.Errorf("%s: got %+v", action, c)
		}
	}
}
