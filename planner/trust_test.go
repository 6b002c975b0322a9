package planner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/planner/rules"
)

// remove takes a key out of an object.
func remove(o object, key string) { delete(o, key) }

// What head says about how it is checked does not count: base's word does, and
// whatever head changes of it makes the integration run in full.
func TestHeadDoesNotDecide(t *testing.T) {
	other := func(head *side) { head.at("/others/else.yml")["name"] = "changed" } // nothing that "it" may read
	user := func(head *side) { head.at("/users/ana.yml")["email"] = "new@x" }
	for _, c := range []struct {
		name   string
		more   string // settings
		base   func(*side)
		head   func(*side)
		want   string
		argv   string
		warned string
	}{
		{"nothing", "", nil, other, "skip schema", "", ""},
		{"changes its command", "", nil, func(h *side) { h.check()["cmd"] = "rm -rf" },
			"run definition it", "run it",
			`integration "it": head changes its definition (pr_check); it runs as base defines it`},
		{"breaks its command", "", nil, func(h *side) { h.check()["cmd"] = "a; b" },
			"run definition it", "run it", "as base defines it"},
		{"disables itself", "", nil, func(h *side) { h.check()["disabled"] = true; user(h) },
			"run definition it", "run it", "(pr_check)"},
		{"removes its pr_check", "", nil, func(h *side) { remove(h.at("/it.yml"), "pr_check"); user(h) },
			"run definition it", "run it", "(pr_check)"},
		{"makes its pr_check null", "", nil, func(h *side) { h.at("/it.yml")["pr_check"] = nil; user(h) },
			"run definition it", "run it", "(pr_check)"},
		{"removes always_run", "", func(b *side) {
			b.check()["always_run"] = true
		}, func(h *side) { remove(h.check(), "always_run"); other(h) },
			"run definition it", "run it", "(pr_check)"},
		{"says early_exit", "", nil, func(h *side) { h.check()["early_exit"] = true; user(h) },
			"run definition it", "run it", "(pr_check)"},
		{"runs later", "", nil, func(h *side) { h.check()["run_order"] = 9 }, "run definition it", "run it", "(pr_check)"},
		{"another image", "", nil, func(h *side) { h.check()["imageRef"] = "evil" }, "run definition it", "run it",
			"(pr_check)"},
		{"narrows its schemas on the change that they are about", "", nil, func(h *side) {
			h.at("/it.yml")["schemas"] = list{"/group-1.yml"}
			user(h)
		},
			"run definition it", "run it", "(schemas)"},
		{"takes its schemas away", "", nil, func(h *side) { remove(h.at("/it.yml"), "schemas"); user(h) },
			"run definition it", "run it", "(schemas)"},
		{"is not held to its schemas", "", nil, func(h *side) { h.check()["no_validate_schemas"] = true; user(h) },
			"run definition it", "run it", "(pr_check)"},
		{"other shards", "", nil, func(h *side) { h.at("/it.yml")["managed"] = list{} }, "run definition it", "run it",
			"(managed)"},
		{"moves its definition and changes it", "", nil, func(h *side) {
			h.data["/moved.yml"] = h.data["/it.yml"]
			remove(h.data, "/it.yml")
			h.at("/moved.yml")["pr_check"] = object{"cmd": "evil"}
		}, "run definition it", "run it", "(pr_check)"},
		{"removes itself", "", nil, func(h *side) { remove(h.data, "/it.yml"); addRest(h); user(h) },
			"skip definition", "", "head removes its definition, so nothing checks what it did"},
		{"hides as another kind of file", "", nil, func(h *side) {
			h.at("/it.yml")["$schema"] = "/other-1.yml"
			addRest(h)
			user(h)
		},
			"skip definition", "", "head removes its definition, so nothing checks what it did"},
		{"enables what base disabled", "", func(b *side) {
			b.check()["disabled"] = true
		}, func(h *side) { remove(h.check(), "disabled") },
			"run definition it", "run it", "(pr_check)"},
		{"disabled on both sides", "", func(b *side) {
			b.check()["disabled"] = true
		}, func(h *side) { h.check()["cmd"] = "new" },
			"skip definition", "", ""},
		{"is new", "", func(b *side) { remove(b.data, "/it.yml") }, func(*side) {},
			"run definition it", "run it", "not run: only head defines it"},
		{"is new, and trusted, with an option for a command", "trust: {new_integrations: true}\n",
			func(b *side) { remove(b.data, "/it.yml") }, func(h *side) { h.check()["cmd"] = "--no-dry-run" },
			"run definition it", "", "not run: only head defines it, and its pr_check.cmd begins with"},
		{"gets its first pr_check", "", func(b *side) {
			remove(b.at("/it.yml"), "pr_check")
		}, func(h *side) { h.at("/it.yml")["pr_check"] = object{"cmd": "x"} },
			"run definition it", "run x", "not run: only head gives it a pr_check"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, head := world(), world()
			if c.base != nil {
				c.base(base)
				if !strings.HasPrefix(c.name, "is new") {
					c.base(head)
				}
			}
			c.head(head)
			p := made(t, input(t, base, head, exec+c.more))
			d, _ := p.Decision("it")
			if got := brief(d); got != c.want {
				t.Errorf("got %q (%s), want %q", got, d.Reason, c.want)
			}
			task, _ := p.Task("it")
			if got := strings.Join(task.Argv, " "); got != c.argv && task.Blocked == "" {
				t.Errorf("got the command %q, want %q", got, c.argv)
			}
			if warned := strings.Join(p.Warnings, "\n"); !strings.Contains(warned, c.warned) || c.warned == "" && warned != "" {
				t.Errorf("got the warnings %q, want %q", warned, c.warned)
			}
			if len(task.When) > 0 {
				t.Errorf("the task may leave something out: %v", task.When)
			}
		})
	}
}

// edits are those of an input in which head edits something of "it".
func edits(what ...string) rules.Edits {
	return rules.Edits{Notes: []string{"head edits x"}, Of: func(name string) []string {
		if name == "it" {
			return what
		}
		return nil
	}}
}

func TestEditedRules(t *testing.T) {
	same := func(*side) {}
	for _, c := range []struct {
		name, settings string
		base, head     func(*side)
		want           string
	}{
		{"same bundles", exec, nil, same, "run definition it"},
		{"all ignored", exec + "paths: {ignore: ['**']}\n", nil, func(h *side) { h.at("/users/ana.yml")["email"] = "new@x" },
			"run definition it"},
		{"a state that is the same", asks("", "names.graphql"), nil, same, "run definition it"},
		{"disabled", exec, func(b *side) { b.check()["disabled"] = true }, same, "skip definition"},
		{"no pr_check", exec, func(b *side) { remove(b.at("/it.yml"), "pr_check") }, same, "skip definition"},
		{"may end early",
			exec + "integrations: {it: {exec: {argv: [run, '{flags}'], when: {early_exit: {flags: [early]}}}}}\n",
			func(b *side) { b.check()["early_exit"] = true; b.check()["always_run"] = true }, same, "run definition it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, head := world(), world()
			if c.base != nil {
				c.base(base)
				c.base(head)
			}
			c.head(head)
			in := input(t, base, head, c.settings)
			before := made(t, in)
			in.Edits = edits("exec in prcheck.yaml", "queries/it.graphql")
			p := made(t, in)
			d, _ := p.Decision("it")
			if got := brief(d); got != c.want {
				t.Errorf("got %q (%s), want %q", got, d.Reason, c.want)
			}
			if !slices.Equal(p.Warnings[:1], in.Edits.Notes) {
				t.Errorf("got the warnings %q, want %q first", p.Warnings, in.Edits.Notes)
			}
			if d.Decision == plan.Skip {
				return
			}
			if !because(d, plan.CodeRulesEdited, "exec in prcheck.yaml and 1 more") || len(d.Evidence.Edited) != 2 {
				t.Errorf("got the reason %q and the evidence %q", d.Reason, d.Evidence.Edited)
			}
			if task, _ := p.Task("it"); slices.Contains(task.Argv, "early") {
				t.Errorf("got %q, which may end early", task.Argv)
			}
			if !slices.Contains(p.Warnings, "in full, because head edits the rules for it: it") {
				t.Errorf("got the warnings %q", p.Warnings)
			}
			if r, err := planner.Verify(t.Context(), in, p); err != nil || len(r.Refuted) > 0 {
				t.Errorf("the plan does not hold: %v, %v", r, err)
			}
			if b, _ := before.Decision("it"); b.Decision == plan.Skip {
				if r, err := planner.Verify(t.Context(), in, before); err != nil || len(r.Refuted) != 1 {
					t.Errorf("a plan that knows nothing of the edit: got %v, %v, want one gap", r, err)
				}
			}
		})
	}
}
