package planner_test

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
)

// distrusted are the rungs that are not believed about the integration "it".
type distrusted []plan.Rung

func (d distrusted) Distrusted(integration string) map[plan.Rung]string {
	out := map[plan.Rung]string{}
	if integration == "it" {
		for _, rung := range d {
			out[rung] = "a day"
		}
	}
	return out
}

// A rung that is not believed runs the integration in full where it would skip it or run some
// of its shards. Nothing else changes, and the plan holds.
func TestDistrust(t *testing.T) {
	resize := func(_, head *side) { head.at("/groups/dev.yml")["size"] = 7 }
	email := func(_, head *side) { head.at("/users/bob.yml")["email"] = "new" }
	for _, c := range []struct {
		rung     plan.Rung
		settings string
		change   func(base, head *side)
		passed   bool // before with the same inputs
	}{
		{plan.RungSchema, exec, both(func(s *side) { s.at("/it.yml")["schemas"] = list{"/role-1.yml"} }, email), false},
		{plan.RungFields, asks("", "names.graphql"), email, false},
		{plan.RungState, asks("", "names.graphql"), func(_, head *side) {
			delete(head.data, "/users/bob.yml")
			head.data["/users/rob.yml"] = object{"$schema": "/user-1.yml", "name": "bob"}
		}, false},
		{plan.RungShards, byAccount(""), resize, false},
		{plan.RungResult, asks("", "roles.graphql"), resize, true},
	} {
		base, head := world(), world()
		c.change(base, head)
		in := input(t, base, head, c.settings)
		if c.passed {
			in.Results = results{}
			in.Results = passing(made(t, in))
		}
		honest, _ := made(t, in).Decision("it")
		if honest.Rung != c.rung || honest.Decision == plan.Run {
			t.Fatalf("%s: decided at %s: %s", c.rung, honest.Rung, honest.Reason)
		}
		for _, rung := range plan.Rungs() {
			in.Distrust = distrusted{rung}
			p := made(t, in)
			d, _ := p.Decision("it")
			mustRun := rung == c.rung || c.passed // an earlier result counts only if all rungs are believed
			if isRun := d.Decision == plan.Run; isRun != mustRun || !isRun && d.Reason != honest.Reason {
				t.Errorf("%s, %s is not believed: %s at %s: %s", c.rung, rung, d.Decision, d.Rung, d.Reason)
			}
			if rung == c.rung && !c.passed {
				if d.Code != plan.CodeDistrusted || !strings.Contains(d.Reason, "planner upkeep confirm") ||
					len(d.Evidence.Doubts) == 0 ||
					len(p.Tasks) == 0 {
					t.Errorf("%s: got %s, %v, %d tasks", c.rung, d.Reason, d.Evidence.Doubts, len(p.Tasks))
				}
				if again, _ := made(t, in).Decision("it"); again.Reason != d.Reason {
					t.Errorf("%s: another plan: %s", c.rung, again.Reason)
				}
			}
			if !c.passed { // otherwise the results prove what a broken plan leaves out
				laws(t, in, p)
			}
		}
	}
}

// What a plan leaves out and what it runs are together what a plan without any rung would run.
func TestSkipped(t *testing.T) {
	for _, c := range []struct {
		name, settings string
		change         func(base, head *side)
		given          func(in *planner.Input)
		want           string
	}{
		{"schema", exec, both(func(s *side) {
			s.at("/it.yml")["schemas"] = list{"/role-1.yml"}
		}, func(_, head *side) { head.at("/users/bob.yml")["email"] = "new" }), nil, "it schema"},
		{"fields", asks("", "names.graphql"), func(_, head *side) { head.at("/users/bob.yml")["email"] = "new" }, nil,
			"it fields"},
		{"shards", byAccount(""), func(_, head *side) { head.at("/groups/dev.yml")["size"] = 7 }, nil, "it/two shards"},
		{"fan out", byAccount(", fan_out: true"), func(_, head *side) { head.at("/users/bob.yml")["email"] = "new" }, nil,
			"it-wrapper/one fields, it-wrapper/two fields"},
		{"runs", exec, rename, nil, ""},
		{"same", exec, func(_, _ *side) {}, nil, ""},
		{"disabled", exec, both(func(s *side) { s.check()["disabled"] = true }, rename), nil, ""},
		{"never on base", exec + "integrations: {it: {baseline: none}}\n",
			both(func(s *side) {
				s.at("/it.yml")["schemas"] = list{"/role-1.yml"}
			}, func(_, head *side) { head.at("/users/bob.yml")["email"] = "new" }), nil, ""},
		{"new", exec, func(base, head *side) { delete(base.data, "/it.yml"); rename(base, head) }, nil, ""},
		{"removed", exec, both(addRest, func(_, head *side) { delete(head.data, "/it.yml") }), nil, ""},
	} {
		base, head := world(), world()
		c.change(base, head)
		in := input(t, base, head, c.settings)
		if c.given != nil {
			c.given(&in)
		}
		all, err := planner.Skipped(t.Context(), in, made(t, in))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range all {
			got = append(got, s.Task.ID+" "+string(s.Rung))
			if len(s.Task.Argv) == 0 || len(s.Task.When) > 0 {
				t.Errorf("%s: got %+v", c.name, s.Task)
			}
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: got %q, want %q", c.name, text, c.want)
		}
	}
}

// A task that passed before is left out at the rung result.
func TestSkippedResults(t *testing.T) {
	base, head := world(), world()
	head.at("/groups/dev.yml")["size"] = 7
	in := input(t, base, head, byAccount(""))
	in.Results = results{}
	in.Results = passing(made(t, in))
	all, err := planner.Skipped(t.Context(), in, made(t, in))
	if err != nil || len(all) != 2 || all[0].Rung != plan.RungResult || all[0].Task.ID != "it/one" ||
		all[1].Rung != plan.RungShards || !all[0].Passed || all[1].Passed {
		t.Errorf("got %+v, %v", all, err)
	}
}
