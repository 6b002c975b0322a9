package operation_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/generic/operation"
)

// A result that the specification says is at the Location is waited for after the status document,
// and the resource decides.
func TestResultAtLocation(t *testing.T) {
	began := func(location string) reply {
		r := reply{Status: 202, Headers: map[string]string{"Azure-AsyncOperation": "/s"}}
		if location != "" {
			r.Headers["Location"] = location
		}
		return r
	}
	is := func(state string) reply {
		return reply{Status: 200, Body: map[string]any{"properties": map[string]any{"provisioningState": state}}}
	}
	full := reply{Status: 409, Body: map[string]any{"error": map[string]any{"code": "Full", "message": "none left"}}}
	ended := reply{Status: 200, Body: map[string]any{"status": "Succeeded"}}
	for _, test := range []struct {
		name, verb, via string
		first           reply
		polls           []reply
		want            string
	}{
		{"at the Location", "PUT", "location", began("/l"), []reply{ended, {Status: 202}, {Status: 200}, is("Succeeded")},
			"succeeded  [/s /l /l R]"},
		{"it moves", "PUT", "location", began("/l"),
			[]reply{ended, {Status: 202, Headers: map[string]string{"Location": "/m"}}, {Status: 204}, is("")},
			"succeeded  [/s /l /m R]"},
		{"of a deletion", "DELETE", "location", began("/l"), []reply{ended, {Status: 202}, {Status: 204}, {Status: 404}},
			"succeeded  [/s /l /l R]"},
		{"the status document names it later", "PUT", "location", began(""),
			[]reply{{Status: 200, Body: map[string]any{"status": "Running"}, Headers: map[string]string{"Location": "/l"}},
				ended, {Status: 200}, is("")}, "succeeded  [/s /s /l R]"},
		{"it failed, and the resource agrees", "PUT", "location", began("/l"), []reply{ended, full, is("Failed")},
			"failed Full [/s /l R]"},
		{"it failed, and the resource does not agree", "PUT", "location", began("/l"), []reply{ended, full, is("Succeeded")},
			"succeeded  [/s /l R]"},
		{"it succeeded, and the resource does not agree", "PUT", "location", began("/l"),
			[]reply{ended, {Status: 200}, is("Failed")}, "failed LRO_FAILED [/s /l R]"},
		{"it is forgotten", "PUT", "location", began("/l"), []reply{ended, {Status: 404}, is("Succeeded")},
			"succeeded  [/s /l R]"},
		{"nobody may read it", "PUT", "location", began("/l"), []reply{ended, {Status: 403}, is("Succeeded")},
			"succeeded  [/s /l R]"},
		{"it is the resource", "PUT", "location", began(resource), []reply{ended, is("Succeeded")}, "succeeded  [/s R]"},
		{"at another host", "PUT", "location", began("https://evil.example/l"), []reply{ended, is("Succeeded")},
			"succeeded  [/s R]"},
		{"nothing names it", "PUT", "location", began(""), []reply{ended, is("Succeeded")}, "succeeded  [/s R]"},
		{"in the status document", "PUT", "azure-async-operation", began("/l"), []reply{ended, is("Succeeded")},
			"succeeded  [/s R]"},
		{"not declared", "PUT", "", began("/l"), []reply{ended, is("Succeeded")}, "succeeded  [/s R]"},
	} {
		s := &service{endpoint: "https://management.example", polls: test.polls, now: noon}
		f := s.follower(time.Hour)
		o, _ := operation.Begin(test.verb, resource, f.Endpoint, test.first.answer(), noon)
		o.FinalState = test.via
		r := f.Follow(t.Context(), o)
		if r.Outcome == operation.Succeeded {
			_, r = f.Finish(t.Context(), o)
		}
		for i, address := range s.asked {
			if address == resource {
				s.asked[i] = "R"
			}
		}
		if got := fmt.Sprint(r.Outcome, " ", r.Code, " ", s.asked); got != test.want || len(s.polls) > 0 {
			t.Errorf("%s: got %s with %d answers left, want %s", test.name, got, len(s.polls), test.want)
		}
	}
}

// The result is waited for as long as an operation is, and a later process goes on with it.
func TestResultInLaterRun(t *testing.T) {
	s := &service{endpoint: "https://management.example", now: noon,
		polls: []reply{{Status: 200, Body: map[string]any{"status": "Succeeded"}}, {Status: 202}}}
	f := s.follower(10 * time.Second)
	o := &operation.Operation{Verb: http.MethodPut, Resource: resource, Kind: operation.Status, Address: "/s",
		FinalState: operation.AtLocation, Result: "/l"}
	if r := f.Follow(t.Context(), o); r.Outcome != operation.Succeeded {
		t.Fatalf("got %+v", r)
	}
	if _, r := f.Finish(t.Context(), o); r.Outcome != operation.Pending || r.Err != nil {
		t.Fatalf("got %+v, want pending", r)
	}
	again := s.saved[len(s.saved)-1]
	s.asked, s.polls = nil, []reply{{Status: 200}, {Status: 200, Body: map[string]any{}}}
	r := f.Follow(t.Context(), &again)
	if r.Outcome == operation.Succeeded {
		_, r = f.Finish(t.Context(), &again)
	}
	if got := fmt.Sprint(r.Outcome, s.asked); got != "succeeded[/l "+resource+"]" {
		t.Errorf("got %s", got)
	}
}
