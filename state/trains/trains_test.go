package trains_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/trains"
)

const name = "group/project!7"

func open(t *testing.T) (trains.Store, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := state.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return trains.NewStore(s), dir
}

// planned returns a plan with tasks of the integration "a", by their shards.
func planned(digest string, shards ...string) *plan.Plan {
	p := &plan.Plan{Digest: digest, Base: plan.Side{Commit: "b"},
		MergeRequest: &plan.MergeRequest{Name: name, Commit: "c"}}
	for _, s := range shards {
		p.Tasks = append(p.Tasks, plan.Task{ID: "a/" + s, Integration: "a", Shard: s, Command: "run", Inputs: digest + s})
	}
	return p
}

func ended(status plan.Status, shards ...string) []plan.Result {
	var out []plan.Result
	for _, s := range shards {
		out = append(out, plan.Result{Task: "a/" + s, Status: status})
	}
	return out
}

// brief returns what is remembered as one text.
func brief(p *trains.Pipeline) string {
	if p == nil {
		return "nothing"
	}
	out := p.Commit + " on " + p.Base + ":"
	for _, t := range p.Passed {
		out += fmt.Sprintf(" %s/%s=%s(%s)", t.Integration, t.Shard, t.Inputs, t.Command)
	}
	return out
}

func TestAdd(t *testing.T) {
	reused := planned("q", "x")
	reused.Integrations = []plan.Decision{{Name: "z",
		Evidence: plan.Evidence{Reused: 1, Passed: []plan.Earlier{{Shard: "s", Inputs: "i"}}}}}
	reused.MergeRequest.Reused = []plan.Reused{{Integration: "z", Shard: "t", Inputs: "j"}}
	inTrain := planned("t", "x")
	inTrain.MergeRequest.InTrain = true
	outside := planned("o", "x")
	outside.MergeRequest = nil
	other := planned("r", "x")
	other.MergeRequest.Name = "group/project!8"
	numbered := func(digest string, number int64) *plan.Plan {
		p := planned(digest, "x")
		p.MergeRequest.Pipeline = number
		return p
	}
	store, _ := open(t)
	if got := brief(store.Last(t.Context(), name)); got != "nothing" {
		t.Errorf("at first: got %s", got)
	}
	for _, step := range []struct {
		name    string
		p       *plan.Plan
		results []plan.Result
		want    string
	}{
		{"one part", planned("p", "x", "y"), ended(plan.Passed, "x"), "c on b: a/x=px(run)"},
		{"another part", planned("p", "x", "y"), ended(plan.Passed, "y"), "c on b: a/x=px(run) a/y=py(run)"},
		{"a task that failed when it ran again", planned("p", "x", "y"), ended(plan.Failed, "x"), "c on b: a/y=py(run)"},
		{"a task of no plan", planned("p", "x"), ended(plan.Passed, "none"), "c on b: a/y=py(run)"},
		{"a merge train", inTrain, ended(plan.Passed, "x"), "c on b: a/y=py(run)"},
		{"no merge request", outside, ended(plan.Passed, "x"), "c on b: a/y=py(run)"},
		{"another merge request", other, ended(plan.Passed, "x"), "c on b: a/y=py(run)"},
		{"a later pipeline", numbered("n", 9), ended(plan.Passed, "x"), "c on b: a/x=nx(run)"},
		{"an earlier pipeline that ends late", numbered("e", 8), ended(plan.Passed, "x"), "c on b: a/x=nx(run)"},
		{"the next pipeline", reused, ended(plan.Passed, "x"), "c on b: a/x=qx(run) z/s=i() z/t=j()"},
	} {
		if err := store.Add(t.Context(), step.p, step.results); err != nil {
			t.Fatal(err)
		}
		if got := brief(store.Last(t.Context(), name)); got != step.want {
			t.Errorf("%s: got %s, want %s", step.name, got, step.want)
		}
	}
}

// A document is bounded, and one that somebody damaged or put in another place is as good as
// none.
func TestDocument(t *testing.T) {
	store, dir := open(t)
	var shards []string
	for i := range 10001 {
		shards = append(shards, fmt.Sprintf("%05d", i))
	}
	if err := store.Add(t.Context(), planned("p", shards...), ended(plan.Passed, shards...)); err != nil {
		t.Fatal(err)
	}
	if got := len(store.Last(t.Context(), name).Passed); got != 10000 {
		t.Errorf("%d tasks are remembered, want 10000", got)
	}
	long := strings.Repeat("x", 1001)
	if err := store.Add(t.Context(), planned("q", "x", long), ended(plan.Passed, "x", long)); err != nil {
		t.Fatal(err)
	}
	want := &trains.Pipeline{Commit: "c", Base: "b",
		Passed: []trains.Passed{{Integration: "a", Shard: "x", Command: "run", Inputs: "qx"}}}
	if got := store.Last(t.Context(), name); !reflect.DeepEqual(got, want) {
		t.Errorf("got %s, want %s", brief(got), brief(want))
	}
	files, err := filepath.Glob(filepath.Join(dir, "trains", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("got files %v, %v", files, err)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		string(raw[:len(raw)/2]), strings.Replace(string(raw), name, "group/project!8", 1),
		strings.Replace(string(raw), `"inputs":"qx"`, `"inputs":""`, 1),
		strings.Replace(string(raw), `"integration":"a"`, `"integration":"`+long+`"`, 1),
		strings.Replace(string(raw), `"version":"1"`, `"version":"2"`, 1),
	} {
		if err := os.WriteFile(files[0], []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := brief(store.Last(t.Context(), name)); got != "nothing" {
			t.Errorf("%.60s counts: %s", bad, got)
		}
	}
}
