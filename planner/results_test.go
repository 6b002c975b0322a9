package planner_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/trace"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// results are what tasks passed with, and how long ago.
type results map[string]time.Duration

func (r results) Passed(_ context.Context, t plan.Task, within time.Duration) (time.Time, bool) {
	ago, ok := r[t.Command+t.Inputs]
	return noon.Add(-ago), ok && ago <= within
}

func (r results) LastEffects(context.Context, plan.Task, time.Duration, string) (*plan.Effects, time.Time) {
	return nil, time.Time{}
}

func (r results) Effects(context.Context, plan.Task, time.Time, string) (*plan.Effects, bool) {
	return nil, false
}

// passing remembers that all tasks of a plan passed half an hour ago, but for those of
// these ids.
func passing(p *plan.Plan, but ...string) results {
	r := results{}
	for _, t := range p.Tasks {
		if !slices.Contains(but, t.ID) {
			r[t.Command+t.Inputs] = 30 * time.Minute
		}
	}
	return r
}

func TestReuse(t *testing.T) {
	const again = exec + "integrations: {it: {}}\n"
	resize := func(role string) func(*side) {
		return func(s *side) { s.at("/groups/" + role + ".yml")["size"] = 7 }
	}
	email := func(s *side) { s.at("/users/bob.yml")["email"] = "new" }
	nothing := func(*side) {}
	fanned := strings.Replace(byAccount(", fan_out: true"), "queries: [roles.graphql]",
		"queries: [roles.graphql, names.graphql]", 1)
	rename := func(s *side) { s.at("/users/bob.yml")["name"] = "rob" }
	tests := []struct {
		name, settings string
		change, moved  func(*side) // what head changes; what base and head got since
		red            []string    // tasks that did not pass
		want           string
		code           plan.Code
		words          string // in the reason
	}{
		{"once more", asks("", "roles.graphql"), resize("dev"), nothing, nil, "skip result", plan.CodePassedBefore,
			"differs between base and head; its task passed with the same inputs, 2026-11-21 11:30 UTC"},
		{"it had failed", asks("", "roles.graphql"), resize("dev"), nothing, []string{"it"}, "run state it",
			plan.CodeStateDiffers, ""},
		{"what it does not ask for moved", asks("", "roles.graphql"), resize("dev"), email, nil, "skip result",
			plan.CodePassedBefore, ""},
		{"what it asks for moved", asks("", "roles.graphql"), resize("dev"), resize("ops"), nil, "run state it",
			plan.CodeStateDiffers, ""},
		{"a JSON schema moved", asks("", "roles.graphql"), resize("dev"), func(s *side) {
			s.schemas["/user-1.yml"] = object{"version": 2}
		}, nil, "run state it", plan.CodeStateDiffers, ""},
		{"a type moved", asks("", "roles.graphql"), resize("dev"), func(s *side) {
			s.types[1]["fields"] = append(s.types[1]["fields"].([]object), field("more", "string", nil))
		}, nil, "run state it", plan.CodeStateDiffers, ""},
		{"its schemas moved", asks("", "roles.graphql"), resize("dev"), func(s *side) {
			s.at("/it.yml")["schemas"] = list{"/role-1.yml", "/group-1.yml"}
		}, nil, "run state it", plan.CodeStateDiffers, ""},
		{"its command moved", asks("", "roles.graphql"), resize("dev"), func(s *side) { s.check()["cmd"] = "it --more" }, nil,
			"run state it", plan.CodeStateDiffers, ""},
		{"its image moved", strings.Replace(asks("", "roles.graphql"), "argv: [run,",
			"image_ref: latest, argv: [run, '{image_ref}',", 1), resize("dev"), func(s *side) { s.check()["imageRef"] = "v2" },
			nil, "run state it", plan.CodeStateDiffers, ""},
		{"the definition of another moved", asks("", "roles.graphql"), resize("dev"), func(s *side) {
			s.at("/two.yml")["description"] = "y"
		}, nil, "skip result", plan.CodePassedBefore, ""},
		{"a file of its paths rule moved",
			asks("", "roles.graphql") + "paths: {select: [{when: ['resources/lone.txt'], run: [it]}]}\n", resize("dev"),
			func(s *side) { s.resources["/lone.txt"] = resource("/lone.txt", "other", nil) }, nil, "run state it",
			plan.CodeStateDiffers, ""},
		{"a datafile of its paths rule moved",
			asks("", "roles.graphql") + "paths: {select: [{when: ['data/others/*'], run: [it]}]}\n", resize("dev"),
			func(s *side) { s.at("/others/else.yml")["name"] = "x" }, nil, "run state it", plan.CodeStateDiffers, ""},
		{"a file of another's paths rule moved",
			asks("", "roles.graphql") + "paths: {select: [{when: ['data/others/*'], run: [two]}]}\n", resize("dev"),
			func(s *side) { s.at("/others/else.yml")["name"] = "x" }, nil, "skip result", plan.CodePassedBefore, ""},
		{"a resource that it asks for moved", asks("", "templates.graphql"), func(s *side) {
			s.at("/groups/dev.yml")["name"] = "x"
		},
			func(s *side) {
				s.resources["/t.txt"] = resource("/t.txt", "other", nil)
			}, nil, "run state it", plan.CodeStateDiffers, ""},
		{"an answer with an error", asks("", "names.graphql"), func(s *side) {
			rename(s)
			delete(s.at("/users/ana.yml"), "name")
		}, email, nil, "run state it", plan.CodeStateUnproven, ""},

		{"another shard moved", byAccount(""), resize("dev"), resize("ops"), nil, "skip result", plan.CodePassedBefore,
			`differs for shard "one" only; its task passed`},
		{"what all shards see moved", byAccount(""), resize("dev"), func(s *side) {
			s.data["/roles/none.yml"] = object{"$schema": "/role-1.yml", "name": "none"}
		}, nil, "shards shards it/one", plan.CodeShardsDiffer, ""},
		{"what is around the shard moved", byAccount(""), resize("dev"), func(s *side) {
			s.at("/roles/dev.yml")["tags"] = list{"z"}
		}, nil, "shards shards it/one", plan.CodeShardsDiffer, ""},
		{"one of two shards failed", byAccount(""), func(s *side) { resize("dev")(s); resize("ops")(s) }, nothing,
			[]string{"it/two"}, "shards shards it/two", plan.CodeShardsDiffer,
			"; 1 of its 2 tasks passed with the same inputs and do not run again"},
		{"with an order every shard sees all",
			asks(`, list_order: significant, shards: {by: ["roles[*].groups[*].account"], arg: --account}`, "roles.graphql"),
			resize("dev"), resize("ops"), nil, "shards shards it/one", plan.CodeShardsDiffer, ""},
		{"a full run in shards", fanned, rename, nothing, []string{"it-wrapper/two"}, "run shards it-wrapper/two",
			plan.CodeNotByShard, "1 of its 2 tasks passed"},
		{"all of a full run in shards", fanned, rename, nothing, nil, "skip result", plan.CodePassedBefore,
			"each of its 2 tasks passed with the same inputs, the first 2026-11-21 11:30 UTC"},

		{"nothing tells its state", again, email, nothing, nil, "skip result", plan.CodePassedBefore,
			"it may read /users/bob.yml, which changed, and has no queries to look closer; its task passed"},
		{"nothing tells its state, and anything moved", again, email, func(s *side) {
			s.at("/others/else.yml")["name"] = "x"
		}, nil, "run schema it", plan.CodeAllowedFileChanged, ""},
		{"its definition changed", again, func(s *side) { s.check()["cmd"] = "x" }, nothing, nil, "skip result",
			plan.CodePassedBefore, "it runs as base defines it; its task passed"},
		{"it always runs", again, email, nothing, nil, "run definition it", plan.CodeAlwaysRun, ""},
		{"a value that no plan knows", strings.Replace(again, "argv: [run,", "argv: [run, '{env.IID}',", 1), email, nothing,
			nil, "run schema it", plan.CodeAllowedFileChanged, ""},
		{"it never counts", exec + "integrations: {it: {reuse: none}}\n", email, nothing, nil, "run schema it",
			plan.CodeAllowedFileChanged, ""},
		{"it counts for longer", exec + "integrations: {it: {reuse: 30m}}\n", email, nothing, nil, "skip result",
			plan.CodePassedBefore, ""},
		{"it is too long ago", exec + "integrations: {it: {reuse: 29m}}\n", email, nothing, nil, "run schema it",
			plan.CodeAllowedFileChanged, ""},
		{"nothing can start it", "version: 1\nintegrations: {it: {}}\n", email, nothing, nil, "run schema it",
			plan.CodeAllowedFileChanged, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			first := [2]*side{world(), world()}
			second := [2]*side{world(), world()}
			for _, s := range []*side{first[0], first[1], second[0], second[1]} {
				s.data["/two.yml"] = definition("two", nil)
				s.check()["always_run"] = tt.name == "it always runs"
			}
			tt.change(first[1])
			for _, s := range second {
				tt.moved(s)
			}
			tt.change(second[1])
			before := input(t, first[0], first[1], tt.settings)
			before.Results = results{}
			earlier := made(t, before)
			in := input(t, second[0], second[1], tt.settings)
			in.Results = passing(earlier, tt.red...)
			p := made(t, in)
			d, _ := p.Decision("it")
			if got := brief(d); got != tt.want || !because(d, tt.code, tt.words) {
				t.Errorf("got %s: %s: %s\nwant %s: %s: … %s", got, d.Code, d.Reason, tt.want, tt.code, tt.words)
			}
			if gaps := verify(t, in, p); len(gaps) > 0 {
				t.Errorf("got gaps %v", gaps)
			}
			if len(d.Evidence.Passed) == 0 {
				return
			}
			forgotten := in
			forgotten.Results = results{}
			if gaps := verify(t, forgotten, p); len(gaps) != 1 {
				t.Errorf("nobody remembers that it passed, and the gaps are %v", gaps)
			}
			independent(t, before, in, d)
		})
	}
}

// independent holds that what is not run again would not be run for what base, or
// head, got since it passed.
func independent(t *testing.T, before, after planner.Input, d plan.Decision) {
	t.Helper()
	for _, side := range []string{"base", "head"} {
		in := before
		in.Results = nil
		if in.Head = after.Head; side == "base" {
			in.Head = after.Base
		} else {
			in.Base = before.Head
		}
		would, _ := made(t, in).Decision(d.Name)
		for _, e := range d.Evidence.Passed {
			if would.Decision == plan.Run || slices.Contains(would.Evidence.Keys, e.Shard) {
				t.Errorf("%s got what shard %q must run for: %s", side, e.Shard, would.Reason)
			}
		}
	}
}

// Recorded queries of an integration that promised to ask always the same tell what
// its tasks see.
func TestReuseOfRecordedQueries(t *testing.T) {
	settings := exec +
		"integrations: {it: {trace: static, shards: {by: ['roles[*].groups[*].account'], arg: --account}, list_order: ignored}}\n"
	change := func(s *side) { s.at("/groups/dev.yml")["size"] = 2 }
	traces := storedTraces{
		traces: map[string][]*trace.Trace{"": {recorded(t, "", "{ roles { name groups { account size } } }")}}}
	plans := func(moved func(*side), results planner.Results, broken string) *plan.Plan {
		base, head := world(), world()
		moved(base)
		moved(head)
		change(head)
		in := input(t, base, head, settings)
		traces.broken = broken
		in.Traces, in.Results = traces, results
		p := made(t, in)
		if gaps := verify(t, in, p); len(gaps) > 0 {
			t.Errorf("got gaps %v", gaps)
		}
		return p
	}
	passed := passing(plans(func(*side) {}, results{}, ""))
	for _, c := range []struct {
		name, broken, want string
		moved              func(*side)
	}{
		{"another shard moved", "", "skip result", func(s *side) { s.at("/groups/ops.yml")["size"] = 3 }},
		{"the shard moved", "", "shards shards it/one", func(s *side) {
			s.at("/groups/dev.yml")["account"] = "one"
			s.at("/roles/dev.yml")["name"] = "x"
		}},
		{"the promise is broken", "it asked more", "run schema it", func(*side) {}},
	} {
		d, _ := plans(c.moved, passed, c.broken).Decision("it")
		if got := brief(d); got != c.want {
			t.Errorf("%s: got %s: %s, want %s", c.name, got, d.Reason, c.want)
		}
	}
}

// What head edits of the rules, and what is part of this very program, runs whatever
// passed before.
func TestNoReuse(t *testing.T) {
	base, head := world(), world()
	head.at("/users/bob.yml")["email"] = "new"
	edited := input(t, base, head, exec)
	edited.Edits.Of = func(string) []string { return []string{"hack/run.sh"} }
	native := input(t, base, head, exec, native("it"))
	for name, in := range map[string]planner.Input{"edited": edited, "native": native} {
		in.Results = results{}
		in.Results = passing(made(t, in))
		p := made(t, in)
		if d, _ := p.Decision("it"); d.Decision != plan.Run || len(p.Tasks) != 1 {
			t.Errorf("%s: got %s: %s", name, brief(d), d.Reason)
		}
	}
}

// What passed while head edited the rules or a program is no proof once the edit is
// gone, nor while it goes on: nobody knows that it is the same edit.
func TestNoReuseAfterEdits(t *testing.T) {
	for name, c := range map[string]struct {
		base func(*side)
		more string
	}{
		"it is there on both sides": {func(*side) {}, ""},
		"only head defines it":      {func(s *side) { delete(s.data, "/it.yml") }, "trust: {new_integrations: true}\n"},
		"its pr_check is new": {func(s *side) {
			delete(s.at("/it.yml"), "pr_check")
		}, "trust: {new_integrations: true}\n"},
	} {
		base, head := world(), world()
		c.base(base)
		head.at("/users/bob.yml")["email"] = "new"
		plain := input(t, base, head, exec+c.more)
		plain.Results = results{}
		edited := plain
		edited.Edits = edits("hack/run.sh, which starts it as head has it")
		was := made(t, edited)
		plain.Results, edited.Results = passing(was), passing(was)
		for _, in := range []planner.Input{plain, edited} {
			p := made(t, in)
			if len(p.Tasks) != 1 || p.Tasks[0].Blocked != "" {
				t.Errorf("%s: got %s", name, text(t, p))
			}
		}
		if p := made(t, plain); p.Tasks[0].Command == was.Tasks[0].Command {
			t.Errorf("%s: traces of the edited program speak for the other", name)
		}
	}
}

// What does not run costs nothing more with a memory.
func TestReuseOfNothingIsFree(t *testing.T) {
	dir := t.TempDir()
	in := fleetInput(t, dir, fleetFiles(t, dir, 600))
	in.Head = in.Base
	without := testing.AllocsPerRun(1, func() { made(t, in) })
	in.Results = results{}
	with := testing.AllocsPerRun(1, func() { made(t, in) })
	if with > 1.2*without {
		t.Errorf("%v allocations, and %v without a memory", with, without)
	}
}

// A whole that ran in doubt, since both sides answer with the same error, covers the
// shards that verify finds, and only while somebody remembers that it passed.
func TestVerifyWholeThatPassed(t *testing.T) {
	base, head := world(), world()
	for _, s := range []*side{base, head} {
		delete(s.at("/users/ana.yml"), "name")
	}
	base.at("/users/ana.yml")["email"], head.at("/users/ana.yml")["email"] = "old", "new"
	head.at("/groups/dev.yml")["size"] = 2
	in := input(t, base, head, strings.Replace(byAccount(", fan_out: true"), "[roles.graphql]",
		"[roles.graphql, people.graphql]", 1))
	in.Results = results{}
	earlier := made(t, in)
	in.Results = passing(earlier)
	p := made(t, in)
	if d, _ := p.Decision("it"); len(earlier.Tasks) != 1 || brief(d) != "skip result" || len(verify(t, in, p)) > 0 {
		t.Errorf("%d tasks, then %s: %s, and the gaps are %v", len(earlier.Tasks), brief(d), d.Reason, verify(t, in, p))
	}
	in.Results = results{}
	if gaps := verify(t, in, p); len(gaps) != 1 {
		t.Errorf("nobody remembers that it passed, and the gaps are %v", gaps)
	}
}

// Answers with errors, be they the same on both sides, do not tell which shards there
// are: a plan that runs those that they show does not verify.
func TestVerifyShardsBehindErrors(t *testing.T) {
	base, head := world(), world()
	for _, s := range []*side{base, head} {
		s.data["/roles/new.yml"] = object{"$schema": "/role-1.yml", "name": "new", "tags": nil, "groups": list{}}
	}
	head.check()["cmd"] = "new"
	in := input(t, base, head, byAccount(", fan_out: true"))
	p := made(t, in)
	if len(p.Tasks) != 1 || len(verify(t, in, p)) > 0 {
		t.Errorf("got %s, and the gaps %v", text(t, p), verify(t, in, p))
	}
	p.Tasks = nil
	for _, shard := range []string{"one", "two"} {
		task, err := planner.Task(in, "it", shard)
		if err != nil {
			t.Fatal(err)
		}
		p.Tasks = append(p.Tasks, task)
	}
	if gaps := verify(t, in, p); len(gaps) != 1 {
		t.Errorf("got the gaps %v", gaps)
	}
}

// Without a memory the inputs are both bundles as they are.
func TestInputsWithoutMemory(t *testing.T) {
	base, head, more := world(), world(), world()
	head.at("/users/bob.yml")["email"] = "new"
	more.at("/users/bob.yml")["email"] = "new"
	more.at("/others/else.yml")["name"] = "x"
	a, b := made(t, input(t, base, head, exec)), made(t, input(t, base, more, exec))
	if a.Tasks[0].Inputs == b.Tasks[0].Inputs || a.Tasks[0].Inputs == "" {
		t.Errorf("got inputs %s and %s", a.Tasks[0].Inputs, b.Tasks[0].Inputs)
	}
}

// Whatever a change does and whatever base gets: what is left out would not run for
// what has come between.
func TestReuseLaw(t *testing.T) {
	set := func(path, field string, value any) func(*side) {
		return func(s *side) { s.at(path)[field] = value }
	}
	changes := []func(*side){
		set("/users/ana.yml", "email", "new"), set("/users/bob.yml", "name", "rob"), set("/users/bob.yml", "roles", list{}),
		set("/roles/dev.yml", "tags", list{"y"}), set("/roles/dev.yml", "tags", list{"y", "x"}),
		set("/roles/ops.yml", "groups", list{object{"$ref": "/groups/dev.yml"}}),
		set("/groups/dev.yml", "size", 2), set("/groups/ops.yml", "size", 3), set("/groups/ops.yml", "account", "one"),
		set("/groups/ops.yml", "account", nil),
		set("/groups/dev.yml", "template", "/own.yml"), set("/others/else.yml", "name", "x"),
		set("/it.yml", "schemas", list{"/role-1.yml"}),
		func(s *side) { s.check()["cmd"] = "it --more" },
		func(s *side) {
			s.data["/roles/new.yml"] = object{"$schema": "/role-1.yml", "name": "new", "groups": list{}}
		},
		func(s *side) { s.resources["/t.txt"] = resource("/t.txt", "other", nil) },
		func(s *side) { s.resources["/lone.txt"] = resource("/lone.txt", "other", nil) },
		func(s *side) { s.schemas["/user-1.yml"] = object{"version": 2} },
	}
	var settings []string
	for _, s := range []string{asks("", "names.graphql"), asks("", "roles.graphql"), asks("", "templates.graphql"),
		asks("", "members.graphql", "emails.graphql"),
		byAccount(""), byAccount(", fan_out: true"),
		asks(`, list_order: significant, shards: {by: ["roles[*].groups[*].account"], arg: --account}`, "roles.graphql"),
		exec} {
		settings = append(settings, s, s+"paths: {select: [{when: ['resources/l*', 'data/others/*'], run: [it]}]}\n")
	}
	reused, ran := 0, 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 9)) //nolint:gosec // repeatable
		some := func(n int) (out []func(*side)) {
			for range n {
				out = append(out, changes[r.IntN(len(changes))])
			}
			return out
		}
		sides := func(base, more []func(*side)) (b, h *side) {
			b, h = world(), world()
			for _, f := range base {
				f(b)
				f(h)
			}
			for _, f := range more {
				f(h)
			}
			return b, h
		}
		change := some(1 + r.IntN(2))
		was, since := some(r.IntN(2)), some(1+r.IntN(2))
		text := settings[r.IntN(len(settings))]
		base, head := sides(was, change)
		before := input(t, base, head, text)
		before.Results = results{}
		base, head = sides(slices.Concat(was, since), change)
		after := input(t, base, head, text)
		after.Results = passing(made(t, before))
		p := made(t, after)
		ran += len(p.Tasks)
		for _, d := range p.Integrations {
			reused += len(d.Evidence.Passed)
			independent(t, before, after, d)
		}
		if gaps := verify(t, after, p); len(gaps) > 0 {
			t.Errorf("the plan does not verify: %v", gaps)
		}
		if t.Failed() {
			t.Fatalf("seed %d: %s", seed, text)
		}
	}
	t.Logf("%d left out, %d ran", reused, ran)
	if reused < 50 || ran < 50 {
		t.Errorf("%d left out, %d ran: the changes are one-sided", reused, ran)
	}
}

// When it cannot be known what a command names, nothing that it did before counts.
func TestUnknownProgramsRun(t *testing.T) {
	base, head := world(), world()
	head.at("/users/bob.yml")["email"] = "new"
	in := input(t, base, head, exec+"programs: [hack]\n")
	in.Results = results{}
	in.Results = passing(made(t, in))
	in.Traces = storedTraces{traces: map[string][]*trace.Trace{"": {recorded(t, "", "{ users { name } }")}}}
	if d, _ := made(t, in).Decision("it"); d.Decision != plan.Skip {
		t.Fatalf("got %s: %s, want a skip", brief(d), d.Reason)
	}
	in.Programs = func(settings.Programs) (string, error) {
		return "", errors.New(`"hack": it is too large to be looked at`)
	}
	p := made(t, in)
	const want = `the files that its command may use are not known: "hack": it is too large to be looked at, so no trace is asked`
	if d, _ := p.Decision("it"); brief(d) != "run schema it" || !strings.Contains(d.Reason, want) {
		t.Errorf("got %s: %s, want … %s", brief(d), d.Reason, want)
	}
	in.Traces = nil
	if d, _ := made(t, in).Decision("it"); brief(d) != "run schema it" {
		t.Errorf("a result counts: %s: %s", brief(d), d.Reason)
	}
}

// Answers with the same error on both sides are a doubt for the planner, and the same state for
// the proof. A task that ran in doubt and passed is left out for that, and the plan holds.
func TestVerifyDoubtThatPassed(t *testing.T) {
	base, head := world(), world()
	for _, s := range []*side{base, head} {
		delete(s.at("/users/ana.yml"), "name")
	}
	head.at("/users/ana.yml")["email"] = "new"
	in := input(t, base, head, asks("", "people.graphql"))
	in.Results = results{}
	in.Results = passing(made(t, in))
	p := made(t, in)
	d, _ := p.Decision("it")
	if gaps := verify(t, in, p); brief(d) != "skip result" || len(gaps) > 0 {
		t.Errorf("got %s: %s, and the gaps %v", brief(d), d.Reason, gaps)
	}
	bad := clone(p)
	decision(bad).Evidence.Passed = nil
	if gaps := verify(t, in, bad); len(gaps) != 1 {
		t.Errorf("without a result, the gaps are %v", gaps)
	}
}
