package operation_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/generic/operation"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

const resource = "/things/a?api-version=1"

// A reply is an answer of a scripted service.
type reply struct {
	Status  int
	Headers map[string]string
	Body    any
	Verb    string // of the request that is answered
}

func (r reply) answer() operation.Answer {
	h := http.Header{}
	for name, value := range r.Headers {
		h.Set(name, value)
	}
	return operation.Answer{Status: r.Status, Header: h, Body: r.Body}
}

// A service answers questions by a script, on a clock that stands still but for waits.
type service struct {
	endpoint string
	polls    []reply
	final    reply
	asked    []string
	waits    []int
	saved    []operation.Operation
	now      time.Time
	saveErr  error
}

func (s *service) follower(timeout time.Duration) operation.Follower {
	u, err := url.Parse(s.endpoint)
	if err != nil {
		panic(err)
	}
	return operation.Follower{Endpoint: u, Timeout: timeout, Ask: s.ask,
		Save: func(_ context.Context, o operation.Operation) error {
			s.saved = append(s.saved, o)
			return s.saveErr
		},
		Clock: operation.Clock{Now: func() time.Time {
			return s.now
		}, Sleep: func(ctx context.Context, d time.Duration) error {
			s.waits, s.now = append(s.waits, int(d/time.Second)), s.now.Add(d)
			return context.Cause(ctx)
		}}}
}

func (s *service) ask(_ context.Context, u *url.URL) (operation.Answer, error) {
	s.asked = append(s.asked, u.RequestURI())
	if len(s.polls) == 0 {
		return s.final.answer(), nil
	}
	r := s.polls[0]
	s.polls = s.polls[1:]
	if r.Status == 0 {
		return operation.Answer{}, fmt.Errorf("the line is cut")
	}
	return r.answer(), nil
}

func TestLROCases(t *testing.T) {
	type lroCase struct {
		Input struct {
			First    reply
			Polls    []reply
			Endpoint string
			Verb     string
			Timeout  float64
		}
		Expected struct {
			Outcome, Code, Class, Token string
			Polled                      []string
			Waits                       []int
			Requests                    []string
			Then                        string
			AppliedIsKept               *bool `json:"applied_is_kept"`
		}
	}
	shared.Each(t, "lro", func(t *testing.T, c lroCase) {
		in, want := c.Input, c.Expected
		if in.Endpoint == "" {
			in.Endpoint = "https://management.example"
		}
		in.Verb = cmp.Or(in.Verb, in.First.Verb, http.MethodPut)
		s := &service{endpoint: in.Endpoint, polls: in.Polls, now: noon, final: reply{Status: 200, Body: map[string]any{}}}
		if in.First.Verb == http.MethodDelete { // the resource is gone in the end
			s.final = reply{Status: http.StatusNotFound}
		}
		f := s.follower(time.Duration(in.Timeout * float64(time.Second)))
		o, r := operation.Begin(in.Verb, resource, f.Endpoint, in.First.answer(), noon)
		if o != nil {
			r = f.Follow(t.Context(), o)
		}
		if in.First.Verb != "" && r.Outcome == operation.Unknown { // then the resource decides
			_, r = f.Finish(t.Context(), o)
		}
		if string(r.Outcome) != want.Outcome || want.Code != "" && r.Code != want.Code {
			t.Errorf("got %+v, want %s %s", r, want.Outcome, want.Code)
		}
		if want.Polled != nil && !slices.Equal(named(s.asked), want.Polled) {
			t.Errorf("polled %q, want %q", s.asked, want.Polled)
		}
		if want.Waits != nil && !slices.Equal(s.waits, want.Waits) {
			t.Errorf("waited %v, want %v", s.waits, want.Waits)
		}
		isKept := r.Outcome != operation.Succeeded
		if want.AppliedIsKept != nil && *want.AppliedIsKept != isKept {
			t.Errorf("applied is kept: %v, want %v", isKept, *want.AppliedIsKept)
		}
		isTransient := r.Outcome == operation.Pending && r.Err == nil
		if want.Class == "transient" && !isTransient {
			t.Errorf("got %+v, want a transient end", r)
		}
		if want.Token != "" && (o == nil || o.Address != want.Token || s.saved[len(s.saved)-1].Address != want.Token) {
			t.Errorf("got the operation %+v, want the address %q stored", o, want.Token)
		}
		if want.Then != "" || slices.Contains(want.Requests, "final GET") {
			checkFinal(t, s, f, o)
		}
	})
}

// named writes the address of the resource as the cases do.
func named(asked []string) []string {
	out := slices.Clone(asked)
	for i, address := range out {
		if address == resource {
			out[i] = "resource"
		}
	}
	return out
}

// checkFinal finishes an operation, and expects that the resource is asked, and decides.
func checkFinal(t *testing.T, s *service, f operation.Follower, o *operation.Operation) {
	t.Helper()
	for state, want := range map[string]operation.Outcome{"Succeeded": operation.Succeeded, "Failed": operation.Failed} {
		s.asked, s.polls = nil, nil
		s.final = reply{Status: 200, Body: map[string]any{"properties": map[string]any{"provisioningState": state}}}
		again := operation.Operation{Verb: http.MethodPut, Resource: resource}
		if o != nil {
			again = *o
		}
		if _, r := f.Finish(t.Context(), &again); r.Outcome != want || !slices.Equal(s.asked, []string{resource}) {
			t.Errorf("%s: got %+v after %q, want %s after one GET", state, r, s.asked, want)
		}
	}
}

// Ways of services that the shared cases do not have.
func TestFollow(t *testing.T) {
	status := func(state string, h ...string) reply {
		r := reply{Status: 200, Body: map[string]any{"status": state}, Headers: map[string]string{}}
		for i := 0; i < len(h); i += 2 {
			r.Headers[h[i]] = h[i+1]
		}
		return r
	}
	in := func(state string) reply {
		return reply{Status: 200, Body: map[string]any{"properties": map[string]any{"provisioningState": state}}}
	}
	op := func(code int, h ...string) reply {
		r := status("", h...)
		r.Status, r.Body = code, nil
		return r
	}
	const async, loc = "Azure-AsyncOperation", "Location"
	for _, test := range []struct {
		name, verb string
		first      reply
		polls      []reply
		want       string
	}{
		{"the status document wins", "PUT", op(201, async, "/s", loc, "/l"), []reply{status("Succeeded")},
			"succeeded  [/s] [10]"},
		{"it names a Location for the result only", "PUT", op(202, async, "/s"),
			[]reply{status("Running", loc, "/l"), status("SUCCEEDED")}, "succeeded  [/s /s] [10 10]"},
		{"the address moves", "PUT", op(202, async, "/s"), []reply{status("Running", async, "/s2?x=1"), status("succeeded")},
			"succeeded  [/s /s2?x=1] [10 10]"},
		{"Location moves", "PUT", op(202, loc, "/l"), []reply{op(202, loc, "/l2", "Retry-After", "3"), op(200)},
			"succeeded  [/l /l2] [10 3]"},
		{"Location becomes a status document", "PUT", op(202, loc, "/l"), []reply{op(202, async, "/s"), status("Failed")},
			"failed LRO_FAILED [/l /s] [10 10]"},
		{"it moves to another host", "PUT", op(202, loc, "/l"), []reply{op(202, loc, "//evil.example/l2")},
			"failed LRO_HOST [/l] [10]"},
		{"another scheme", "PUT", op(202, loc, "http://management.example/l"), nil, "failed LRO_HOST [] []"},
		{"another port", "PUT", op(202, loc, "https://management.example:8443/l"), nil, "failed LRO_HOST [] []"},
		{"the usual port", "PUT", op(202, loc, "https://Management.Example:443/l"), []reply{op(204)}, "succeeded  [/l] [10]"},
		{"a user", "PUT", op(202, loc, "https://a:b@management.example/l"), nil, "failed LRO_HOST [] []"},
		{"a backslash", "PUT", op(202, loc, `https://management.example\@evil.example/l`), nil, "failed LRO_HOST [] []"},
		{"at least a second", "PUT", op(202, loc, "/l", "Retry-After", "0"), []reply{op(204)}, "succeeded  [/l] [1]"},
		{"a date", "PUT", op(202, loc, "/l", "Retry-After", noon.Add(25*time.Second).Format(http.TimeFormat)),
			[]reply{op(204)}, "succeeded  [/l] [25]"},
		{"no number", "PUT", op(202, loc, "/l", "Retry-After", "soon"), []reply{op(204)}, "succeeded  [/l] [10]"},
		{"201 of a resource that is done", "PUT", func() reply { r := in("Succeeded"); r.Status = 201; return r }(), nil,
			"succeeded  [] []"},
		{"201 of a resource that failed", "PUT", func() reply { r := in("Failed"); r.Status = 201; return r }(), nil,
			"failed LRO_FAILED [] []"},
		{"200 and Updating", "PUT", in("Updating"), []reply{in("Updating"), in("Succeeded")}, "succeeded  [R R] [10 10]"},
		{"202 without an address", "PUT", op(202), []reply{in("")}, "succeeded  [R] [10]"},
		{"deleted", "DELETE", op(202), []reply{in("Succeeded"), in("Deleting"), op(404)}, "succeeded  [R R R] [10 10 10]"},
		{"deleted at once", "DELETE", op(204), nil, "succeeded  [] []"},
		{"a new resource is not there yet", "PUT", op(202), []reply{op(404), op(404), in("Succeeded")},
			"succeeded  [R R R] [10 10 10]"},
		{"a new resource never comes", "PUT", op(202), []reply{op(404), op(404), op(404), op(404)},
			"unknown  [R R R R] [10 10 10 10]"},
		{"three errors, then three more", "PUT", op(202, async, "/s"), []reply{op(500), {}, op(503), status("Running"),
			op(500), op(500), op(500), status("Succeeded")},
			"succeeded  [/s /s /s /s /s /s /s /s] [10 10 10 10 10 10 10 10]"},
		{"four errors", "PUT", op(202, async, "/s"), []reply{op(500), op(500), op(500), op(500)},
			"pending  [/s /s /s /s] [10 10 10 10]"},
		{"Location tells the failure", "PUT", op(202, loc, "/l"),
			[]reply{{Status: 409, Body: map[string]any{"error": map[string]any{"code": "Full"}}}}, "failed Full [/l] [10]"},
		{"not allowed to ask", "PUT", op(202, async, "/s"), []reply{op(403)}, "pending  [/s] [10]"},
		{"a redirect", "PUT", op(202, async, "/s"), []reply{op(302, loc, "https://evil.example")}, "pending  [/s] [10]"},
		{"a status document without a status", "PUT", op(202, async, "/s"), []reply{op(200)}, "unknown  [/s] [10]"},
		{"a status that is no text", "PUT", op(202, async, "/s"), []reply{{Status: 200, Body: map[string]any{"status": 7}}},
			"unknown  [/s] [10]"},
		{"an operation that is gone", "PUT", op(202, loc, "/l"), []reply{op(410)}, "unknown  [/l] [10]"},
	} {
		s := &service{endpoint: "https://management.example", polls: test.polls, now: noon}
		f := s.follower(time.Hour)
		o, r := operation.Begin(test.verb, resource, f.Endpoint, test.first.answer(), noon)
		if o != nil {
			r = f.Follow(t.Context(), o)
		}
		for i, address := range s.asked {
			if address == resource {
				s.asked[i] = "R"
			}
		}
		if got := fmt.Sprint(r.Outcome, " ", r.Code, " ", s.asked, " ", s.waits); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

// At any moment at which a process is killed, what is stored leads a second process to the
// same end, with the questions that were left.
func TestFollowAfterKill(t *testing.T) {
	polls := []reply{
		{Status: 202, Headers: map[string]string{"Location": "/l2"}},
		{Status: 202, Headers: map[string]string{"Location": "/l3", "Retry-After": "5"}},
		{Status: 204},
	}
	first := reply{Status: 202, Headers: map[string]string{"Location": "/l1"}}.answer()
	for killed := range 3 {
		s := &service{endpoint: "https://management.example", polls: slices.Clone(polls), now: noon}
		f := s.follower(0)
		o, _ := operation.Begin(http.MethodPut, resource, f.Endpoint, first, noon)
		ctx, kill := context.WithCancelCause(t.Context())
		asked := 0
		f.Ask = func(ctx context.Context, u *url.URL) (operation.Answer, error) {
			if asked++; asked > killed {
				kill(fmt.Errorf("killed"))
				return operation.Answer{}, context.Cause(ctx)
			}
			return s.ask(ctx, u)
		}
		if r := f.Follow(ctx, o); r.Outcome != operation.Pending {
			t.Fatalf("killed at %d: got %+v, want pending", killed, r)
		}
		raw, err := json.Marshal(s.saved[len(s.saved)-1])
		if err != nil {
			t.Fatal(err)
		}
		var again operation.Operation
		if err := json.Unmarshal(raw, &again); err != nil {
			t.Fatal(err)
		}
		if !again.Began.Equal(noon) {
			t.Errorf("the operation began at %v", again.Began)
		}
		if r := s.follower(0).Follow(t.Context(), &again); r.Outcome != operation.Succeeded {
			t.Errorf("killed at %d: got %+v, want succeeded", killed, r)
		}
		if want := []string{"/l1", "/l2", "/l3"}; !slices.Equal(s.asked, want) {
			t.Errorf("killed at %d: asked %q, want %q", killed, s.asked, want)
		}
	}
}

// An operation that cannot be stored is not waited for.
func TestFollowNeedsState(t *testing.T) {
	s := &service{endpoint: "https://management.example", now: noon, saveErr: fmt.Errorf("no space")}
	f := s.follower(0)
	o, _ := operation.Begin(http.MethodPut, resource, f.Endpoint, reply{Status: 202}.answer(), noon)
	if r := f.Follow(t.Context(), o); r.Outcome != operation.Pending || r.Err == nil || len(s.waits)+len(s.asked) > 0 {
		t.Errorf("got %+v after %v and %v", r, s.waits, s.asked)
	}
}

// While the resource says that it is worked on, it is not finished.
func TestFinish(t *testing.T) {
	in := func(state string) reply {
		return reply{Status: 200, Body: map[string]any{"properties": map[string]any{"provisioningState": state}}}
	}
	for _, test := range []struct {
		verb  string
		polls []reply
		want  string
	}{
		{"PUT", []reply{in("Succeeded")}, "succeeded "},
		{"PUT", []reply{in("Updating"), in("Updating"), in("Succeeded"), in("Succeeded")}, "succeeded "},
		{"PUT", []reply{in("Canceled")}, "failed Canceled"},
		{"PUT", []reply{{Status: 404}, {Status: 404}, in("Succeeded")}, "succeeded "},
		{"PUT", []reply{{Status: 404}, {Status: 404}, {Status: 404}, {Status: 404}}, "failed LRO_FAILED"},
		{"PUT", []reply{{Status: 500}, {Status: 429}, {}, {Status: 502}}, "pending "},
		{"PUT", []reply{{Status: 500}, {Status: 429}, {}, in("Succeeded")}, "succeeded "},
		{"DELETE", []reply{{Status: 404}}, "succeeded "},
		{"DELETE", []reply{in("Deleting"), {Status: 404}, {Status: 404}}, "succeeded "},
	} {
		s := &service{endpoint: "https://management.example", now: noon, polls: test.polls}
		o := operation.Operation{Verb: test.verb, Resource: resource, Kind: operation.Status, Address: "/s"}
		_, r := s.follower(time.Hour).Finish(t.Context(), &o)
		if got := fmt.Sprint(r.Outcome, " ", r.Code); got != test.want || len(s.polls) > 0 {
			t.Errorf("%s %v: got %s with %d answers left, want %s", test.verb, test.polls, got, len(s.polls), test.want)
		}
	}
}
