package trace_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/state/files"
	"github.com/app-sre/prcheck/trace"
)

var subject = trace.TaskKey{Integration: "users", Command: "sha256:c0", Shard: "blue"}

var noon = time.Date(2024, 5, 6, 12, 0, 0, 0, time.UTC)

// ask records a request for a bundle and its answer.
func ask(r *trace.Recorder, path, sha, query, body string) {
	r.Note(trace.Exchange{Path: path, SHA256: sha, Request: &gql.Request{Query: query}, Status: 200, Body: []byte(body)})
}

// world is a map of answers, by side and query.
func world(answers map[string]string) func(trace.Side, gql.Request, string) (bool, error) {
	return func(side trace.Side, req gql.Request, recorded string) (bool, error) {
		body, ok := answers[string(side)+" "+req.Query]
		if !ok {
			return false, errors.New("no answer to " + req.Query)
		}
		return trace.Answer(200, []byte(body)) == recorded, nil
	}
}

func TestProves(t *testing.T) {
	tests := []struct {
		name       string
		base, head string // sha256 while recording
		record     func(r *trace.Recorder)
		now        map[string]string
		want       string
	}{
		{"the same answer", "b", "h", func(r *trace.Recorder) { ask(r, "/graphql", "h", "{a}", "1") },
			map[string]string{"head {a}": "1"}, ""},
		{"another answer", "b", "h", func(r *trace.Recorder) { ask(r, "/graphql", "h", "{a}", "1") },
			map[string]string{"head {a}": "2"}, `head answers "{a}" otherwise than when it was recorded`},
		{"another status", "b", "h", func(r *trace.Recorder) {
			r.Note(trace.Exchange{Path: "/graphql", SHA256: "h", Request: &gql.Request{Query: "{a}"}, Status: 400,
				Body: []byte("1")})
		}, map[string]string{"head {a}": "1"}, `head answers "{a}" otherwise than when it was recorded`},
		{"base is asked for itself", "b", "h", func(r *trace.Recorder) { ask(r, "/graphqlsha/b", "b", "{a}", "1") },
			map[string]string{"base {a}": "1", "head {a}": "2"}, ""},
		{"one bundle was both", "x", "x", func(r *trace.Recorder) { ask(r, "/graphqlsha/x", "x", "{a}", "1") },
			map[string]string{"base {a}": "2", "head {a}": "1"}, `base answers "{a}" otherwise than when it was recorded`},
		{"one bundle, asked as the latest", "x", "x", func(r *trace.Recorder) { ask(r, "/graphql", "x", "{a}", "1") },
			map[string]string{"base {a}": "2", "head {a}": "1"}, ""},
		{"an answer that is not known", "b", "h", func(r *trace.Recorder) { ask(r, "/graphql", "h", "{a}", "1") },
			nil, "no answer to {a}"},
		{"nothing asked", "b", "h", func(r *trace.Recorder) { r.Note(trace.Exchange{Path: "/sha256", SHA256: "h"}) },
			nil, "nothing was asked while it was recorded"},
		{"the names of bundles do not count", "b", "h", func(r *trace.Recorder) {
			for _, path := range []string{"/sha256", "/git-commit/h", "/git-commit-info/h", "/healthz"} {
				r.Note(trace.Exchange{Path: path, SHA256: "h"})
			}
			ask(r, "/graphql", "h", "{a}", "1")
		}, map[string]string{"head {a}": "1"}, ""},
		{"the difference was asked for", "b", "h", func(r *trace.Recorder) {
			ask(r, "/graphql", "h", "{a}", "1")
			r.Note(trace.Exchange{Path: "/diff/b/h"})
		}, map[string]string{"head {a}": "1"}, "it asked /diff/b/h, which a trace does not cover"},
		{"two doubts, of which the first counts", "b", "h", func(r *trace.Recorder) {
			r.Note(trace.Exchange{Path: "/diff/b/h"})
			ask(r, "/graphqlsha/x", "x", "{a}", "1")
		}, nil, "it asked /diff/b/h, which a trace does not cover"},
		{"an answer that was cut", "b", "h", func(r *trace.Recorder) {
			ask(r, "/graphql", "h", "{a}", "1")
			r.Note(trace.Exchange{Path: "/graphql", SHA256: "h", Request: &gql.Request{Query: "{b}"}, Status: 200, Cut: true})
		}, map[string]string{"head {a}": "1"}, "it was not answered when it asked for /graphql"},
		{"no answer", "b", "h", func(r *trace.Recorder) {
			r.Note(trace.Exchange{Path: "/graphql", SHA256: "h", Request: &gql.Request{Query: "{a}"}, Status: 500})
		}, nil, "it was not answered when it asked for /graphql"},
		{"a third bundle", "b", "h", func(r *trace.Recorder) { ask(r, "/graphqlsha/x", "x", "{a}", "1") },
			nil, "it asked a bundle that is not one of the change"},
		{"two answers", "b", "h", func(r *trace.Recorder) {
			ask(r, "/graphql", "h", "{a}", "1")
			ask(r, "/graphql", "h", "{a}", "2")
		}, map[string]string{"head {a}": "1"}, `it was answered in two ways to "{a}"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := trace.NewRecorder(tt.base, tt.head)
			tt.record(r)
			if got := r.Trace(subject, noon).Proves(world(tt.now)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Requests with different variables are different requests.
func TestVariables(t *testing.T) {
	r := trace.NewRecorder("b", "h")
	for _, n := range []string{"1", "9007199254740993"} {
		vars := bundle.NewObject(bundle.Member{Key: "n", Value: bundle.Number(n)}, bundle.Member{Key: "f", Value: nil})
		r.Note(trace.Exchange{Path: "/graphql", SHA256: "h", Request: &gql.Request{Query: "{a}", Operation: "Q",
			Variables: vars}, Status: 200, Body: []byte(n)})
	}
	var asked []string
	why := r.Trace(subject, noon).Proves(func(_ trace.Side, req gql.Request, recorded string) (bool, error) {
		v, _ := req.Variables.Get("n")
		asked = append(asked, fmt.Sprint(req.Operation, " ", v))
		if first := req.Variables.Members()[0].Key; first != "n" {
			t.Errorf("the order of keys is lost: %q is the first", first)
		}
		return trace.Answer(200, fmt.Append(nil, v)) == recorded, nil
	})
	if got := strings.Join(asked, ", "); why != "" || got != "Q 1, Q 9007199254740993" {
		t.Errorf("asked %s: %q", got, why)
	}
}

func TestAsks(t *testing.T) {
	record := func(queries ...string) *trace.Trace {
		r := trace.NewRecorder("b", "h")
		for _, q := range queries {
			ask(r, "/graphql", "h", q, "1")
		}
		return r.Trace(subject, noon)
	}
	tests := []struct {
		name     string
		was, now []string
		partial  bool
		want     string
	}{
		{"the same", []string{"{a}", "{b}"}, []string{"{b}", "{a}", "{a}"}, false, ""},
		{"one more", []string{"{a}"}, []string{"{a}", "{b}"}, false, `it asked "{b}", which it did not before`},
		{"one more before it failed", []string{"{a}"}, []string{"{b}"}, true, `it asked "{b}", which it did not before`},
		{"one less", []string{"{a}", "{b}"}, []string{"{a}"}, false, `it did not ask "{b}", which it did before`},
		{"one less before it failed", []string{"{a}", "{b}"}, []string{"{a}"}, true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := record(tt.was...).Asks(record(tt.now...), tt.partial); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A trace lists what all requests together read.
func TestObserved(t *testing.T) {
	r := trace.NewRecorder("b", "h")
	for _, res := range []*gql.Response{
		{DatafileSchemas: []bundle.SchemaPath{"/u.yml"}, Datafiles: []bundle.Path{"/u/b", "/u/a"},
			Fields: map[bundle.SchemaPath][]string{"/u.yml": {"id"}}},
		{DatafileSchemas: []bundle.SchemaPath{"/r.yml", "/u.yml"}, Datafiles: []bundle.Path{"/u/a"},
			Resources: []bundle.Path{"/x"}, Fields: map[bundle.SchemaPath][]string{"/u.yml": {"age", "name"}}},
	} {
		r.Note(trace.Exchange{Path: "/graphql", SHA256: "h", Request: &gql.Request{Query: "{a}"}, Response: res, Status: 200})
	}
	got := fmt.Sprint(r.Trace(subject, noon).Observed)
	if want := "{[/r.yml /u.yml] [/u/a /u/b] [/x] map[/u.yml:[age id name]]}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Requests whose variables cannot be read are not taken for each other.
func TestUnreadableVariables(t *testing.T) {
	with := func(variables string) *trace.Trace {
		return &trace.Trace{Requests: []trace.RecordedRequest{{Query: "{a}", Variables: json.RawMessage(variables)}}}
	}
	if got := with("x").Asks(with("y"), false); got == "" {
		t.Error("they are the same")
	}
	if got := with("[1]").Proves(nil); got != "reading recorded variables: not an object" {
		t.Errorf("got %q", got)
	}
	if got := with("x").Proves(nil); !strings.HasPrefix(got, "reading recorded variables: ") {
		t.Errorf("got %q", got)
	}
}

// A trace holds so many requests, and so many bytes of them.
func TestBounds(t *testing.T) {
	const requests, text, around = 20_000, 16 << 20, len(`{"side":"head","query":"","answer":""}`)
	many := trace.NewRecorder("b", "h")
	for i := range requests {
		ask(many, "/graphql", "h", fmt.Sprint(i), "1")
	}
	long := trace.NewRecorder("b", "h")
	ask(long, "/graphql", "h", strings.Repeat("x", text-2*around-1), "1")
	ask(long, "/graphql", "h", "y", "1")
	for name, r := range map[string]*trace.Recorder{"many": many, "long": long} {
		if got := r.Trace(subject, noon).Doubt(); got != "" {
			t.Errorf("%s: got %q", name, got)
		}
		ask(r, "/graphql", "h", "z", "1")
		if got := r.Trace(subject, noon).Doubt(); got != "it asked more than a trace holds" {
			t.Errorf("%s and one more: got %q", name, got)
		}
	}
	long = trace.NewRecorder("b", "h")
	ask(long, "/graphql", "h", strings.Repeat("x", text-around+1), "1")
	if got := long.Trace(subject, noon).Doubt(); got != "it asked more than a trace holds" {
		t.Errorf("one byte too much: got %q", got)
	}
}

func TestName(t *testing.T) {
	for _, tt := range []struct {
		request trace.RecordedRequest
		want    string
	}{
		{trace.RecordedRequest{Query: "query Users { u }", Operation: "Users"}, "Users"},
		{trace.RecordedRequest{Query: "\n  { users\n\t{ name }}\n"}, "{ users { name }}"},
		{trace.RecordedRequest{Query: strings.Repeat("x", 60)}, strings.Repeat("x", 60)},
		{trace.RecordedRequest{Query: strings.Repeat("x", 80)}, strings.Repeat("x", 60) + "…"},
	} {
		if got := tt.request.Name(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// A task that asked nothing depends on the files that it read, if they were recorded.
func TestDoubt(t *testing.T) {
	nothing := trace.NewRecorder("b", "h").Trace(subject, noon)
	lost := trace.NewRecorder("b", "h")
	lost.Note(trace.Exchange{Path: "/diff"})
	for _, tt := range []struct {
		name  string
		trace *trace.Trace
		want  string
	}{
		{"nothing asked", nothing, "nothing was asked while it was recorded"},
		{"all files count", nothing.WithFiles(files.All("sha256:1")), "nothing was asked while it was recorded"},
		{"its files are known", nothing.WithFiles((files.List{}).ID()), ""},
		{"its files do not help", lost.Trace(subject, noon).WithFiles((files.List{}).ID()),
			"it asked /diff, which a trace does not cover"},
	} {
		if got := tt.trace.Doubt(); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	if got := nothing.WithFiles("x"); got.Digest == nothing.Digest || nothing.Files != "" {
		t.Errorf("got %q of %+v", got.Digest, nothing)
	}
}

// A trace whose bundles have no name is no trace of one bundle. The words of the sides stand in documents, so they
// stay.
func TestTracesOfNoNameAreLoaded(t *testing.T) {
	s, _ := store(t)
	if err := s.Save(t.Context(), trace.NewRecorder("", "").Trace(subject, noon)); err != nil {
		t.Fatal(err)
	}
	if traces, ignored := s.Load(t.Context(), subject); len(traces) != 1 || len(ignored) != 0 {
		t.Errorf("got %v, ignored %q", traces, ignored)
	}
	if got := string(trace.Base + " " + trace.Head + " " + trace.Either); got != "base head either" {
		t.Errorf("got %q", got)
	}
}
