package recording_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/qontract/server"
	"github.com/app-sre/prcheck/runner/recording"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/trace"
)

// record returns a recording of tasks that send these queries.
func record(asked map[string][]string) *recording.Recording {
	r := recording.New("b", "h")
	for id, queries := range asked {
		observe := r.StartAttempt(id)
		for _, q := range queries {
			observe(server.Exchange{
				Path: "/graphql", SHA256: "h", Request: &gql.Request{Query: q}, Status: 200, Body: []byte(q),
				Response: &gql.Response{
					DatafileSchemas: []bundle.SchemaPath{bundle.SchemaPath("/" + q + ".yml")},
					Fields:          map[bundle.SchemaPath][]string{bundle.SchemaPath("/" + q + ".yml"): {"name"}},
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

func readSettings(t *testing.T, text string) *settings.Settings {
	t.Helper()
	s, err := settings.Read("prcheck.yaml", []byte("version: 1\nexec: {argv: [run]}\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The trace of a task is saved if the task passed, unless the settings say "trace: none".
func TestSave(t *testing.T) {
	p := &plan.Plan{Tasks: []plan.Task{task("good", ""), task("bad", ""), task("off", ""), task("idle", "")}}
	s := store(t)
	warnings := record(map[string][]string{"good": {"a"}, "bad": {"a"}, "off": {"a"}}).CheckAndSave(t.Context(), s, p,
		[]plan.Result{
			{Status: plan.Passed}, {Status: plan.Failed}, {Status: plan.Passed}, {Status: plan.NotRun},
		}, readSettings(t, "integrations: {off: {trace: none}}\n"), time.Unix(0, 0))
	if len(warnings) > 0 {
		t.Errorf("got the warnings %q", warnings)
	}
	for name, want := range map[string]int{"good": 1, "bad": 0, "off": 0, "idle": 0} {
		if traces, ignored := s.All(t.Context(), name); len(traces) != want || len(ignored) > 0 {
			t.Errorf("%s: got %d traces, %q, want %d", name, len(traces), ignored, want)
		}
	}
}

// onBase stands for a failure that is the same on base.
const onBase plan.Status = "on base"

// A broken promise is a warning, and the task fails if work was left out because of
// the promise.
func TestBrokenPromise(t *testing.T) {
	promised := readSettings(t, "integrations: {users: {trace: static}}\n")
	tests := []struct {
		name     string
		decision plan.Action
		status   plan.Status
		now      []string
		warning  string
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
			record(map[string][]string{one.ID: {"a", "b"}}).CheckAndSave(t.Context(), s, p, []plan.Result{{Status: plan.Passed}},
				promised, time.Unix(0, 0))
			results := []plan.Result{{Status: tt.status}}
			if tt.status == onBase {
				results[0] = plan.Result{Status: plan.Failed, Class: plan.ClassBaseline, Baseline: &plan.Baseline{}}
			}
			warnings := strings.Join(record(map[string][]string{one.ID: tt.now}).CheckAndSave(t.Context(), s, p, results,
				promised, time.Unix(1, 0)), "\n")
			if (warnings == "") != (tt.warning == "") || !strings.Contains(warnings, tt.warning) ||
				results[0].Status != tt.want || results[0].Blocks() != (tt.want != plan.Passed) {
				t.Errorf("got %q and %+v, want %q and %s", warnings, results[0], tt.warning, tt.want)
			}
			if broken := s.Broken(t.Context(), "users"); (broken == "") != (tt.warning == "") {
				t.Errorf("noted as broken: %q", broken)
			}
		})
	}
}

// An integration that runs in full may still have left out tasks that passed before with
// the same inputs. That relies on the promise, too.
func TestBrokenPromiseAfterReuse(t *testing.T) {
	promised := readSettings(t, "integrations: {users: {trace: static}}\n")
	for reused, want := range map[int]plan.Status{0: plan.Passed, 1: plan.Failed} {
		s, one := store(t), task("users/x", "x")
		p := &plan.Plan{Tasks: []plan.Task{one}, Integrations: []plan.Decision{
			{Name: "users", Decision: plan.Run, Evidence: plan.Evidence{Traces: []plan.TraceProof{{}}, Reused: reused}},
		}}
		record(map[string][]string{one.ID: {"a"}}).CheckAndSave(t.Context(), s, p, []plan.Result{{Status: plan.Passed}},
			promised, time.Unix(0, 0))
		results := []plan.Result{{Status: plan.Passed}}
		record(map[string][]string{one.ID: {"a", "b"}}).CheckAndSave(t.Context(), s, p, results, promised, time.Unix(1, 0))
		if results[0].Status != want {
			t.Errorf("%d tasks passed before: got %+v, want %s", reused, results[0], want)
		}
	}
}

// A plan that leaves out shards because of a promise cannot pass once the promise is
// broken, even if another part or an earlier run of the plan found that out.
func TestBrokenSincePlan(t *testing.T) {
	promised := readSettings(t, "integrations: {users: {trace: static}}\n")
	for _, tt := range []struct {
		name   string
		broken bool
		traces []plan.TraceProof
		want   plan.Status
	}{
		{"by traces", true, []plan.TraceProof{{}}, plan.Failed},
		{"by traces, and kept", false, []plan.TraceProof{{}}, plan.Passed},
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
			warnings := record(map[string][]string{one.ID: {"a"}}).CheckAndSave(t.Context(), s, p, results, promised,
				time.Unix(1, 0))
			if results[0].Status != tt.want || len(warnings) > 0 {
				t.Errorf("got %+v and %q, want %s", results[0], warnings, tt.want)
			}
		})
	}
}

// The queries of a failed attempt are checked, too, even if a later attempt passes.
func TestPromiseOfEveryAttempt(t *testing.T) {
	promised := readSettings(t, "integrations: {users: {trace: static}}\n")
	for _, tt := range []struct {
		first   []string
		warning string
	}{
		{[]string{"a"}, ""},
		{[]string{"c"}, `it asked "c"`},
	} {
		s, one := store(t), task("users", "")
		p := &plan.Plan{Tasks: []plan.Task{one}}
		passed := []plan.Result{{Status: plan.Passed}}
		record(map[string][]string{one.ID: {"a", "b"}}).CheckAndSave(t.Context(), s, p, passed, promised, time.Unix(0, 0))
		r := record(map[string][]string{one.ID: tt.first})
		again := r.StartAttempt(one.ID)
		for _, q := range []string{"a", "b"} {
			again(server.Exchange{Path: "/graphql", SHA256: "h", Request: &gql.Request{Query: q}, Status: 200, Body: []byte(q)})
		}
		warnings := strings.Join(r.CheckAndSave(t.Context(), s, p, passed, promised, time.Unix(1, 0)), "\n")
		if (warnings == "") != (tt.warning == "") || !strings.Contains(warnings, tt.warning) {
			t.Errorf("first %q: got %q, want %q", tt.first, warnings, tt.warning)
		}
		if kept := r.LastTrace(one, time.Unix(1, 0)); len(kept.Requests) != 2 {
			t.Errorf("got %+v, want what the last attempt asked", kept.Requests)
		}
	}
}

func TestObserved(t *testing.T) {
	r := record(map[string][]string{"users": {"a", "b"}, "parts/x": {"a"}, "parts/y": {"c"}, "quiet": nil})
	b, err := bundle.Parse([]byte(`{"data":{
		"/u.yml":{"$schema":"/app-sre/integration-1.yml","name":"users","schemas":["/b.yml","/z.yml","/y.yml","/app-sre/integration-1.yml","/app-interface/app-interface-settings-1.yml"]},
		"/p.yml":{"$schema":"/app-sre/integration-1.yml","name":"parts","schemas":["/a.yml"]}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	defs, err := integration.List(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := r.Observed([]plan.Task{task("users", ""), task("parts/x", "x"), task("parts/y", "y"), task("quiet", ""),
		task("never", "")}, defs)
	fields := func(names ...string) map[string][]string {
		out := map[string][]string{}
		for _, n := range names {
			out[n] = []string{"name"}
		}
		return out
	}
	want := []plan.Observed{
		{Integration: "parts", Read: []string{"/a.yml", "/c.yml"}, Unread: []string{}, Fields: fields("/a.yml", "/c.yml"),
			Partial: true},
		{Integration: "users", Read: []string{"/a.yml", "/b.yml"}, Unread: []string{"/y.yml", "/z.yml"},
			Fields: fields("/a.yml", "/b.yml")},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// A task that sent no query has an empty trace. A task that never started has none.
func TestTaskWithoutQueries(t *testing.T) {
	r := recording.New("base", "head")
	silent := plan.Task{ID: "a", Integration: "a"}
	if got := r.LastTrace(silent, time.Now()); got != nil {
		t.Errorf("before it started: got %+v", got)
	}
	r.StartAttempt(silent.ID)
	now := time.Now()
	want := trace.NewRecorder("base", "head").Trace(trace.TaskKey{Integration: "a"}, now)
	if got := r.LastTrace(silent, now); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
