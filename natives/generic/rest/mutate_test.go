package rest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// Whatever creates or updates passes the planner right before it is sent, with what it removes: a
// whole body, a merge patch, an apply, and the merge patch after an apply.
func TestMutate(t *testing.T) {
	live, desired := props("a", "1", "gone", "x"), props("a", "2")
	for _, test := range []struct {
		name      string
		family    family.Family
		live      object
		abilities Abilities
		want      string // method, media type and removed places of what was sent
	}{
		{"created by PUT", *family.ARM, nil, putOnly, "PUT application/json []"},
		{"created by POST", *family.ARM, nil, Abilities{Verbs: []string{"get", "put"}, HasPost: true},
			"POST application/json []"},
		{"created by apply", *family.Kubernetes, nil, Abilities{Applies: true, PatchMedia: applying.PatchMedia},
			"PATCH application/apply-patch+yaml []"},
		{"updated by PUT", *family.ARM, live, putOnly, "PUT application/json [/properties/gone]"},
		{"updated by PATCH", *family.ARM, live, Abilities{Verbs: []string{"get", "put", "patch"},
			PatchKind:  resources.PatchReal,
			PatchTakes: func(string) bool { return true }}, "PATCH application/json [/properties/gone]"},
		{"updated by apply", *family.Kubernetes, live, applying,
			"PATCH application/apply-patch+yaml [/properties/gone], PATCH application/merge-patch+json [/properties/gone]"},
	} {
		s := newService(t, test.family)
		if test.live != nil {
			s.put(thing, body.Clone(test.live).(object))
		}
		s.before = func(r sent) *http.Response { // the service itself creates nothing by PATCH
			if r.method != http.MethodPatch || s.things[thing] != nil {
				return nil
			}
			s.things[thing] = r.body.(object)
			return answer(http.StatusCreated, s.things[thing])
		}
		var asked []string
		p := &planner{desired: desired, mutate: func(q Sending) any {
			asked = append(asked, q.Method+" "+q.Media+" ["+strings.Join(q.Removed, " ")+"]")
			out, err := body.Set(q.Body, "/properties/hook", q.Method)
			if err != nil || q.Live.Found != (test.live != nil) {
				t.Errorf("%s: %v, live %v", test.name, err, q.Live.Found)
			}
			return out
		}}
		if test.live != nil {
			p.applied = test.live
		}
		if _, err := s.client().Write(t.Context(), target(test.abilities), p, &memory{}); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if got := strings.Join(asked, ", "); got != test.want {
			t.Errorf("%s: the planner was asked about %s, want %s", test.name, got, test.want)
		}
		for _, r := range s.writes() {
			if v, _ := body.Get(r.body, "/properties/hook"); v != r.method {
				t.Errorf("%s: %s sent %v, without what the planner put in", test.name, r.method, r.body)
			}
		}
		if len(s.writes()) != len(asked) {
			t.Errorf("%s: %d requests were sent, and the planner was asked about %d", test.name, len(s.writes()), len(asked))
		}
	}
}
