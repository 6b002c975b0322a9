package planner_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/trains"
)

// A trainLaw is a random world and the changes of merge requests to it.
type trainLaw struct {
	*testing.T
	chooser
	base    *side
	changes []func(*side)
	queries map[string]string // by integration; without one it sees everything
}

const trainSettings = exec + `integrations:
  asked: {queries: [asked.graphql]}
  fanned: {queries: [fanned.graphql], shards: {by: ['bs[*].name'], arg: --name, fan_out: true}}
  ordered: {queries: [ordered.graphql], list_order: significant}
  sharded: {queries: [sharded.graphql], shards: {by: ['as[*].name'], arg: --name}}
  whole: {}
`

func newTrainLaw(t *testing.T, seed uint64) *trainLaw {
	t.Helper()
	c := chooser{rand.New(rand.NewPCG(seed, 69))} //nolint:gosec // repeatable
	l := &trainLaw{T: t, chooser: c, base: c.world(), queries: map[string]string{
		"asked": c.query(), "ordered": c.query(), "sharded": "{ as { name b { name } bs { name } } }",
		"fanned": "{ bs { name a { name } } }",
	}}
	for _, name := range []string{"asked", "fanned", "ordered", "sharded", "whole"} {
		def := definition(name, object{"cmd": name})
		def["schemas"] = list{"/a-1.yml", "/b-1.yml", "/c-1.yml"}
		l.base.data["/"+name+".yml"] = def
	}
	for i := range 2 + c.IntN(3) {
		l.changes = append(l.changes, func(*side) {})
		l.push(i)
	}
	return l
}

// push adds a random commit to a merge request.
func (l *trainLaw) push(i int) {
	before, seed, times := l.changes[i], l.Uint64(), 1+l.IntN(2)
	l.changes[i] = func(s *side) {
		before(s)
		same := chooser{rand.New(rand.NewPCG(seed, 0))} //nolint:gosec // a change is the same wherever it is made
		for range times {
			same.change(s)
		}
	}
}

// with returns the world with the changes of some merge requests.
func (l *trainLaw) with(requests ...int) *side {
	out := copyOf(l.base)
	for _, i := range requests {
		l.changes[i](out)
	}
	return out
}

// sides are base and head of a pipeline.
type sides struct{ base, head *side }

// input returns the input of a plan for the pipeline of a merge request.
func (l *trainLaw) input(s sides, mr *plan.MergeRequest) planner.Input {
	l.Helper()
	in := input(l.T, s.base, s.head, trainSettings)
	in.ReadQuery = func(path string) ([]byte, error) { return []byte(l.queries[path[:len(path)-len(".graphql")]]), nil }
	in.MergeRequest, in.Results = mr, results{}
	return in
}

// sees returns what a task sees of a side, worked out without the planner.
func (l *trainLaw) sees(s *side, integration, shard string) any {
	l.Helper()
	query, ok := l.queries[integration]
	if !ok {
		return []object{s.data, s.resources}
	}
	view := lawProgram{ordered: integration == "ordered"}.view(l.T, ask(l.T, s.bundle(l.T, nil), query).answer)
	if shard == "" {
		return view
	}
	var answer map[string][]object
	if err := json.Unmarshal([]byte(view), &answer); err != nil {
		l.Fatal(err)
	}
	var out []object
	for _, o := range slices.Concat(answer["as"], answer["bs"]) {
		if o["name"] == shard {
			out = append(out, o)
		}
	}
	return out
}

// unit is a task with its inputs.
type unit struct{ integration, shard, inputs string }

// units returns the tasks that a plan runs, and those that passed before.
func units(p *plan.Plan) (run, passed map[unit]bool) {
	run, passed = map[unit]bool{}, map[unit]bool{}
	for _, t := range p.Tasks {
		run[unit{t.Integration, t.Label(), t.Inputs}] = true
	}
	for _, d := range p.Integrations {
		for _, e := range d.Evidence.Passed {
			passed[unit{d.Name, e.Shard, e.Inputs}] = true
		}
	}
	return run, passed
}

// broken returns which rule the plan of a merge train breaks, "" if it breaks none. Own has the
// bundles of the own pipeline of the merge request, ran the tasks that passed there.
func (l *trainLaw) broken(in planner.Input, now, own sides, ran map[unit]bool, p *plan.Plan) string {
	l.Helper()
	scratch := in
	scratch.Own, scratch.MergeRequest, scratch.Results = nil, nil, planner.NoResults{}
	want := made(l.T, scratch)
	all, _ := units(want)
	run, passed := units(p)
	for _, some := range []map[unit]bool{run, passed} {
		for u := range some {
			if !all[u] {
				return fmt.Sprintf("the combined bundle has no task %v", u)
			}
		}
	}
	if len(run)+len(passed) != len(all) {
		return fmt.Sprintf("%d tasks run and %d passed, but the combined bundle has %d", len(run), len(passed), len(all))
	}
	for i, d := range p.Integrations {
		if d.Evidence.Reused == 0 && !reflect.DeepEqual(d, want.Integrations[i]) {
			return fmt.Sprintf("%s is decided otherwise than for the combined bundle", d.Name)
		}
	}
	if gaps := verify(l.T, in, p); len(gaps) > 0 {
		return fmt.Sprintf("the plan is refuted: %v", gaps)
	}
	hold := 0
	for u := range ran {
		if !passed[u] {
			continue
		}
		hold++
		for _, s := range [][2]*side{{own.base, now.base}, {own.head, now.head}} {
			if was, is := l.sees(s[0], u.integration, u.shard), l.sees(s[1], u.integration, u.shard); !reflect.DeepEqual(was,
				is) {
				return fmt.Sprintf("%s %s holds, but it saw %v and now %v", u.integration, u.shard, was, is)
			}
		}
	}
	train := p.MergeRequest.Train
	if train.Hold != hold || train.Results != len(ran) || len(train.Moved) != len(ran)-hold {
		return fmt.Sprintf("%d of %d results hold, but the plan says %s, and names %d", hold, len(ran), train,
			len(train.Moved))
	}
	return ""
}

// TestTrainLaw holds for random trains of merge requests, which may drop out or get other commits:
// the plan of a train's pipeline is that of the combined bundle, without what passed with the same
// inputs; a result of the own pipeline holds only if its task sees the same there; and what is said
// about the results is true and decides nothing. A planner that does not see the change of another
// merge request is found.
func TestTrainLaw(t *testing.T) {
	held, moved, mutants, edits := 0, 0, 0, 0
	reasons := map[plan.Code]int{}
	store := openTrains(t)
	for seed := range uint64(40) {
		l := newTrainLaw(t, seed)
		passed := results{}
		var own []sides
		var ran []map[unit]bool
		for i := range l.changes {
			own = append(own, sides{l.with(), l.with(i)})
			mr := &plan.MergeRequest{Name: fmt.Sprint(seed, "!", i), Commit: "c"}
			ran = append(ran, l.runs(store, l.input(own[i], mr), passed))
		}
		var ahead []int
		last := len(l.changes)
		if l.IntN(3) == 0 { // merged since the own pipelines of the others
			last--
			ahead = []int{last}
		}
		for i := range last {
			mr := &plan.MergeRequest{Name: fmt.Sprint(seed, "!", i), Commit: "c", InTrain: true}
			if l.IntN(4) == 0 { // another push, about which no pipeline ended
				l.push(i)
				mr.Commit = "d"
			}
			now := sides{l.with(ahead...), l.with(append(slices.Clone(ahead), i)...)}
			in := l.input(now, mr)
			in.Results, in.Own = passed, store.Last(t.Context(), mr.Name)
			p := made(t, in)
			if why := l.broken(in, now, own[i], ran[i], p); why != "" {
				t.Fatalf("seed %d, merge request %d: %s", seed, i, why)
			}
			l.onlyTells(in, p)
			edits += l.refutesEdits(in, p)
			if train := p.MergeRequest.Train; len(ahead) == 0 && mr.Commit == "c" && train.Hold != train.Results {
				t.Fatalf("seed %d: nothing is ahead, and %s", seed, train)
			}
			again := in // once more, when the tasks of the train have passed: what they passed with are other inputs
			again.Results = passing(p)
			maps.Copy(again.Results.(results), passed)
			if why := l.broken(again, now, own[i], ran[i], made(t, again)); why != "" {
				t.Fatalf("seed %d, merge request %d, once more: %s", seed, i, why)
			}
			held += p.MergeRequest.Train.Hold
			for _, m := range p.MergeRequest.Train.Moved {
				moved++
				reasons[m.Code]++
			}
			for skip := range ahead {
				others := slices.Delete(slices.Clone(ahead), skip, skip+1)
				blind := l.input(sides{l.with(others...), l.with(append(others, i)...)}, mr)
				blind.Results, blind.Own = passed, in.Own
				bad := clone(p)
				forgot := made(t, blind)
				bad.Integrations, bad.Tasks, bad.MergeRequest = forgot.Integrations, forgot.Tasks, forgot.MergeRequest
				if sameUnits(bad, p) {
					continue
				}
				mutants++
				if l.broken(in, now, own[i], ran[i], bad) == "" {
					t.Fatalf("seed %d, merge request %d: a plan without the change of merge request %d is taken for right", seed, i,
						ahead[skip])
				}
			}
			if l.IntN(5) > 0 { // or it drops out of the train
				ahead = append(ahead, i)
			}
		}
	}
	t.Logf("%d results hold, %d do not: %v; %d mutants, %d edits", held, moved, reasons, mutants, edits)
	if held < 50 || moved < 50 || mutants < 50 || edits < 200 || reasons[plan.CodeOthersChanged] == 0 ||
		reasons[plan.CodeNotNeeded] == 0 || reasons[plan.CodeOwnCommits] == 0 {
		t.Error("the generator is one-sided")
	}
}

// runs makes the plan of the own pipeline of a merge request, lets most of its tasks pass, and
// remembers that. It returns the tasks that passed.
func (l *trainLaw) runs(store trains.Store, in planner.Input, passed results) map[unit]bool {
	l.Helper()
	p, out := made(l.T, in), map[unit]bool{}
	var ended []plan.Result
	for _, task := range p.Tasks {
		r := plan.Result{Task: task.ID, Status: plan.Failed}
		if l.IntN(8) > 0 {
			r.Status = plan.Passed
			passed[task.Command+task.Inputs] = time.Minute
			out[unit{task.Integration, task.Label(), task.Inputs}] = true
		}
		ended = append(ended, r)
	}
	if err := store.Add(l.Context(), p, ended); err != nil {
		l.Fatal(err)
	}
	return out
}

// onlyTells holds that what is remembered of the own pipeline decides nothing.
func (l *trainLaw) onlyTells(in planner.Input, p *plan.Plan) {
	l.Helper()
	in.Own = nil
	without, with := made(l.T, in), clone(p)
	with.MergeRequest = without.MergeRequest
	if err := with.Seal(); err != nil {
		l.Fatal(err)
	}
	if text(l.T, with) != text(l.T, without) {
		l.Errorf("what is remembered of the own pipeline changes the plan:\n%s\n%s", text(l.T, with), text(l.T, without))
	}
}

// sameUnits reports whether two plans run and leave out the same tasks with the same inputs.
func sameUnits(a, b *plan.Plan) bool {
	runA, passedA := units(a)
	runB, passedB := units(b)
	return reflect.DeepEqual(runA, runB) && reflect.DeepEqual(passedA, passedB)
}

func openTrains(t *testing.T) trains.Store {
	t.Helper()
	in, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return trains.NewStore(in)
}
