package tally_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/tally"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func none(string) bool { return false }

// change returns a plan with one integration that runs at a rung, and a change of a
// datafile.
func change(rung plan.Rung, f plan.Datafile) *plan.Plan {
	return &plan.Plan{
		Changes:      plan.Changes{Datafiles: []plan.Datafile{f}},
		Integrations: []plan.Decision{{Name: "tf", Decision: plan.Run, Rung: rung}},
		Tasks:        []plan.Task{{ID: "tf", Integration: "tf"}},
	}
}

// passed returns the results of one task that passed after ten seconds and read the field
// "name" of the schema /a-1.yml.
func passed() *plan.Results {
	return &plan.Results{
		Results: []plan.Result{{Task: "tf", Status: plan.Passed, Attempts: 1, Seconds: 10}},
		Observed: []plan.Observed{{Integration: "tf", Read: []string{"/a-1.yml"},
			Fields: map[string][]string{"/a-1.yml": {"name"}}}},
	}
}

func TestNeedless(t *testing.T) {
	modified := func(schema string, fields ...string) plan.Datafile {
		return plan.Datafile{Path: "/x.yml", Schema: schema, Kind: plan.Modified, Fields: fields}
	}
	for _, c := range []struct {
		name string
		p    *plan.Plan
		edit func(*plan.Plan, *plan.Results)
		want tally.Cause
	}{
		{"it reads the field", change(plan.RungSchema, modified("/a-1.yml", "/name")), nil, ""},
		{"it reads above the field", change(plan.RungSchema, modified("/a-1.yml", "/name/0/x")), nil, ""},
		{"it reads another field", change(plan.RungSchema, modified("/a-1.yml", "/title")), nil, tally.ByQueries},
		{"it reads one of the fields", change(plan.RungSchema, modified("/a-1.yml", "/title", "/name")), nil, ""},
		{"it does not read the schema", change(plan.RungSchema, modified("/b-1.yml", "/name")), nil, tally.BySchemas},
		{"a new file", change(plan.RungSchema, plan.Datafile{Schema: "/a-1.yml", Kind: plan.Added}), nil, ""},
		{"a new file that it does not read", change(plan.RungSchema, plan.Datafile{Schema: "/b-1.yml", Kind: plan.Added}),
			nil, tally.BySchemas},
		{"the schema changes",
			change(plan.RungSchema, plan.Datafile{Schema: "/b-1.yml", OldSchema: "/a-1.yml", Kind: plan.Modified,
				Fields: []string{"/$schema"}}), nil, ""},
		{"no fields are named", change(plan.RungSchema, modified("/a-1.yml")), nil, ""},
		{"a resource changes, too", change(plan.RungSchema, modified("/b-1.yml", "/x")), func(p *plan.Plan, _ *plan.Results) {
			p.Changes.Resources = []plan.Resource{{Path: "/r"}}
		}, ""},
		{"a schema file changes, too", change(plan.RungSchema, modified("/b-1.yml", "/x")),
			func(p *plan.Plan, _ *plan.Results) { p.Changes.Schemas = []string{"/a-1.yml"} }, ""},
		{"it asked nothing", change(plan.RungSchema, modified("/b-1.yml", "/x")), func(_ *plan.Plan, rs *plan.Results) {
			rs.Observed = nil
		}, ""},
		{"it failed", change(plan.RungSchema, modified("/b-1.yml", "/x")), func(_ *plan.Plan, rs *plan.Results) {
			rs.Results[0].Status = plan.Failed
		}, ""},
		{"it runs always", change(plan.RungDefinition, modified("/b-1.yml", "/x")), nil, ""},
		{"its desired state differs", change(plan.RungState, modified("/a-1.yml", "/name")), nil, tally.ByShards},
		{"one task of many", change(plan.RungState, modified("/a-1.yml", "/name")), func(p *plan.Plan, _ *plan.Results) {
			p.Tasks[0].Shard = "one"
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			rs := passed()
			if c.edit != nil {
				c.edit(c.p, rs)
			}
			want := map[tally.Cause]float64(nil)
			if c.want != "" {
				want = map[tally.Cause]float64{c.want: 10}
			}
			if got := tally.CountRun(c.p, rs, none)["tf"].Needless; !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestCountRun(t *testing.T) {
	p := &plan.Plan{
		Integrations: []plan.Decision{
			{Name: "a", Decision: plan.Shards, Rung: plan.RungShards},
			{Name: "b", Decision: plan.Skip, Rung: plan.RungSchema, Believed: true},
			{Name: "c", Decision: plan.Skip, Rung: plan.RungResult, Evidence: plan.Evidence{Reused: 3}},
		},
		Tasks: []plan.Task{{ID: "a/1", Integration: "a", Shard: "1"}, {ID: "a/2", Integration: "a", Shard: "2"},
			{ID: "a/3", Integration: "a", Shard: "3"}, {ID: "a/4", Integration: "a", Shard: "4"}},
	}
	quiet := &plan.Effects{Items: []plan.Effect{{Kind: plan.EffectCreate, Since: plan.SinceBase}}}
	rs := &plan.Results{Results: []plan.Result{
		{Task: "a/1", Status: plan.Passed, Attempts: 2, Seconds: 1, Before: []plan.Attempt{{Status: plan.Failed}},
			Effects: quiet},
		{Task: "a/2", Status: plan.Failed, Class: plan.ClassBaseline, Attempts: 1, Seconds: 2,
			Baseline: &plan.Baseline{Seconds: 5}},
		{Task: "a/3", Status: plan.TimedOut, Attempts: 1, Seconds: 4},
		{Task: "a/4", Status: plan.NotRun},
	}}
	results := tally.Count{Passed: 1, OnBase: 1, Other: 1, Flaked: 1, Seconds: 12, Quiet: 1}
	decided := results
	decided.Shards = map[plan.Rung]int{plan.RungShards: 1}
	skips := map[string]tally.Count{
		"b": {Skip: map[plan.Rung]int{plan.RungSchema: 1}, Believed: 1},
		"c": {Skip: map[plan.Rung]int{plan.RungResult: 1}, Reused: 3},
	}
	for _, c := range []struct {
		name    string
		part    plan.Fraction
		resumed string
		want    map[string]tally.Count
	}{
		{"whole", plan.Fraction{}, "", map[string]tally.Count{"a": decided, "b": skips["b"], "c": skips["c"]}},
		{"first part", plan.Fraction{Part: 1, Of: 2}, "", map[string]tally.Count{"a": decided, "b": skips["b"],
			"c": skips["c"]}},
		{"second part", plan.Fraction{Part: 2, Of: 2}, "", map[string]tally.Count{"a": results}},
		{"resumed", plan.Fraction{Part: 2, Of: 2}, "a/2",
			map[string]tally.Count{"a": {Passed: 1, Other: 1, Flaked: 1, Seconds: 5, Quiet: 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rs.Part = c.part
			got := tally.CountRun(p, rs, func(task string) bool { return task == c.resumed })
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func open(t *testing.T) (tally.Store, string) {
	t.Helper()
	folder := t.TempDir()
	dir, err := state.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	return tally.NewStore(dir), folder
}

func TestDays(t *testing.T) {
	s, folder := open(t)
	one := map[string]tally.Count{"tf": {Run: map[plan.Rung]int{plan.RungSchema: 1}, Passed: 1, Seconds: 0.1}}
	for _, at := range []time.Time{noon.AddDate(0, 0, -40), noon.AddDate(0, 0, -1), noon, noon} {
		if err := s.Add(t.Context(), one, nil, at); err != nil {
			t.Fatal(err)
		}
	}
	broken := filepath.Join(folder, "tally", "2026-02-27.json")
	if err := os.WriteFile(broken, []byte(`{"version":"1","day":"2026-02-27","runs":-1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	days, ignored, err := s.Days(t.Context(), noon.AddDate(0, 0, -29), noon)
	if err != nil || len(ignored) != 1 || !strings.HasPrefix(ignored[0], "2026-02-27 is not counted: ") {
		t.Errorf("ignored %q, %v", ignored, err)
	}
	twice := map[string]tally.Count{"tf": {Run: map[plan.Rung]int{plan.RungSchema: 2}, Passed: 2, Seconds: 0.2}}
	want := []tally.Day{{Version: "1", Day: "2026-02-28", Runs: 1, Integrations: one},
		{Version: "1", Day: "2026-03-01", Runs: 2, Integrations: twice}}
	if !reflect.DeepEqual(days, want) {
		t.Errorf("got  %+v\nwant %+v", days, want)
	}
}

// A document stays bounded, and counts of integrations that do not fit are kept together.
func TestBounds(t *testing.T) {
	s, folder := open(t)
	many := map[string]tally.Count{strings.Repeat("x", 301): {Passed: 1}}
	for i := range 2500 {
		many[fmt.Sprintf("integration-%d", i)] = tally.Count{Passed: 1}
	}
	if err := s.Add(t.Context(), many, nil, noon); err != nil {
		t.Fatal(err)
	}
	days, ignored, err := s.Days(t.Context(), noon, noon)
	if err != nil || len(ignored) > 0 || len(days) != 1 {
		t.Fatalf("got %d days, %q, %v", len(days), ignored, err)
	}
	passed := 0
	for _, c := range days[0].Integrations {
		passed += c.Passed
	}
	if n := len(days[0].Integrations); n > 2001 || passed != len(many) {
		t.Errorf("%d integrations with %d tasks, want at most 2001 with %d", n, passed, len(many))
	}
	if days[0].Integrations[""].Passed < 500 {
		t.Errorf("the others have %d tasks", days[0].Integrations[""].Passed)
	}
	if info, err := os.Stat(filepath.Join(folder, "tally", "2026-03-01.json")); err != nil || info.Size() > 1<<20 {
		t.Errorf("%v %v", info, err)
	}
}

// Several writers at the same time lose nothing.
func TestWriters(t *testing.T) {
	s, _ := open(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5 {
				if err := s.Add(t.Context(), map[string]tally.Count{"tf": {Passed: 1}}, nil, noon); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	days, _, err := s.Days(t.Context(), noon, noon)
	if err != nil || len(days) != 1 || days[0].Runs != 40 || days[0].Integrations["tf"].Passed != 40 {
		t.Errorf("got %+v, %v", days, err)
	}
}

// The order in which counts are added does not matter.
func TestPlus(t *testing.T) {
	a := tally.Count{Run: map[plan.Rung]int{plan.RungState: 1}, Skip: map[plan.Rung]int{plan.RungSchema: 2}, Seconds: 1,
		Needless: map[tally.Cause]float64{tally.ByShards: 1}}
	b := tally.Count{Skip: map[plan.Rung]int{plan.RungSchema: 1, plan.RungFields: 1}, Believed: 1,
		Needless: map[tally.Cause]float64{tally.ByShards: 2, tally.ByQueries: 3}}
	if x, y := a.Plus(b), b.Plus(a); !reflect.DeepEqual(x, y) || x.Decided() != 5 || x.Needless[tally.ByShards] != 3 {
		t.Errorf("got %+v and %+v", x, y)
	}
	if len(a.Run) != 1 || len(a.Needless) != 1 || a.Needless[tally.ByShards] != 1 {
		t.Errorf("the first count was changed to %+v", a)
	}
}

// Later versions read this document, so its format must stay.
func TestDocument(t *testing.T) {
	raw, err := json.Marshal(tally.Day{Version: "1", Day: "2026-03-01", Runs: 1, Integrations: map[string]tally.Count{
		"tf": {Run: map[plan.Rung]int{plan.RungSchema: 1}, Passed: 1, Seconds: 1.5,
			Needless: map[tally.Cause]float64{tally.ByQueries: 1.5}},
	}})
	const want = `{"version":"1","day":"2026-03-01","runs":1,"integrations":{"tf":{"run":{"schema":1},"passed":1,"seconds":1.5,"needless":{"queries":1.5}}}}`
	if err != nil || string(raw) != want {
		t.Errorf("got  %s %v\nwant %s", raw, err, want)
	}
}

// A day keeps the last forecasts of runs that ended. Others are not kept.
func TestForecasts(t *testing.T) {
	s, _ := open(t)
	one := map[string]tally.Count{"tf": {Passed: 1}}
	given := []*plan.Forecast{nil, {P50: 1, P90: 2}, {P50: 3, P90: 2, Took: 1}, {P50: 1, P90: 2, Took: 1e12}}
	for i := range tally.MaxForecasts + 5 {
		given = append(given, &plan.Forecast{P50: float64(i + 1), P90: 200, Took: 7})
	}
	for _, f := range given {
		if err := s.Add(t.Context(), one, f, noon); err != nil {
			t.Fatal(err)
		}
	}
	days, _, err := s.Days(t.Context(), noon, noon)
	if err != nil || len(days) != 1 || days[0].Runs != len(given) {
		t.Fatalf("got %+v, %v", days, err)
	}
	got := days[0].Forecasts
	if len(got) != tally.MaxForecasts || got[0].P50 != 6 || got[len(got)-1].P50 != tally.MaxForecasts+5 {
		t.Errorf("got %d forecasts, the first of %v s and the last of %v s", len(got), got[0].P50, got[len(got)-1].P50)
	}
}
