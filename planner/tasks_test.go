package planner_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// What becomes of a definition and the settings.
func TestTask(t *testing.T) {
	tests := []struct {
		name     string
		settings string
		change   func(base, head *side)
		want     plan.Task // without Integration and Inputs
	}{
		{"plain", exec, rename, plan.Task{ID: "it", Argv: []string{"run", "it"}, Timeout: "10m0s"}},
		{"run_order", exec, both(func(s *side) { s.check()["run_order"] = -3 }, rename),
			plan.Task{ID: "it", Argv: []string{"run", "it"}, Timeout: "10m0s", Order: -3}},
		{"words", exec, both(func(s *side) { s.check()["cmd"] = `it --a 'b  c' "d" e\ f` }, rename),
			plan.Task{ID: "it", Argv: []string{"run", "it", "--a", "b  c", "d", "e f"}, Timeout: "10m0s"}},
		{"base's command", exec, func(_, head *side) { head.check()["cmd"], head.check()["run_order"] = "evil; rm", 7 },
			plan.Task{ID: "it", Argv: []string{"run", "it"}, Timeout: "10m0s"}},
		{"timeout", "version: 1\nexec: {argv: [run], timeout: 90s}\n", rename,
			plan.Task{ID: "it", Argv: []string{"run"}, Timeout: "1m30s"}},
		{"own exec",
			exec + "integrations: {it: {exec: {argv: [own, '{name}', '{config}', '{base_sha}'], config: x, timeout: 1h}}}\n",
			rename,
			plan.Task{ID: "it", Argv: []string{"own", "it", "{config}", "{base_sha}"}, Timeout: "1h0m0s"}},
		{"shard", byAccount(""), resize,
			plan.Task{ID: "it/two", Shard: "two", Argv: []string{"run", "it", "--account", "two"}, Timeout: "10m0s"}},
		{"shard in one word", asks(`, shards: {by: ["roles[*].groups[*].account"], arg: --account=}`, "roles.graphql"),
			resize,
			plan.Task{ID: "it/two", Shard: "two", Argv: []string{"run", "it", "--account=two"}, Timeout: "10m0s"}},
		{"shard of any name", byAccount(""), func(_, head *side) { head.at("/groups/new.yml")["size"] = 2 },
			plan.Task{ID: "it/a/b c%", Shard: "a/b c%", Argv: []string{"run", "it", "--account", "a/b c%"}, Timeout: "10m0s"}},
		{"quotes", exec, both(func(s *side) { s.check()["cmd"] = "it 'open" }, rename),
			plan.Task{ID: "it", Argv: []string{"run"}, Timeout: "10m0s",
				Blocked: "its pr_check.cmd is not a plain list of words: at byte 4: a single quote is never closed; no shell runs it, so quote what is meant as it is"}},
		{"no exec", "", rename, plan.Task{ID: "it", Argv: []string{}, Timeout: "10m0s",
			Blocked: "no exec in prcheck.yaml says how to start it"}},
		{"no program", "version: 1\nexec: {argv: ['{cmd}', x]}\n", both(func(s *side) { s.check()["cmd"] = "''" }, rename),
			plan.Task{ID: "it", Argv: []string{}, Timeout: "10m0s", Blocked: "its pr_check.cmd names no program"}},
		{"no words", "version: 1\nexec: {argv: ['{cmd}']}\n", both(func(s *side) { delete(s.check(), "cmd") }, rename),
			plan.Task{ID: "it", Argv: []string{}, Timeout: "10m0s", Blocked: "its pr_check.cmd names no program"}},
		{"new", exec, func(base, _ *side) {
			delete(base.data, "/it.yml")
		}, plan.Task{ID: "it", Argv: []string{"run", "it"}, Timeout: "10m0s",
			Blocked: "only head defines it, so it has no trusted command; merge its definition first, or set trust.new_integrations"}},
		{"new and hostile", "version: 1\nexec: {argv: ['{cmd}']}\n", func(base, head *side) {
			delete(base.data, "/it.yml")
			head.check()["cmd"] = "''"
		},
			plan.Task{ID: "it", Argv: []string{}, Timeout: "10m0s",
				Blocked: "only head defines it, so it has no trusted command; merge its definition first, or set trust.new_integrations"}},
		{"new and trusted", exec + "trust: {new_integrations: true}\n", func(base, _ *side) { delete(base.data, "/it.yml") },
			plan.Task{ID: "it", Argv: []string{"run", "it"}, Timeout: "10m0s"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, head := world(), world()
			for _, s := range []*side{base, head} {
				s.data["/groups/new.yml"] = object{"$schema": "/group-1.yml", "name": "new", "account": "a/b c%", "size": 1}
				dev := s.at("/roles/dev.yml")
				dev["groups"] = append(dev["groups"].(list), object{"$ref": "/groups/new.yml"})
			}
			tt.change(base, head)
			p := made(t, input(t, base, head, tt.settings))
			if len(p.Tasks) != 1 {
				t.Fatalf("got %d tasks", len(p.Tasks))
			}
			got := p.Tasks[0]
			if !strings.HasPrefix(got.Inputs, "sha256:") || got.Integration != "it" {
				t.Errorf("got %+v", got)
			}
			got.Integration, got.Inputs = "", ""
			if !slices.Equal(got.Argv, tt.want.Argv) {
				t.Errorf("argv: got %q, want %q", got.Argv, tt.want.Argv)
			}
			if got.Argv, tt.want.Argv = nil, nil; !same(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func same(a, b plan.Task) bool {
	return a.ID == b.ID && a.Shard == b.Shard && a.Native == b.Native && a.Blocked == b.Blocked && a.Order == b.Order &&
		a.Timeout == b.Timeout
}

// The digest of the inputs changes with everything that decides what a task
// does, and with nothing else.
func TestInputs(t *testing.T) {
	inputs := func(settings string, change func(base, head *side)) string {
		base, head := world(), world()
		change(base, head)
		return made(t, input(t, base, head, settings)).Tasks[0].Inputs
	}
	const start = "version: 1\nexec: {argv: [run, '{cmd}', '{config}'], config: x, env: {A: b}, pass_env: [C]}\n"
	first := inputs(start, rename)
	for name, settings := range map[string]string{
		"a comment": "# new\n" + start,
		"timeout":   strings.Replace(start, "config: x", "config: x, timeout: 1m", 1),
	} {
		if inputs(settings, rename) != first {
			t.Errorf("%s counts", name)
		}
	}
	for name, settings := range map[string]string{
		"argv":     strings.Replace(start, "run", "ran", 1),
		"config":   strings.Replace(start, "config: x", "config: y", 1),
		"env":      strings.Replace(start, "A: b", "A: c", 1),
		"pass_env": strings.Replace(start, "[C]", "[D]", 1),
		"own exec": start + "integrations: {it: {exec: {env: {X: y}}}}\n",
	} {
		if inputs(settings, rename) == first {
			t.Errorf("%s does not count", name)
		}
	}
	if inputs(start, func(base, head *side) { rename(base, head); email(base, head) }) == first {
		t.Error("the bundles do not count")
	}
}

// Names come from bundles, so they can be anything.
func TestNames(t *testing.T) {
	tests := []struct{ name, task string }{
		{"a/b", "a%2Fb"},
		{"a%2Fb", "a%252Fb"},
		{"../../etc", "..%2F..%2Fetc"},
		{"line\nbreak\x1b[31m\x00", "line\nbreak\x1b[31m\x00"},
		{"ünï 😀", "ünï 😀"},
		{" ", " "},
	}
	base, head := world(), world()
	for _, s := range []*side{base, head} {
		for _, tt := range tests {
			s.data["/"+tt.task+".yml"] = definition(tt.name, object{"cmd": "x"})
		}
	}
	rename(base, head)
	in := input(t, base, head, exec)
	p := made(t, in)
	for _, tt := range tests {
		if d, ok := p.Decision(tt.name); !ok || !slices.Equal(d.Tasks, []string{tt.task}) {
			t.Errorf("%q: got tasks %q, want %q", tt.name, d.Tasks, tt.task)
		}
	}
	laws(t, in, p)
}

// A name may hold half of a surrogate pair, which JSON allows and no text can
// hold. The plan can still be read.
func TestNameOfHalfASurrogate(t *testing.T) {
	head := world()
	rename(nil, head)
	in := input(t, world(), head, exec)
	const d = `{"data":{"/x.yml":{"$schema":"/app-sre/integration-1.yml","name":"x\ud800","pr_check":{"cmd":"x\udc00"}}},"graphql":[{"name":"Query","fields":[{"name":"x","type":"string"}]}]}`
	b, err := bundle.Parse([]byte(d), nil)
	if err != nil {
		t.Fatal(err)
	}
	in.Head = b
	p := made(t, in)
	if _, err := plan.Read(strings.NewReader(text(t, p))); err != nil {
		t.Error(err)
	}
}

func TestWarnings(t *testing.T) {
	tests := []struct {
		name     string
		settings string
		change   func(base, head *side)
		want     []string
	}{
		{"none", exec, rename, []string{}},
		{"reference to nowhere", exec, func(_, head *side) { delete(head.data, "/roles/dev.yml") },
			[]string{`datafile "/users/ana.yml" refers to "/roles/dev.yml", which does not exist on head`}},
		{"only on base", exec, func(base, _ *side) { delete(base.data, "/roles/dev.yml") }, []string{}},
		{"removed", exec, both(addRest, func(_, head *side) { delete(head.data, "/it.yml") }),
			[]string{`integration "it": head removes its definition, so nothing checks what it did`}},
		{"new", exec, both(addRest, func(base, _ *side) { delete(base.data, "/it.yml") }),
			[]string{`integration "it": not run: only head defines it, so it has no trusted command; merge its definition first, or set trust.new_integrations`}},
		{"quotes", exec, both(func(s *side) { s.check()["cmd"] = `"` }, rename),
			[]string{`integration "it": not run: its pr_check.cmd is not a plain list of words: at byte 1: a double quote is never closed; no shell runs it, so quote what is meant as it is`}},
		{"no exec", "", both(func(s *side) { s.data["/2.yml"] = definition("it2", object{}) }, rename),
			[]string{"2 of 2 tasks are not run: no exec in prcheck.yaml says how to start it"}},
		{"shell", exec, both(func(s *side) { s.check()["cmd"] = "it $(x)" }, rename),
			[]string{`integration "it": not run: its pr_check.cmd is not a plain list of words: at byte 4: $( is a substitution; no shell runs it, so quote what is meant as it is`}},
		{"image that is not used", exec, both(func(s *side) { s.check()["imageRef"] = "abc" }, rename),
			[]string{`integration "it": its pr_check.imageRef "abc" is not used, since exec.argv has no {image_ref}`}},
		{"query in doubt", asks("", "names.graphql"), noNames,
			[]string{`integration "it": names.graphql: head rejects it: Cannot query field "name" on type "User_v1".`}},
		{"no schemas", exec, both(func(s *side) { s.at("/it.yml")["schemas"] = list{} }, rename),
			[]string{`integration "it": its definition allows no schema at all`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, head := world(), world()
			tt.change(base, head)
			if got := made(t, input(t, base, head, tt.settings)).Warnings; !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// What cannot be planned says where the mistake is.
func TestMistakes(t *testing.T) {
	tests := []struct {
		name, settings string
		change         func(base, head *side)
		line           int
		want           string
	}{
		{"unknown integration", exec + "integrations:\n  that: {}\n", rename, 4,
			`no bundle defines an integration named "that"`},
		{"unknown in a rule", exec + "paths:\n  select:\n    - when: [x]\n      run: [it, that]\n", rename, 6,
			`no bundle defines an integration named "that"`},
		{"known to head only", exec + "integrations:\n  it: {}\n", func(base, _ *side) { delete(base.data, "/it.yml") }, 0,
			""},
		{"known to base only", exec + "integrations:\n  it: {}\n",
			both(addRest, func(_, head *side) { delete(head.data, "/it.yml") }), 0, ""},
		{"no such file", exec + "integrations:\n  it:\n    queries: [names.graphql, nowhere.graphql]\n", rename, 5,
			"integrations.it.queries: open nowhere.graphql: file does not exist"},
		{"syntax", asks("", "syntax.graphql"), rename, 3, "integrations.it.queries: syntax.graphql: Syntax Error: "},
		{"unknown field", asks("", "unknown.graphql"), rename, 3,
			`integrations.it.queries: unknown.graphql: Cannot query field "nam" on type "User_v1". Did you mean "name"?`},
		{"rejected by one side", asks("", "names.graphql"), noNames, 0, ""},
		{"dead selector", asks(`, shards: {by: ["roles[*].groups[*].acount"], arg: -a}`, "roles.graphql"), rename, 3,
			`integrations.it.shards.by: selector "roles[*].groups[*].acount": `},
		{"selector into no list", asks(`, shards: {by: ["roles[*].name[*].x"], arg: -a}`, "roles.graphql"), rename, 3,
			"integrations.it.shards.by: selector "},
		{"selector of another query", asks(`, shards: {by: ["roles[*].groups[*].account"], arg: -a}`, "names.graphql",
			"roles.graphql"), rename, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, head := world(), world()
			tt.change(base, head)
			_, err := planner.Make(t.Context(), input(t, base, head, tt.settings))
			if tt.line == 0 {
				if err != nil {
					t.Errorf("got %v, want none", err)
				}
				return
			}
			var mistake *settings.Error
			if !errors.As(err, &mistake) || mistake.File != "prcheck.yaml" || mistake.Line != tt.line ||
				!strings.HasPrefix(mistake.Msg, tt.want) {
				t.Errorf("got %v, want prcheck.yaml:%d: %s", err, tt.line, tt.want)
			}
		})
	}
}

func TestTwoOfOneName(t *testing.T) {
	for _, name := range []string{"base", "head"} {
		sides := map[string]*side{"base": world(), "head": world()}
		sides[name].data["/twin.yml"] = definition("it", nil)
		_, err := planner.Make(t.Context(), input(t, sides["base"], sides["head"], exec))
		if want := name + `: two integrations are named "it": "/it.yml" and "/twin.yml"; rename one`; err == nil ||
			err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestCanceled(t *testing.T) {
	head := world()
	rename(nil, head)
	in := input(t, world(), head, asks("", "names.graphql"))
	p := made(t, in)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := planner.Make(ctx, in); !errors.Is(err, context.Canceled) {
		t.Errorf("Make: got %v", err)
	}
	if _, err := planner.Verify(ctx, in, p); !errors.Is(err, context.Canceled) {
		t.Errorf("Verify: got %v", err)
	}
}
