package planner_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/planner/selftest"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// selftested checks all laws on an input and returns the results by law.
func selftested(t *testing.T, in planner.Input, o selftest.Replacements) map[string]selftest.Result {
	t.Helper()
	all, err := selftest.Check(t.Context(), in, o)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]selftest.Result{}
	for _, r := range all {
		out[r.Law] = r
	}
	return out
}

// randomInput returns two random bundles and settings.
func randomInput(t *testing.T, seed uint64) planner.Input {
	r := rand.New(rand.NewPCG(seed, 17)) //nolint:gosec // repeatable
	all, kinds := mutations(), programs()
	base, head := world(), world()
	clusters(override("two", subshards(2)))(base)
	clusters(override("two", subshards(2)))(head)
	for range r.IntN(3) {
		f, again := all[r.IntN(len(all))], r.Uint64()
		for _, s := range []*side{base, head} {
			f(rand.New(rand.NewPCG(again, 0)), s) //nolint:gosec // repeatable
		}
	}
	for range 1 + r.IntN(4) {
		all[r.IntN(len(all))](r, head)
	}
	return input(t, base, head, kinds[r.IntN(len(kinds))].settings)
}

// All laws hold for random bundles, and no law is idle.
func TestSelftestLaws(t *testing.T) {
	seeds := uint64(150)
	if testing.Short() {
		seeds = 40
	}
	held := map[string]int{}
	for seed := range seeds {
		for law, r := range selftested(t, randomInput(t, seed), selftest.Replacements{}) {
			if r.Status == selftest.Broken {
				t.Errorf("seed %d: %s: %+v", seed, law, *r.Counterexample)
			}
			if r.Status == selftest.Held {
				held[law]++
			}
		}
	}
	t.Logf("held: %v", held)
	for _, l := range selftest.Laws() {
		if held[l.Name] == 0 {
			t.Errorf("law %s was never applicable", l.Name)
		}
	}
}

// The keys of a JSON field have an order that a query prints: another one is a change, and breaks no law.
func TestSelftestOfJSONFields(t *testing.T) {
	base, head := world(), world()
	for _, s := range []*side{base, head} {
		for _, kind := range s.types {
			if kind["name"] == "Group_v1" {
				kind["fields"] = append(kind["fields"].([]object), field("labels", "json", nil))
			}
		}
		s.at("/groups/dev.yml")["labels"] = object{"a": 1, "b": object{"c": 1, "d": 2}}
	}
	head.at("/groups/dev.yml")["account"] = "other" // so that answers are compared
	if r := selftested(t, input(t, base, head, asks("", "labels.graphql")),
		selftest.Replacements{})["order"]; r.Status != selftest.Held {
		t.Errorf("order: %+v, %+v", r, r.Counterexample)
	}
}

// A planner that breaks a promise is found by the law that says so, with a change that shows
// it and has no file too many.
func TestSelftestMutants(t *testing.T) {
	for _, m := range selftestMutants() {
		t.Run(m.law+"/"+m.name, func(t *testing.T) {
			for seed := range uint64(400) {
				in := randomInput(t, seed)
				if m.settings != "" {
					in.Settings = readSettings(t, m.settings)
				}
				r := selftested(t, in, selftest.Replacements{Make: m.make, Partition: m.partition})[m.law]
				if r.Status != selftest.Broken {
					continue
				}
				if n := len(r.Counterexample.Changes); n > m.most {
					continue // a change that cannot be made smaller; another seed shows it with fewer files
				}
				return
			}
			t.Errorf("no change shows that %q is broken, with at most %d files", m.law, m.most)
		})
	}
	for _, l := range selftest.Laws() {
		if !slices.ContainsFunc(selftestMutants(), func(m selftestMutant) bool { return m.law == l.Name }) {
			t.Errorf("law %s has no mutant", l.Name)
		}
	}
}

// A selftestMutant is a broken planner.
type selftestMutant struct {
	law, name string
	make      func(context.Context, planner.Input) (*plan.Plan, error)
	partition func([]plan.Task, int) []plan.Part
	settings  string
	most      int // changed files in the smallest counterexample
}

func selftestMutants() []selftestMutant {
	datafiles := func(in planner.Input) (base, head []*bundle.File) { return in.Base.Datafiles(), in.Head.Datafiles() }
	first := func(files []*bundle.File) bundle.Path { return files[0].Path }
	return []selftestMutant{
		{law: "same", name: "runs everything when nothing changed", make: when(func(in planner.Input) bool {
			return in.Base.SHA256() == in.Head.SHA256()
		}, runAll)},
		{law: "swap", name: "takes no notice of removed files", most: 1, make: when(func(in planner.Input) bool {
			base, head := datafiles(in)
			return len(head) < len(base)
		}, skipAll)},
		{law: "order", name: "looks at the first file", make: when(func(in planner.Input) bool {
			base, head := datafiles(in)
			return first(base) != first(head)
		}, runAll)},
		{law: "order", name: "compares the bytes of files", make: when(func(in planner.Input) bool {
			before, _ := in.Base.Datafile("/others/else.yml")
			after, _ := in.Head.Datafile("/others/else.yml")
			return before != nil && after != nil && string(before.Raw()) != string(after.Raw())
		}, runAll)},
		{law: "order", name: "trusts a change of an unordered bundle", most: 1, make: when(func(in planner.Input) bool {
			_, head := datafiles(in)
			return !slices.IsSortedFunc(head, func(a, b *bundle.File) int {
				return strings.Compare(string(a.Path), string(b.Path))
			})
		}, skipAll)},
		{law: "proof", name: "leaves out all that runs", most: 1, make: when(func(planner.Input) bool { return true },
			func(p *plan.Plan) {
				skipAll(p)
				p.Tasks = []plan.Task{}
				for i := range p.Integrations {
					p.Integrations[i].Tasks = []string{}
				}
			})},
		{law: "lists", name: "compares lists by their order", settings: asks("", "roles.graphql"),
			make: func(ctx context.Context, in planner.Input) (*plan.Plan, error) {
				in.Settings, _ = settings.Read("prcheck.yaml", []byte(asks(", list_order: significant", "roles.graphql")))
				return planner.Make(ctx, in)
			}},
		{law: "whole", name: "loses a decision", make: when(anyInput, func(p *plan.Plan) {
			p.Integrations = p.Integrations[1:]
		})},
		{law: "whole", name: "loses a task", most: 1, make: when(anyInput, func(p *plan.Plan) {
			p.Tasks = p.Tasks[:max(0, len(p.Tasks)-1)]
		})},
		{law: "whole", name: "runs without a task", make: when(anyInput, func(p *plan.Plan) {
			p.Integrations[0].Decision, p.Integrations[0].Tasks = plan.Run, nil
		})},
		{law: "shards", name: "loses a shard of a full run", make: when(isFull, func(p *plan.Plan) {
			p.Tasks = p.Tasks[:max(0, len(p.Tasks)-1)]
		}), most: 2},
		{law: "shards", name: "runs a shard twice", make: when(isFull, func(p *plan.Plan) {
			p.Tasks = append(p.Tasks, p.Tasks[len(p.Tasks)-1])
		}), most: 0},
		{law: "parts", name: "loses a task", most: 1, partition: func(tasks []plan.Task, n int) []plan.Part {
			return plan.Partition(tasks[1:], n)
		}},
		{law: "parts", name: "runs a task in two parts", most: 1, partition: func(tasks []plan.Task, n int) []plan.Part {
			return append(plan.Partition(tasks, n), plan.Part{Tasks: tasks[:1]})
		}},
		{law: "sources", name: "takes a file that is not shared for a change", make: when(func(in planner.Input) bool {
			f, ok := in.Base.Datafile("/others/else.yml")
			return ok && !in.Head.HasDatafile(f)
		}, runAll), most: 0},
		{law: "rename", name: "takes a rename for nothing", make: when(func(in planner.Input) bool {
			base, head := datafiles(in)
			return len(base) == len(head)
		}, skipAll)},
		{law: "rename", name: "runs everything for a rename", make: when(func(in planner.Input) bool {
			base, head := datafiles(in)
			return len(base) == len(head) && !slices.EqualFunc(base, head, func(a, b *bundle.File) bool {
				return a.Path == b.Path
			})
		}, runAll)},
		{law: "narrow", name: "runs what may read little", make: when(func(in planner.Input) bool {
			all, _ := integration.List(in.Base, nil)
			return slices.ContainsFunc(all, func(d integration.Definition) bool { return len(d.Schemas) < 2 })
		}, runAll), most: 0},
		{law: "more", name: "skips everything for two changes", most: 2, make: when(func(in planner.Input) bool {
			return len(bundle.Compare(in.Base, in.Head).Datafiles) > 1
		}, skipAll)},
	}
}

func anyInput(planner.Input) bool { return true }

// isFull tells a plan in which everything runs in full.
func isFull(in planner.Input) bool { return in.Edits.Of != nil }

// when returns a planner that changes its plan under a condition.
func when(is func(planner.Input) bool, then func(*plan.Plan)) func(context.Context, planner.Input) (*plan.Plan, error) {
	return func(ctx context.Context, in planner.Input) (*plan.Plan, error) {
		p, err := planner.Make(ctx, in)
		if err == nil && is(in) {
			then(p)
		}
		return p, err
	}
}

func runAll(p *plan.Plan) { decideAll(p, plan.Run) }

func skipAll(p *plan.Plan) { decideAll(p, plan.Skip) }

func decideAll(p *plan.Plan, a plan.Action) {
	for i := range p.Integrations {
		p.Integrations[i].Decision, p.Integrations[i].Rung = a, plan.RungSchema
	}
}

func readSettings(t *testing.T, text string) *settings.Settings {
	t.Helper()
	s, err := settings.Read("prcheck.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
