package recording_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/recording"
	"github.com/app-sre/prcheck/server"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/trace"
)

// run notes what tasks ask: by task, queries.
func run(asked map[string][]string) *recording.Recording {
	r := recording.New("b", "h")
	for id, queries := range asked {
		observe := r.Task(id)
		for _, q := range queries {
			observe(server.Exchange{
				Path: "/graphql", SHA256: "h", Request: &gql.Request{Query: q}, Status: 200, Body: []byte(q),
				Response: &gql.Response{
					DatafileSchemas: []bundle.Schema{bundle.Schema("/" + q + ".yml")},
					Fields:          map[bundle.Schema][]string{bundle.Schema("/" + q + ".yml"): {"name"}},
				},
			})
		}
	}
	return r
}

func task(id, shard string) plan.Task {
	name, _, _ := strings.Cut(id, "/")
	return plan.Task{ID: id, Integration: name, Shard: shard, Command: "sha256:c"}
}

func store(t *testing.T) trace.Store {
	t.Helper()
	d, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return trace.NewStore(d)
}

func settings(t *testing.T, text string) *integration.Settings {
	t.Helper()
	s, err := integration.ReadSettings("prcheck.yaml", []byte("version: 1\nexec: {argv: [run]}\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Only tasks that passed leave a trace, and only where traces count.
func TestKeep(t *testing.T) {
	p := &plan.Plan{Tasks: []plan.Task{task("good", ""), task("bad", ""), task("off", ""), task("idle", "")}}
	s := store(t)
	said := run(map[string][]string{"good": {"a"}, "bad": {"a"}, "off": {"a"}}).Keep(t.Context(), s, p, []plan.Result{
		{Status: plan.Passed}, {Status: plan.Failed}, {Status: plan.Passed}, {Status: plan.NotRun},
	}, settings(t, "integrations: {off: {trace: none}}\n"), time.Unix(0, 0))
	if len(said) > 0 {
		t.Errorf("it says %q", said)
	}
	for name, want := range map[string]int{"good": 1, "bad": 0, "off": 0, "idle": 0} {
		if traces, ignored := s.All(t.Context(), name); len(traces) != want || len(ignored) > 0 {
			t.Errorf("%s: got %d traces, %q, want %d", name, len(traces), ignored, want)
		}
	}
}

// onBase stands for a failure of class baseline.
const onBase plan.Status = "on base"

// A promise that is broken is said once, and takes back what was left out on it.
func TestBrokenPromise(t *testing.T) {
	promised := settings(t, "integrations: {users: {trace: static}}\n")
	tests := []struct {
		name     string
		decision plan.Action
		status   plan.Status
		now      []string
		said     string
		want     plan.Status
	}{
		{"kept", plan.Shards, plan.Passed, []string{"a", "b"}, "", plan.Passed},
		{"more", plan.Run, plan.Passed, []string{"a", "b", "c"}, `it asked "c", which it did not before`, plan.Passed},
		{"less", plan.Run, plan.Passed, []string{"a"}, `it did not ask "b", which it did before`, plan.Passed},
		{"less, since it failed", plan.Run, plan.Failed, []string{"a"}, "", plan.Failed},
		{"more, and it failed", plan.Run, plan.Failed, []string{"c"}, `it asked "c"`, plan.Failed},
		{"more, and shards were left out", plan.Shards, plan.Passed, []string{"a", "b", "c"}, `it asked "c"`, plan.Failed},
		{"more, and it is broken on base, too", plan.Shards, onBase, []string{"a", "c"}, `it asked "c"`, plan.Failed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, one := store(t), task("users/x", "x")
			p := &plan.Plan{Tasks: []plan.Task{one}, Integrations: []plan.Decision{{Name: "users", Decision: tt.decision}}}
			run(map[string][]string{one.ID: {"a", "b"}}).Keep(t.Context(), s, p, []plan.Result{{Status: plan.Passed}}, promised, time.Unix(0, 0))
			results := []plan.Result{{Status: tt.status}}
			if tt.status == onBase {
				results[0] = plan.Result{Status: plan.Failed, Class: plan.ClassBaseline, Baseline: &plan.Baseline{}}
			}
			said := strings.Join(run(map[string][]string{one.ID: tt.now}).Keep(t.Context(), s, p, results, promised, time.Unix(1, 0)), "\n")
			if (said == "") != (tt.said == "") || !strings.Contains(said, tt.said) || results[0].Status != tt.want || results[0].Blocks() != (tt.want != plan.Passed) {
				t.Errorf("got %q and %+v, want %q and %s", said, results[0], tt.said, tt.want)
			}
			if broken := s.Broken(t.Context(), "users"); (broken == "") != (tt.said == "") {
				t.Errorf("noted as broken: %q", broken)
			}
		})
	}
}

// So is one that runs in full, but for tasks that passed with the same inputs: what
// those are rests on the promise, too.
func TestBrokenPromiseOfReused(t *testing.T) {
	promised := settings(t, "integrations: {users: {trace: static}}\n")
	for reused, want := range map[int]plan.Status{0: plan.Passed, 1: plan.Failed} {
		s, one := store(t), task("users/x", "x")
		p := &plan.Plan{Tasks: []plan.Task{one}, Integrations: []plan.Decision{
			{Name: "users", Decision: plan.Run, Evidence: plan.Evidence{Traces: []plan.Trace{{}}, Reused: reused}},
		}}
		run(map[string][]string{one.ID: {"a"}}).Keep(t.Context(), s, p, []plan.Result{{Status: plan.Passed}}, promised, time.Unix(0, 0))
		results := []plan.Result{{Status: plan.Passed}}
		run(map[string][]string{one.ID: {"a", "b"}}).Keep(t.Context(), s, p, results, promised, time.Unix(1, 0))
		if results[0].Status != want {
			t.Errorf("%d tasks passed before: got %+v, want %s", reused, results[0], want)
		}
	}
}

// A plan that leaves out shards on a promise is of no use once the promise is
// broken, whoever found that out: another part, or an earlier run of the plan.
func TestBrokenBefore(t *testing.T) {
	promised := settings(t, "integrations: {users: {trace: static}}\n")
	for _, tt := range []struct {
		name   string
		broken bool
		traces []plan.Trace
		want   plan.Status
	}{
		{"by traces", true, []plan.Trace{{}}, plan.Failed},
		{"by traces, and kept", false, []plan.Trace{{}}, plan.Passed},
		{"by declared queries", true, nil, plan.Passed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, one := store(t), task("users/x", "x")
			if tt.broken {
				if err := s.Break(t.Context(), "users", "it asked more", time.Unix(0, 0)); err != nil {
					t.Fatal(err)
				}
			}
			p := &plan.Plan{Tasks: []plan.Task{one}, Integrations: []plan.Decision{
				{Name: "users", Decision: plan.Shards, Evidence: plan.Evidence{Traces: tt.traces}},
			}}
			results := []plan.Result{{Status: plan.Passed}}
			said := run(map[string][]string{one.ID: {"a"}}).Keep(t.Context(), s, p, results, promised, time.Unix(1, 0))
			if results[0].Status != tt.want || len(said) > 0 {
				t.Errorf("got %+v and %q, want %s", results[0], said, tt.want)
			}
		})
	}
}

// What an attempt asked that failed counts, too, when another one passes.
func TestPromiseOfEveryAttempt(t *testing.T) {
	promised := settings(t, "integrations: {users: {trace: static}}\n")
	for _, tt := range []struct {
		first []string
		said  string
	}{
		{[]string{"a"}, ""},
		{[]string{"c"}, `it asked "c"`},
	} {
		s, one := store(t), task("users", "")
		p := &plan.Plan{Tasks: []plan.Task{one}}
		passed := []plan.Result{{Status: plan.Passed}}
		run(map[string][]string{one.ID: {"a", "b"}}).Keep(t.Context(), s, p, passed, promised, time.Unix(0, 0))
		r := run(map[string][]string{one.ID: tt.first})
		again := r.Task(one.ID)
		for _, q := range []string{"a", "b"} {
			again(server.Exchange{Path: "/graphql", SHA256: "h", Request: &gql.Request{Query: q}, Status: 200, Body: []byte(q)})
		}
		said := strings.Join(r.Keep(t.Context(), s, p, passed, promised, time.Unix(1, 0)), "\n")
		if (said == "") != (tt.said == "") || !strings.Contains(said, tt.said) {
			t.Errorf("first %q: got %q, want %q", tt.first, said, tt.said)
		}
		if kept := r.Trace(one, time.Unix(1, 0)); len(kept.Requests) != 2 {
			t.Errorf("got %+v, want what the last attempt asked", kept.Requests)
		}
	}
}

func TestObserved(t *testing.T) {
	r := run(map[string][]string{"users": {"a", "b"}, "parts/x": {"a"}, "parts/y": {"c"}, "quiet": nil})
	b, err := bundle.Parse([]byte(`{"data":{
		"/u.yml":{"$schema":"/app-sre/integration-1.yml","name":"users","schemas":["/b.yml","/z.yml","/y.yml","/app-sre/integration-1.yml","/app-interface/app-interface-settings-1.yml"]},
		"/p.yml":{"$schema":"/app-sre/integration-1.yml","name":"parts","schemas":["/a.yml"]}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	defs, err := integration.List(b)
	if err != nil {
		t.Fatal(err)
	}
	got := r.Observed([]plan.Task{task("users", ""), task("parts/x", "x"), task("parts/y", "y"), task("quiet", ""), task("never", "")}, defs)
	fields := func(names ...string) map[string][]string {
		out := map[string][]string{}
		for _, n := range names {
			out[n] = []string{"name"}
		}
		return out
	}
	want := []plan.Observed{
		{Integration: "parts", Read: []string{"/a.yml", "/c.yml"}, Unread: []string{}, Fields: fields("/a.yml", "/c.yml"), Partial: true},
		{Integration: "users", Read: []string{"/a.yml", "/b.yml"}, Unread: []string{"/y.yml", "/z.yml"}, Fields: fields("/a.yml", "/b.yml")},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// A task that started and asked nothing has a trace that says so; one that did not
// start has none.
func TestATaskThatAsksNothing(t *testing.T) {
	r := recording.New("base", "head")
	silent := plan.Task{ID: "a", Integration: "a"}
	if got := r.Trace(silent, time.Now()); got != nil {
		t.Errorf("before it started: got %+v", got)
	}
	r.Task(silent.ID)
	now := time.Now()
	want := trace.NewRecorder("base", "head").Trace(trace.Subject{Integration: "a"}, now)
	if got := r.Trace(silent, now); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
