package planner_test

import (
	"slices"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/planner/proof"
)

// adapter begins settings that use all that a definition may say.
const adapter = `version: 1
exec:
  argv: [run, "{flags}", "img:{image_ref}", "{cmd}"]
  image_ref: "{env.TAG}"
  variables: {mr: "{env.CI_MR}", project: "{env.project}", sha: "{base_sha}"}
  when:
    state: {pass_env: [BUCKET]}
    sqs: {pass_env: [queue]}
    no_validate_schemas: {flags: [--no-validate-schemas]}
    early_exit: {env: {COMPARE: "{base_sha}"}}
    check_only_affected_shards: {flags: [--affected, "{name}"]}
`

// What the fields of pr_check make of a task.
func TestCheckFields(t *testing.T) {
	all := object{"cmd": "it", "state": true, "sqs": true, "no_validate_schemas": true, "early_exit": true,
		"check_only_affected_shards": true}
	usual := []string{"run", "img:{env.TAG}", "it"}
	tests := []struct {
		name   string
		check  object
		change func(base, head *side)
		argv   []string
		when   []string
	}{
		{"none", object{"cmd": "it"}, rename, usual, nil},
		{"all", all, rename, []string{"run", "--no-validate-schemas", "--affected", "it", "img:{env.TAG}", "it"},
			[]string{"state", "sqs", "no_validate_schemas", "early_exit", "check_only_affected_shards"}},
		{"false and null", object{"cmd": "it", "state": false, "sqs": nil, "early_exit": false}, rename, usual, nil},
		{"other values", object{"cmd": "it", "state": 1, "early_exit": "yes", "check_only_affected_shards": 1}, rename, usual,
			[]string{"state"}},
		{"shards without early exit", object{"cmd": "it", "check_only_affected_shards": true}, rename, usual, nil},
		{"image", object{"cmd": "it", "imageRef": "1a2b.3-x"}, rename, []string{"run", "img:1a2b.3-x", "it"}, nil},
		{"always_run", object{"cmd": "it", "early_exit": true, "always_run": true}, rename, usual, []string{"early_exit"}},

		// A task that runs for another reason than a changed datafile runs to its end.
		{"its definition changed", object{"cmd": "it", "early_exit": true},
			func(_, head *side) { rename(nil, head); head.check()["cmd"] = "other" }, usual, nil},
		{"only head says early_exit", object{"cmd": "it"},
			func(_, head *side) { rename(nil, head); head.check()["early_exit"] = true }, usual, nil},
		{"types changed", object{"cmd": "it", "early_exit": true}, func(_, head *side) {
			rename(nil, head)
			head.types = append(head.types, kind("New_v1", "", field("x", "string", nil)))
		}, usual, nil},
		{"schemas changed", object{"cmd": "it", "early_exit": true},
			func(_, head *side) { rename(nil, head); head.schemas["/user-1.yml"] = object{"version": 2} }, usual, nil},
		{"a resource that nobody claims", object{"cmd": "it", "early_exit": true},
			func(_, head *side) { head.resources["/lone.txt"] = resource("/lone.txt", "new", nil) }, usual, nil},
		{"another definition changed", object{"cmd": "it", "early_exit": true}, func(base, head *side) {
			rename(nil, head)
			base.data["/2.yml"] = definition("it2", nil)
			head.data["/2.yml"] = definition("it2", object{"cmd": "x", "disabled": true})
		}, usual, []string{"early_exit"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, head := world(), world()
			for _, s := range []*side{base, head} {
				check := object{}
				for k, v := range tt.check {
					check[k] = v
				}
				s.at("/it.yml")["pr_check"] = check
			}
			tt.change(base, head)
			got := taskOf(t, made(t, input(t, base, head, adapter)), "it")
			if !slices.Equal(got.Argv, tt.argv) || !slices.Equal(got.When, tt.when) || got.Blocked != "" {
				t.Errorf("got  %q, when %q, blocked %q\nwant %q, when %q", got.Argv, got.When, got.Blocked, tt.argv, tt.when)
			}
		})
	}
}

// A paths rule knows what no schema tells, so the integration may not know it
// either; and when the planner saw the states differ, nothing is left to see.
func TestRunsToItsEnd(t *testing.T) {
	for name, settings := range map[string]string{
		"rule":    "paths: {select: [{when: ['data/users/**'], run: [it]}]}\n",
		"queries": "integrations: {it: {queries: [names.graphql]}}\n",
	} {
		base, head := world(), world()
		both(func(s *side) { s.check()["early_exit"] = true }, rename)(base, head)
		if got := taskOf(t, made(t, input(t, base, head, adapter+settings)), "it"); got.When != nil {
			t.Errorf("%s: got %q", name, got.When)
		}
	}
}

// A plan that lets a task end early is held to that.
func TestVerifyEarlyExit(t *testing.T) {
	tests := []struct {
		name string
		when []string
		want []proof.Gap
	}{
		{"none", nil, nil},
		{"others, which do not hold", []string{"state", "no_validate_schemas"},
			[]proof.Gap{{Integration: "it", Why: `its task "it" is not started as the settings and its definition say`}}},
		{"early exit", []string{"early_exit"},
			[]proof.Gap{{Integration: "it", Why: `its task "it" may end early, though it must run to its end`}}},
		{"shards", []string{"check_only_affected_shards"},
			[]proof.Gap{{Integration: "it", Why: `its task "it" may end early, though it must run to its end`}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, head := world(), world()
			rename(nil, head)
			both(func(s *side) { s.check()["early_exit"] = true }, func(_, head *side) { head.check()["cmd"] = "new" })(base,
				head)
			in := input(t, base, head, adapter)
			p := made(t, in)
			p.Tasks[0].When = tt.when
			if got, err := planner.Verify(t.Context(), in, p); err != nil || !slices.Equal(got.Refuted, tt.want) {
				t.Errorf("got %v, %v, want %v", got, err, tt.want)
			}
		})
	}
	// The same where it may.
	base, head := world(), world()
	both(func(s *side) { s.check()["early_exit"] = true }, rename)(base, head)
	in := input(t, base, head, adapter)
	p := made(t, in)
	if got, err := planner.Verify(t.Context(), in, p); err != nil || got.Refuted != nil ||
		!slices.Equal(p.Tasks[0].When, []string{"early_exit"}) {
		t.Errorf("got %v, %v for %q", got, err, p.Tasks[0].When)
	}
}

// Commands become words, and nothing of them is filled in by mistake.
func TestCommand(t *testing.T) {
	const notWords = "its pr_check.cmd is not a plain list of words: "
	const quote = "; no shell runs it, so quote what is meant as it is"
	tests := []struct {
		name, cmd string
		want      []string // after the image
		blocked   string
	}{
		{"variables", `it "p $project" ${mr}x --sha=$sha '$mr'`, []string{"it", "p {env.project}", "{env.CI_MR}x",
			"--sha={base_sha}", "$mr"}, ""},
		{"braces in quotes", `it '{config}' '{env.TOKEN}' "{base_sha}" '{"a": {}}' '{lbrace}'`,
			[]string{"it", "{lbrace}config}", "{lbrace}env.TOKEN}", "{lbrace}base_sha}", `{"a": {}}`, "{lbrace}lbrace}"}, ""},
		{"variable not listed", "it $HOME", nil,
			"its pr_check.cmd uses $HOME, which exec.variables of prcheck.yaml does not list"},
		{"second command", "it; rm -rf /", nil, notWords + "at byte 3: ; ends a command" + quote},
		{"substitution", "it `id`", nil, notWords + "at byte 4: ` is a command substitution" + quote},
		{"option first", "--no-dry-run it", []string{"--no-dry-run", "it"}, ""}, // base may
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, head := world(), world()
			both(func(s *side) { s.check()["cmd"] = tt.cmd }, rename)(base, head)
			got := taskOf(t, made(t, input(t, base, head, adapter)), "it")
			want := append([]string{"run", "img:{env.TAG}"}, tt.want...)
			if !slices.Equal(got.Argv, want) || got.Blocked != tt.blocked {
				t.Errorf("got  %q, %q\nwant %q, %q", got.Argv, got.Blocked, want, tt.blocked)
			}
		})
	}
}

// What head alone defines may be started when the settings say so, but not as
// something else than a dry-run, nor from an image of its own.
func TestCommandOfHead(t *testing.T) {
	tests := []struct {
		name    string
		check   object
		blocked string
	}{
		{"plain", object{"cmd": "it --a b", "early_exit": true}, ""},
		{"option first", object{"cmd": "--no-dry-run it"},
			`only head defines it, and its pr_check.cmd begins with "--no-dry-run", which is not the name of a command`},
		{"variable first", object{"cmd": "$mr it"},
			`only head defines it, and its pr_check.cmd begins with "{env.CI_MR}", which is not the name of a command`},
		{"image", object{"cmd": "it", "imageRef": "evil"},
			"only head defines it, and it names an image of its own, which nobody has trusted yet"},
		{"no image", object{"cmd": "it", "imageRef": "a/b:c"}, `its pr_check.imageRef "a/b:c" is not the tag of an image`},
	}
	for _, tt := range tests {
		for _, before := range []string{"nothing", "no pr_check"} {
			t.Run(tt.name+" after "+before, func(t *testing.T) {
				base, head := world(), world()
				delete(base.at("/it.yml"), "pr_check")
				if before == "nothing" {
					delete(base.data, "/it.yml")
				}
				head.at("/it.yml")["pr_check"] = tt.check
				got := taskOf(t, made(t, input(t, base, head, adapter+"trust: {new_integrations: true}\n")), "it")
				if got.Blocked != tt.blocked || got.When != nil {
					t.Errorf("got %q, when %q, want %q", got.Blocked, got.When, tt.blocked)
				}
			})
		}
	}
}

func taskOf(t *testing.T, p *plan.Plan, id string) plan.Task {
	t.Helper()
	task, ok := p.Task(id)
	if !ok {
		t.Fatalf("no task %q in %+v", id, p.Tasks)
	}
	return task
}

// A recorded task does everything, and its trace counts for the task of a plan, which may
// end early.
func TestRecordedTaskDoesNotEndEarly(t *testing.T) {
	check := object{"cmd": "it", "state": true, "early_exit": true, "check_only_affected_shards": true}
	base, head := world(), world()
	both(func(s *side) { s.at("/it.yml")["pr_check"] = check }, rename)(base, head)
	in := input(t, base, head, adapter)
	planned := taskOf(t, made(t, in), "it")
	if !slices.Contains(planned.When, "early_exit") {
		t.Fatalf("got %+v, want a task that may end early", planned)
	}
	in.Head = in.Base
	got, err := planner.Task(in, "it", "")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.When, []string{"state"}) || slices.Contains(got.Argv, "--affected") {
		t.Errorf("it may leave something out: %q, %q", got.When, got.Argv)
	}
	if got.Command != planned.Command {
		t.Errorf("its trace counts for %s, and the plan has %s", got.Command, planned.Command)
	}
}

// What passed before a command prepared the files says nothing about the files that it prepares.
func TestPreparedCommand(t *testing.T) {
	command := func(more string) string {
		base, head := world(), world()
		rename(nil, head)
		return taskOf(t, made(t, input(t, base, head, exec+more)), "it").Command
	}
	plain, prepared := command(""), command("prepare: [make, tools]\n")
	if plain == prepared || prepared == command("prepare: [make, others]\n") ||
		prepared != command("prepare: [make, tools]\n") {
		t.Errorf("the commands are %q without, and %q with a preparation", plain, prepared)
	}
}
