package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/operation"
)

// finish ends all operations.
func (s *service) finish(state string) {
	for path, v := range s.things {
		if properties := v["properties"].(object); properties["provisioningState"] == "Working" {
			properties["provisioningState"] = state
			s.version[path]++
		}
	}
}

// slow makes a service accept writes with 202 and carry them out after some questions. A
// resource is there with the state Working meanwhile.
func slow(s *service, questions int, end string) {
	left := 0
	s.before = func(r sent) *http.Response {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.method == http.MethodGet && left > 0 {
			if left--; left == 0 {
				s.finish(end)
			}
		}
		switch {
		case r.path == "/op" && left > 0:
			return answer(200, object{"status": "Running"})
		case r.path == "/op":
			return answer(200, object{"status": end, "error": object{"code": "SkuNotAvailable", "message": "none left"}})
		case r.method == http.MethodPut && left > 0:
			return failing(409, "AnotherOperationInProgress")
		case r.method == http.MethodPut:
			left = questions
			s.handle(r)
			s.things[r.path]["properties"].(object)["provisioningState"] = "Working"
			return answer(202, nil, "Azure-AsyncOperation", "https://cloud.example/op", "Retry-After", "5")
		}
		return nil
	}
}

func TestWriteWaits(t *testing.T) {
	s := newService(t, *family.ARM)
	slow(s, 3, "Succeeded")
	m := &memory{}
	r, err := s.client().Write(t.Context(), target(putOnly), &planner{desired: props("a", "1")}, m)
	if err != nil || r.Did != Created || s.methods() != "GET PUT GET GET GET GET" {
		t.Errorf("got %+v, %v after %s", r, err, s.methods())
	}
	if m.intents != 1 || len(m.began) == 0 || m.began[0].Address != "https://cloud.example/op" ||
		m.began[0].Verb != "PUT" {
		t.Errorf("the memory has %+v", m)
	}
}

func TestWriteFailsAfterAcceptance(t *testing.T) {
	s := newService(t, *family.ARM)
	slow(s, 2, "Failed")
	_, err := s.client().Write(t.Context(), target(putOnly), &planner{desired: props("a", "1")}, &memory{})
	var e *Error
	if !errors.As(err, &e) || e.Class != Fatal || e.Code != "SkuNotAvailable" ||
		!strings.Contains(err.Error(), "LRO_FAILED") {
		t.Errorf("got %v", err)
	}
}

// When the time is over the operation is handed back, and a later process resumes it.
func TestResume(t *testing.T) {
	s := newService(t, *family.ARM)
	slow(s, 5, "Succeeded")
	c := s.client()
	c.Timeout = 12 * time.Second
	m := &memory{}
	p := &planner{desired: props("a", "1")}
	r, err := c.Write(t.Context(), target(putOnly), p, m)
	if !errors.Is(err, ErrPending) || r.Operation == nil {
		t.Fatalf("got %+v, %v", r, err)
	}
	raw, err := json.Marshal(r.Operation)
	if err != nil {
		t.Fatal(err)
	}
	var o operation.Operation
	if err := json.Unmarshal(raw, &o); err != nil {
		t.Fatal(err)
	}
	later := s.client()
	if r, err = later.Resume(t.Context(), target(putOnly), o, p, m); err != nil || !r.Live.Found {
		t.Errorf("got %+v, %v", r, err)
	}
	if n := len(s.writes()); n != 1 {
		t.Errorf("%d writes, want one", n)
	}
}

// A process that is killed at any request leaves one thing, and a second process ends the work
// without starting an operation that goes on a second time.
func TestWriteAfterKill(t *testing.T) {
	for killed := 1; killed <= 8; killed++ {
		s := newService(t, *family.ARM)
		slow(s, 3, "Succeeded")
		work, n := s.before, 0
		ctx, kill := context.WithCancelCause(t.Context())
		isDead := false
		starts := 0
		s.before = func(r sent) *http.Response {
			n++
			res := work(r)
			if res == nil {
				s.mu.Lock()
				res = s.handle(r)
				s.mu.Unlock()
			}
			if r.method == http.MethodPut && res.StatusCode < 300 {
				starts++
			}
			if n == killed && !isDead { // the request arrived, the answer does not
				isDead = true
				kill(errors.New("killed"))
				return &http.Response{}
			}
			return res
		}
		p, m := &planner{desired: props("a", "1")}, &memory{}
		_, err := s.client().Write(ctx, target(putOnly), p, m)
		if isDead != (err != nil) {
			t.Errorf("killed at %d: got %v", killed, err)
		}
		if r, err := s.client().Write(t.Context(), target(putOnly), p, m); err != nil || !r.Live.Found {
			t.Errorf("killed at %d: the second run got %+v, %v", killed, r, err)
		}
		if starts != 1 || len(s.things) != 1 {
			t.Errorf("killed at %d: %d operations, %d things", killed, starts, len(s.things))
		}
		kill(nil)
	}
}

func TestDelete(t *testing.T) {
	gone := func() *http.Response { return failing(404, "ResourceNotFound") }
	deleting := func() *http.Response {
		return answer(200, object{"properties": object{"provisioningState": "Deleting"}})
	}
	accepted := func() *http.Response { return answer(202, nil, "Location", "/op") }
	html := plainText(404, "text/html", "<html>")
	kube := family.Family{Name: "k", LockAt: "/metadata/resourceVersion", LocksInBody: true}
	for _, test := range []struct {
		name    string
		family  family.Family
		isThere bool
		answers map[int]func() *http.Response
		want    string
		err     string
	}{
		{"not there", *family.ARM, false, nil, "nothing: GET GET", ""},
		{"at once", *family.ARM, true, nil, "deleted: GET DELETE GET GET", ""},
		{"seen for a while", *family.ARM, true, map[int]func() *http.Response{3: deleting, 4: deleting},
			"deleted: GET DELETE GET GET GET GET GET", ""},
		{"an operation", *family.ARM, true, map[int]func() *http.Response{2: accepted, 3: func() *http.Response {
			return answer(202, nil)
		},
			4: func() *http.Response { return answer(204, nil) }, 5: gone}, "deleted: GET DELETE GET GET GET", ""},
		{"it changed", *family.ARM, true, map[int]func() *http.Response{2: func() *http.Response { return answer(412, nil) }},
			"deleted: GET DELETE GET DELETE GET GET", ""},
		{"gone meanwhile", *family.ARM, true, map[int]func() *http.Response{2: gone}, "deleted: GET DELETE", ""},
		{"a lock", *family.ARM, true, map[int]func() *http.Response{2: func() *http.Response {
			return failing(409, "ScopeLocked")
		}}, "nothing: GET DELETE", "409 ScopeLocked"},
		{"a proxy answers", *family.ARM, true, map[int]func() *http.Response{3: html, 4: html, 5: html, 6: html},
			"deleted: GET DELETE GET GET GET GET", "goes on"},
		{"finalizers", kube, true, map[int]func() *http.Response{3: deleting, 4: deleting},
			"deleted: GET DELETE GET GET GET GET GET", ""},
	} {
		s := newService(t, test.family)
		if test.isThere {
			s.put(thing, object{"metadata": object{"resourceVersion": "7", "uid": "u"}, "properties": object{}})
		}
		n := 0
		s.before = func(sent) *http.Response {
			if n++; test.answers[n] != nil {
				return test.answers[n]()
			}
			return nil
		}
		checks := 0
		r, err := s.client().Delete(t.Context(), target(putOnly), func(context.Context, Live) error { checks++; return nil },
			&memory{})
		if got := fmt.Sprintf("%s: %s", r.Did, s.methods()); got != test.want {
			t.Errorf("%s: got %q, want %q (%v)", test.name, got, test.want, s.waits)
		}
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.err)
		}
		if checks == 0 && test.isThere {
			t.Errorf("%s: nobody looked at what is deleted", test.name)
		}
		for _, w := range s.writes() {
			if test.family.LocksInBody && !strings.Contains(fmt.Sprint(w.body), "resourceVersion:7 uid:u") {
				t.Errorf("%s: got the body %v", test.name, w.body)
			}
			if !test.family.LocksInBody && w.header.Get("If-Match") != `"1"` {
				t.Errorf("%s: got If-Match %q", test.name, w.header.Get("If-Match"))
			}
		}
	}
}

// What a check refuses is not deleted.
func TestDeleteRefused(t *testing.T) {
	s := newService(t, *family.ARM)
	s.put(thing, props())
	_, err := s.client().Delete(t.Context(), target(putOnly), func(context.Context, Live) error {
		return errors.New("OWNED_BY_OTHER")
	}, &memory{})
	if err == nil || len(s.writes()) > 0 {
		t.Errorf("got %v and %d writes", err, len(s.writes()))
	}
}

// Where a verb declares that its result is at the Location, that is waited for before the resource
// is read.
func TestWriteWaitsForResult(t *testing.T) {
	for via, want := range map[string]string{"location": "GET PUT GET GET GET GET",
		"azure-async-operation": "GET PUT GET GET"} {
		s := newService(t, *family.ARM)
		left := 2
		s.before = func(r sent) *http.Response {
			s.mu.Lock()
			defer s.mu.Unlock()
			switch {
			case r.method == http.MethodPut:
				s.handle(r)
				return answer(202, nil, "Azure-AsyncOperation", "https://cloud.example/op", "Location",
					"https://cloud.example/result")
			case r.path == "/op":
				return answer(200, object{"status": "Succeeded"})
			case r.path == "/result":
				if left--; left > 0 {
					return answer(202, nil)
				}
				return answer(204, nil)
			}
			return nil
		}
		about := target(putOnly)
		about.Abilities.FinalState = map[string]string{"put": via}
		r, err := s.client().Write(t.Context(), about, &planner{desired: props("a", "1")}, &memory{})
		if err != nil || r.Did != Created || s.methods() != want {
			t.Errorf("%s: got %+v, %v after %s, want %s", via, r, err, s.methods(), want)
		}
	}
}
