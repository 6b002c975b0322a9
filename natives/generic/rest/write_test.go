package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// A planner wants a body, by the rules of the three-way plan.
type planner struct {
	desired, applied any
	rules            rules.Table
	refuse           error
	mutate           func(Sending) any // nil changes nothing
}

func (p *planner) Mutate(_ context.Context, s Sending) (any, error) {
	if p.mutate == nil {
		return s.Body, nil
	}
	return p.mutate(s), nil
}

func (p *planner) plan(live Live) *threeway.Plan {
	table := append(rules.Table{{At: "/etag", Rule: rules.Rule{ReadOnly: true}},
		{At: "/properties/provisioningState", Rule: rules.Rule{ReadOnly: true}},
		{At: "/metadata/resourceVersion", Rule: rules.Rule{ReadOnly: true}}}, p.rules...)
	return threeway.Make(threeway.Input{Desired: p.desired, Applied: p.applied, WasApplied: p.applied != nil,
		Live: live.Body, IsThere: live.Found, Rules: table})
}

func (p *planner) Plan(_ context.Context, live Live) (*Change, error) {
	return ChangeOf(p.plan(live), p.desired, p.applied), p.refuse
}

func (p *planner) Left(_ context.Context, live Live) ([]Difference, error) {
	return LeftOf(p.plan(live)), nil
}

// props is a body with properties.
func props(pairs ...any) object {
	out := object{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i].(string)] = pairs[i+1]
	}
	return object{"properties": out}
}

// putOnly is what a type takes that has no PATCH.
var putOnly = Abilities{Verbs: []string{"get", "put", "delete"}, PutCreates: true, PatchKind: resources.PatchNone}

// methods lists what a service was asked.
func (s *service) methods() string {
	var out []string
	for _, r := range s.log {
		out = append(out, r.method)
	}
	return strings.Join(out, " ")
}

func TestWrite(t *testing.T) {
	for _, test := range []struct {
		name      string
		live      object
		desired   object
		abilities Abilities
		answers   map[int]*http.Response // by the number of the request
		want      string                 // what was done, and the requests
		err       string
	}{
		{"nothing to do", props("a", "1"), props("a", "1"), putOnly, nil, "nothing: GET", ""},
		{"created", nil, props("a", "1"), putOnly, nil, "created: GET PUT GET", ""},
		{"updated", props("a", "1"), props("a", "2"), putOnly, nil, "updated: GET PUT GET", ""},
		{"somebody was faster once", props("a", "1"), props("a", "2"), putOnly, map[int]*http.Response{2: answer(412, nil)},
			"updated: GET PUT GET PUT GET", ""},
		{"somebody is always faster", props("a", "1"), props("a", "2"), putOnly,
			map[int]*http.Response{2: answer(412, nil), 4: answer(412, nil), 6: answer(412, nil), 8: answer(412, nil)},
			"updated: GET PUT GET PUT GET PUT GET PUT", "somebody else changed it 4 times"},
		{"refused", props("a", "1"), props("a", "2"), putOnly, map[int]*http.Response{2: failing(400, "InvalidParameter")},
			"updated: GET PUT", "status 400 InvalidParameter: no"},
		{"another operation goes on", props("a", "1"), props("a", "2"), putOnly,
			map[int]*http.Response{2: failing(409, "AnotherOperationInProgress")}, "updated: GET PUT PUT GET", ""},
		{"a lock", props("a", "1"), props("a", "2"), putOnly, map[int]*http.Response{2: failing(409, "ScopeLocked")},
			"updated: GET PUT", "409 ScopeLocked"},
		{"too many", props("a", "1"), props("a", "2"), putOnly,
			map[int]*http.Response{1: failing(429, "", "Retry-After", "7"), 3: failing(429, "")}, "updated: GET GET PUT PUT GET",
			""},
		{"the answer is lost", props("a", "1"), props("a", "2"), putOnly, map[int]*http.Response{2: {}},
			"updated: GET PUT GET PUT GET", ""},
		{"the parent is on its way", nil, props("a", "1"), putOnly,
			map[int]*http.Response{2: failing(404, "ParentResourceNotFound")}, "created: GET PUT PUT GET", ""},
		{"deleted meanwhile", props("a", "1"), props("a", "2"), putOnly,
			map[int]*http.Response{2: failing(404, "ResourceNotFound")}, "updated: GET PUT GET PUT GET", ""},
		{"not seen everywhere yet", nil, props("a", "1"), putOnly,
			map[int]*http.Response{3: failing(404, ""), 4: failing(404, "")}, "created: GET PUT GET GET GET", ""},
	} {
		s := newService(t, *family.ARM)
		if test.live != nil {
			s.put(thing, test.live)
		}
		n := 0
		s.before = func(sent) *http.Response { n++; return test.answers[n] }
		r, err := s.client().Write(t.Context(), target(test.abilities), &planner{desired: test.desired}, &memory{})
		if got := fmt.Sprintf("%s: %s", r.Did, s.methods()); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: got the error %v, want %q", test.name, err, test.err)
		}
		if err == nil && body.Canonical(s.things[thing]["properties"]) != body.Canonical(test.desired["properties"]) {
			t.Errorf("%s: got %v", test.name, s.things[thing])
		}
	}
}

// A creation whose answer is lost makes one thing, and is not mistaken for somebody else's.
func TestWriteLostCreation(t *testing.T) {
	for _, post := range []bool{false, true} {
		s := newService(t, *family.ARM)
		a := putOnly
		if post {
			a = Abilities{Verbs: []string{"get", "put"}, HasPost: true}
		}
		n := 0
		s.before = func(r sent) *http.Response {
			if n++; n != 2 {
				return nil
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.handle(r)
			return &http.Response{}
		}
		m := &memory{}
		p := &planner{desired: props("a", "1")}
		_, err := s.client().Write(t.Context(), target(a), p, m)
		if post != (err != nil) {
			t.Errorf("POST %v: got the error %v", post, err)
		}
		if r, err := s.client().Write(t.Context(), target(a), p, m); err != nil || r.Did != Nothing {
			t.Errorf("POST %v: the second run did %v, %v", post, r.Did, err)
		}
		if m.intents != 1 || len(s.things) != 1 {
			t.Errorf("POST %v: %d intents, %d things", post, m.intents, len(s.things))
		}
	}
}

// Nothing is sent before the memory knows that a thing is to be.
func TestWriteNeedsMemory(t *testing.T) {
	s := newService(t, *family.ARM)
	_, err := s.client().Write(t.Context(), target(putOnly), &planner{desired: props("a", "1")},
		&memory{err: errors.New("no space")})
	if err == nil || s.methods() != "GET" {
		t.Errorf("got %v after %s", err, s.methods())
	}
}

// A planner that refuses, such as because of another owner, lets nothing be sent; it is asked
// again for each fresh reading.
func TestWriteRefused(t *testing.T) {
	s := newService(t, *family.ARM)
	s.put(thing, props("a", "1"))
	p := &planner{desired: props("a", "2")}
	s.before = func(r sent) *http.Response {
		if r.method == http.MethodPut {
			p.refuse = errors.New("OWNED_BY_OTHER")
			return answer(412, nil)
		}
		return nil
	}
	_, err := s.client().Write(t.Context(), target(putOnly), p, &memory{})
	if err == nil || s.methods() != "GET PUT GET" {
		t.Errorf("got %v after %s", err, s.methods())
	}
}

// Without versions a resource is read again just before it is replaced, and that is told.
func TestWriteWithoutLock(t *testing.T) {
	for _, isChanged := range []bool{false, true} {
		s := newService(t, *family.ARM)
		s.etag = func(object) string { return "" }
		s.put(thing, props("a", "1", "other", "x"))
		n := 0
		s.before = func(sent) *http.Response {
			if n++; n == 2 && isChanged {
				s.put(thing, props("a", "1", "other", "y"))
			}
			return nil
		}
		r, err := s.client().Write(t.Context(), target(putOnly), &planner{desired: props("a", "2")}, &memory{})
		want := "GET GET PUT GET"
		if isChanged {
			want = "GET GET GET GET PUT GET"
		}
		if err != nil || s.methods() != want {
			t.Errorf("changed %v: got %v after %s, want %s", isChanged, err, s.methods(), want)
		}
		if len(r.Notes) != 1 || r.Notes[0].Code != "NO_LOCK" {
			t.Errorf("got the notes %+v", r.Notes)
		}
		other, _ := body.Get(s.things[thing], "/properties/other")
		if isChanged && other != "y" {
			t.Errorf("the change of somebody else is lost: %v", s.things[thing])
		}
	}
}

// A PUT that says nothing about inline children keeps them, also those that were applied
// before.
func TestWriteKeepsInlineChildren(t *testing.T) {
	subnets := []any{object{"name": "a"}, object{"name": "b"}}
	for _, kind := range []resources.PatchKind{resources.PatchNone, resources.PatchReal} {
		s := newService(t, *family.ARM)
		s.put(thing, props("x", "1", "subnets", subnets))
		a := Abilities{Verbs: []string{"get", "put", "patch"}, PatchKind: kind, PatchTakes: func(string) bool { return true }}
		to := target(a)
		to.Inline = []string{"/properties/subnets"}
		p := &planner{applied: props("x", "1", "subnets", subnets), desired: props("x", "2"),
			rules: rules.Table{{At: "/properties/subnets", Rule: rules.Rule{List: classes.Map, Keys: []string{"name"}}}}}
		if _, err := s.client().Write(t.Context(), to, p, &memory{}); err != nil {
			t.Fatal(err)
		}
		if got := body.Canonical(s.things[thing]); got != body.Canonical(props("x", "2", "subnets", subnets)) {
			t.Errorf("%s: got %s", kind, got)
		}
		p.applied = props("x", "2", "subnets", subnets)
		before := len(s.writes())
		if r, err := s.client().Write(t.Context(), to, p, &memory{}); err != nil || r.Did != Nothing ||
			len(s.writes()) != before {
			t.Errorf("%s: the second run did %s, %v", kind, r.Did, err)
		}
	}
}

// What a service does not take as it was sent is told, with the override that explains it.
func TestWriteVerifies(t *testing.T) {
	for _, test := range []struct {
		name          string
		live, desired object
		answers       func(object) object
		want          string
	}{
		{"ignored", props("a", "1"), props("a", "2"), func(object) object {
			return props("a", "1")
		}, "/properties/a: properties.a volatile "},
		{"a list in another order", nil, props("a", []any{"x", "y"}), func(object) object {
			return props("a", []any{"y", "x"})
		}, "/properties/a: properties.a   set []"},
		{"items in another order", nil, props("a", []any{object{"v": "1", "name": "x"}, object{"v": "1", "name": "y"}}),
			func(object) object {
				return props("a", []any{object{"v": "2", "name": "y"}, object{"v": "1", "name": "x"}})
			}, "/properties/a: properties.a   map [name]"},
		{"items without a name", nil, props("a", []any{object{"p": "1", "q": "1"}, object{"p": "1", "q": "2"}}),
			func(object) object { return props("a", []any{object{"p": "1", "q": "2"}, object{"p": "1", "q": "1"}}) },
			"/properties/a: properties.a   map [q]"},
		{"other items", nil, props("a", []any{"x"}), func(object) object {
			return props("a", []any{"y"})
		}, "/properties/a: properties.a volatile "},
		{"respelled", props("a", "1"), props("a", "West US"), func(object) object { return props("a", "westus") },
			"/properties/a: properties.a  location"},
		{"another value", props("a", "1"), props("a", "2"), func(object) object {
			return props("a", "3")
		}, "/properties/a: properties.a volatile "},
		{"created with another value", nil, props("a", "2"), func(object) object {
			return props("a", "3")
		}, "/properties/a: properties.a volatile "},
		{"an id", nil, props("a", "/x/Y"), func(object) object {
			return props("a", "/X/y/")
		}, "/properties/a: properties.a  arm-id"},
	} {
		s := newService(t, *family.ARM)
		if test.live != nil {
			s.put(thing, test.live)
		}
		s.before = func(r sent) *http.Response {
			if r.method == http.MethodGet && len(s.writes()) > 0 {
				return answer(200, test.answers(s.things[thing]))
			}
			return nil
		}
		_, err := s.client().Write(t.Context(), target(putOnly), &planner{desired: test.desired}, &memory{})
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeMismatch || len(e.Overrides) != 1 {
			t.Errorf("%s: got %v", test.name, err)
			continue
		}
		o := e.Overrides[0]
		path := strings.TrimPrefix(e.Message[strings.LastIndex(e.Message, " at "):], " at ")
		got := fmt.Sprintf("%s: %s %s %s", path, o.Path, o.Class, o.Format)
		if o.List != "" {
			got += fmt.Sprint(" ", o.List, " ", o.Keys)
		}
		if got != test.want || o.Reason == "" {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
		if len(s.writes()) != 1 {
			t.Errorf("%s: %d writes", test.name, len(s.writes()))
		}
	}
}

// The pauses between attempts grow by half, and are bounded.
func TestPause(t *testing.T) {
	c := &Client{Random: func() float64 { return 0.5 }}
	var got []int
	for i := range 10 {
		got = append(got, int(c.pause(i+1, 0)/time.Second))
	}
	if want := []int{10, 15, 22, 33, 50, 75, 113, 170, 180, 180}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := c.pause(1, 1000*time.Second); got != 10*time.Minute {
		t.Errorf("the service asked for 1000 s: got %v", got)
	}
	for _, r := range []float64{0, 0.999} {
		c.Random = func() float64 { return r }
		if p := c.pause(1, 0); p < 5*time.Second || p > 15*time.Second {
			t.Errorf("got %v, want 10 s with half more or less", p)
		}
	}
}

// A service that tells when it has time is asked then, for a while, and not for ever.
func TestBusy(t *testing.T) {
	for _, busy := range []int{20, 1000} {
		s := newService(t, *family.ARM)
		s.put(thing, props("a", "1"))
		n := 0
		s.before = func(sent) *http.Response {
			if n++; n > busy {
				return nil
			}
			return failing(http.StatusTooManyRequests, "", "Retry-After", "3")
		}
		_, err := s.client().Read(t.Context(), target(putOnly))
		if (err != nil) != (busy > 100) || len(s.waits) > 50 {
			t.Errorf("%d refusals: got %v after %d waits", busy, err, len(s.waits))
		}
		if w := s.waits[0]; w < 3*time.Second || w > 4*time.Second {
			t.Errorf("waited %v, want 3 s and a little more", w)
		}
	}
}
