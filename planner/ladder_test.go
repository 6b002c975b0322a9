package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
)

// A rungCase is one change and what is decided about the integration "it".
type rungCase struct {
	name     string
	settings string
	change   func(base, head *side) // before it, both sides are the same
	want     string                 // action, rung, tasks
	code     plan.Code
	words    string // in the reason, beside those that the code stands for
}

func email(_, head *side)  { head.at("/users/ana.yml")["email"] = "new@x" }
func rename(_, head *side) { head.at("/users/ana.yml")["name"] = "anna" }
func resize(_, head *side) { head.at("/groups/ops.yml")["size"] = 2 }
func elsewhere(_, head *side) {
	head.at("/others/else.yml")["name"] = "new"
}

// noGroups takes the groups out of all roles.
func noGroups(s *side) {
	delete(s.at("/roles/dev.yml"), "groups")
	delete(s.at("/roles/ops.yml"), "groups")
}

// both applies one change to both sides, and then a change to head.
func both(same func(s *side), then func(base, head *side)) func(base, head *side) {
	return func(base, head *side) {
		same(base)
		same(head)
		if then != nil {
			then(base, head)
		}
	}
}

// addRest adds an integration that is never run, so that "it" is not the only one.
func addRest(s *side) { s.data["/rest.yml"] = definition("rest", nil) }

var definitionCases = []rungCase{
	{"no pr_check", exec, both(func(s *side) { delete(s.at("/it.yml"), "pr_check") }, rename), "skip definition",
		plan.CodeNoCheck, ""},
	{"disabled", exec, both(func(s *side) { s.check()["disabled"] = true }, rename), "skip definition", plan.CodeDisabled,
		""},
	{"disabled goes before always_run", exec, both(func(s *side) {
		s.check()["disabled"], s.check()["always_run"] = true,
			true
	}, rename),
		"skip definition", plan.CodeDisabled, ""},
	{"always_run", exec, both(func(s *side) { s.check()["always_run"] = true }, elsewhere), "run definition it",
		plan.CodeAlwaysRun, ""},
	{"always_run goes before queries", asks("", "names.graphql"), both(func(s *side) { s.check()["always_run"] = true },
		email),
		"run definition it", plan.CodeAlwaysRun, ""},
	{"pr_check changed", asks("", "names.graphql"), func(_, head *side) { head.check()["cmd"] = "evil" },
		"run definition it", plan.CodeDefinitionChanged, "its own definition changed (pr_check); it runs as base defines it"},
	{"schemas changed", exec, func(_, head *side) { head.at("/it.yml")["schemas"] = list{} }, "run definition it",
		plan.CodeDefinitionChanged, "(schemas)"},
	{"managed changed", exec, func(_, head *side) { head.at("/it.yml")["managed"] = list{object{"x": 1}} },
		"run definition it", plan.CodeDefinitionChanged, "(managed)"},
	{"description changed", exec, func(_, head *side) { head.at("/it.yml")["description"] = "y" },
		"skip schema", plan.CodeNoAllowedFile, "no changed file has one of the 3 schemas it may read"},
	{"changed goes before always_run", exec, both(func(s *side) {
		s.check()["always_run"] = true
	}, func(_, head *side) { head.check()["cmd"] = "x" }),
		"run definition it", plan.CodeDefinitionChanged, ""},
	{"disabled on head", exec, func(_, head *side) { head.check()["disabled"] = true }, "run definition it",
		plan.CodeDefinitionChanged, ""},
	{"pr_check removed on head", exec, func(_, head *side) { delete(head.at("/it.yml"), "pr_check") }, "run definition it",
		plan.CodeDefinitionChanged, "(pr_check)"},
	{"pr_check new on head", exec, func(base, _ *side) { delete(base.at("/it.yml"), "pr_check") },
		"run definition it", plan.CodeNewCheck, ""},
	{"new", exec, func(base, _ *side) { delete(base.data, "/it.yml") }, "run definition it", plan.CodeNewDefinition, ""},
	{"new and disabled", exec, func(base, head *side) { delete(base.data, "/it.yml"); head.check()["disabled"] = true },
		"skip definition", plan.CodeNewDisabled, ""},
	{"removed", exec, both(addRest, func(_, head *side) { delete(head.data, "/it.yml") }), "skip definition",
		plan.CodeRemoved, ""},
	{"moved", exec, func(_, head *side) { head.data["/moved.yml"] = head.data["/it.yml"]; delete(head.data, "/it.yml") },
		"skip schema", plan.CodeNoAllowedFile, ""},
}

var schemaCases = []rungCase{
	{"nothing", exec, both(func(s *side) { s.check()["always_run"] = true }, nil), "skip schema", plan.CodeSameBundle, ""},
	{"nothing it may read", exec, elsewhere, "skip schema", plan.CodeNoAllowedFile,
		"no changed file has one of the 3 schemas it may read"},
	{"no queries", exec, email, "run schema it", plan.CodeAllowedFileChanged, "it may read /users/ana.yml, which changed"},
	{"old schema counts", exec, func(_, head *side) { head.at("/users/ana.yml")["$schema"] = "/other-1.yml" },
		"run schema it", plan.CodeAllowedFileChanged, "it may read /users/ana.yml, which changed"},
	{"metadata", exec, func(_, head *side) { head.at("/users/ana.yml")["$file_sha256sum"] = "1" }, "skip schema",
		plan.CodeOnlyMetadata, ""},
	{"schemas not enforced", exec, both(func(s *side) { s.check()["no_validate_schemas"] = true }, elsewhere),
		"run schema it", plan.CodeNotEnforced, ""},
	{"ignored resource", exec + "paths: {ignore: ['resources/lone.*']}\n",
		func(_, head *side) { head.resources["/lone.txt"] = resource("/lone.txt", "new", nil) }, "skip schema",
		plan.CodeAllIgnored, ""},
	{"ignored resource that a query reads", asks("", "templates.graphql") + "paths: {ignore: ['resources/**']}\n",
		func(_, head *side) {
			head.resources["/t.txt"] = resource("/t.txt", "new", nil)
		}, "run state it", plan.CodeStateDiffers, ""},
	{"always_run goes before ignored", exec + "paths: {ignore: ['data/users/**']}\n",
		both(func(s *side) { s.check()["always_run"] = true }, email), "run definition it", plan.CodeAlwaysRun, ""},
	{"ignored datafile", exec + "paths: {ignore: ['data/users/**']}\n",
		func(base, head *side) { email(base, head); elsewhere(base, head) }, "run schema it", plan.CodeAllowedFileChanged,
		"/users/ana.yml"},
	{"rule", exec + "paths: {select: [{when: ['data/others/**'], run: [it]}]}\n", elsewhere,
		"run schema it", plan.CodePathsRule, "a paths rule names it: data/others/** covers data/others/else.yml"},
	{"rule goes before queries", asks("", "names.graphql") + "paths: {select: [{when: ['data/others/*'], run: [it]}]}\n",
		elsewhere,
		"run schema it", plan.CodePathsRule, ""},
	{"disabled goes before a rule", exec + "paths: {select: [{when: ['data/others/**'], run: [it]}]}\n",
		both(func(s *side) { s.check()["disabled"] = true }, elsewhere), "skip definition", plan.CodeDisabled, ""},
	{"rule for a resource", exec + "paths: {select: [{when: ['resources/own.*'], run: [it]}]}\n",
		func(_, head *side) { head.resources["/own.yml"] = resource("/own.yml", "new", "/res-1.yml") },
		"run schema it", plan.CodePathsRule, "resources/own.* covers resources/own.yml"},
	{"resource of another schema", exec, func(_, head *side) {
		head.resources["/own.yml"] = resource("/own.yml", "new", "/res-1.yml")
	},
		"run schema it", plan.CodeResourceChanged, ""},
	{"resource, for one that asks for none", exec + "integrations: {it: {resources: none}, unknown: {resources: none}}\n",
		func(_, head *side) { head.resources["/own.yml"] = resource("/own.yml", "new", "/res-1.yml") },
		"skip schema", plan.CodeNoAllowedFile, ""},
	{"resource of its schema", exec, both(func(s *side) { s.at("/it.yml")["schemas"] = list{"/res-1.yml"} },
		func(_, head *side) { head.resources["/own.yml"] = resource("/own.yml", "new", "/res-1.yml") }), "run schema it",
		plan.CodeAllowedFileChanged, "it may read /own.yml, which changed"},
	{"resource that a file mentions", exec, func(_, head *side) {
		head.resources["/t.txt"] = resource("/t.txt", "new", nil)
	},
		"run schema it", plan.CodeAllowedFileChanged, "it may read /t.txt, which changed"},
	{"resource that nothing mentions", exec, func(_, head *side) {
		head.resources["/lone.txt"] = resource("/lone.txt", "new", nil)
	},
		"run schema it", plan.CodeResourceChanged, ""},
	{"JSON schema", exec, func(_, head *side) { head.schemas["/user-1.yml"] = object{"version": 2} }, "run schema it",
		plan.CodeTypesChanged, "/user-1.yml changed, and without queries"},
	{"GraphQL type", exec, newField, "run schema it", plan.CodeTypesChanged, "User_v1 changed, and without queries"},
}

func newField(_, head *side) {
	user := head.types[1]
	user["fields"] = append(user["fields"].([]object), field("nick", "string", nil))
}

// noNames drops a field of users from head's types.
func noNames(_, head *side) {
	user := head.types[1]
	user["fields"] = []object{field("email", "string", nil)}
}

var stateCases = []rungCase{
	{"field not read", asks("", "names.graphql"), email, "skip fields", plan.CodeNoReadField, ""},
	{"field of one query", asks("", "names.graphql", "emails.graphql"), email, "run state it", plan.CodeStateDiffers, ""},
	{"nothing it may read, with queries", asks("", "names.graphql"), elsewhere, "skip schema", plan.CodeNoAllowedFile, ""},
	{"state differs", asks("", "names.graphql"), rename, "run state it", plan.CodeStateDiffers, ""},
	{"state differs by reference", asks("", "everyone.graphql"), func(_, head *side) {
		head.at("/groups/dev.yml")["account"] = "three"
	},
		"run state it", plan.CodeStateDiffers, ""},
	{"state differs by back reference", asks("", "members.graphql"), func(_, head *side) {
		head.at("/users/bob.yml")["roles"] = list{}
	},
		"run state it", plan.CodeStateDiffers, ""},
	{"read but not reached", asks("", "members.graphql"), both(func(s *side) { s.at("/users/bob.yml")["roles"] = list{} },
		func(_, head *side) { head.at("/users/bob.yml")["name"] = "rob" }), "skip state", plan.CodeSameState, ""},
	{"order ignored", asks("", "roles.graphql"), func(_, head *side) {
		head.at("/roles/dev.yml")["tags"] = list{"y", "x"}
	},
		"skip state", plan.CodeSameState, ""},
	{"order significant", asks(", list_order: significant", "roles.graphql"), func(_, head *side) {
		head.at("/roles/dev.yml")["tags"] = list{"y", "x"}
	},
		"run state it", plan.CodeStateDiffers, ""},
	{"null where nothing was, below a filter", asks("", "grouped.graphql"),
		both(noGroups, func(_, head *side) { head.at("/roles/dev.yml")["groups"] = nil }),
		"run state it", plan.CodeStateUnproven, ""},
	{"something where nothing was, below a filter by an unknown key", asks("", "sized.graphql"),
		both(noGroups, func(_, head *side) { head.at("/roles/dev.yml")["groups"] = list{object{"$ref": "/groups/dev.yml"}} }),
		"run state it", plan.CodeStateUnproven, ""},
	{"something where nothing was, below a filter that fails inside", asks("", "inside.graphql"),
		both(noGroups, func(_, head *side) { head.at("/roles/dev.yml")["groups"] = list{object{"$ref": "/groups/dev.yml"}} }),
		"run state it", plan.CodeStateUnproven, ""},
	{"the first datafile of a filter by an unknown key", asks("", "weighed.graphql"),
		both(func(s *side) {
			for _, name := range []string{"dev", "ops"} {
				delete(s.data, "/roles/"+name+".yml")
			}
			s.at("/users/ana.yml")["roles"], s.at("/users/bob.yml")["roles"] = list{}, list{}
		}, func(_, head *side) { head.data["/roles/new.yml"] = object{"$schema": "/role-1.yml", "name": "new"} }),
		"run state it", plan.CodeStateUnproven, ""},
	{"file added", asks("", "names.graphql"), func(_, head *side) {
		head.data["/users/new.yml"] = object{"$schema": "/user-1.yml", "name": "new"}
	},
		"run state it", plan.CodeStateDiffers, ""},
	{"file removed", asks("", "names.graphql"), func(_, head *side) { delete(head.data, "/users/bob.yml") },
		"run state it", plan.CodeStateDiffers, ""},
	{"resource read", asks("", "templates.graphql"), func(_, head *side) {
		head.resources["/t.txt"] = resource("/t.txt", "new", nil)
	},
		"run state it", plan.CodeStateDiffers, ""},
	{"resource not read", asks("", "roles.graphql"), func(_, head *side) {
		head.resources["/t.txt"] = resource("/t.txt", "new", nil)
	},
		"skip fields", plan.CodeNoReadField, ""},
	{"resource that nobody claims, with queries", asks("", "roles.graphql"),
		func(_, head *side) { head.resources["/lone.txt"] = resource("/lone.txt", "new", nil) }, "skip schema",
		plan.CodeNoAllowedFile, ""},
	{"JSON schema, with queries", asks("", "names.graphql"), func(_, head *side) {
		head.schemas["/user-1.yml"] = object{"version": 2}
	},
		"skip state", plan.CodeSameState, ""},
	{"GraphQL type, with queries", asks("", "names.graphql"), newField, "skip state", plan.CodeSameState, ""},
	{"GraphQL type and state", asks("", "names.graphql"), func(base, head *side) {
		newField(base, head)
		rename(base, head)
	},
		"run state it", plan.CodeStateDiffers, ""},
	{"query that head rejects", asks("", "names.graphql"), noNames, "run fields it", plan.CodeStateUnproven,
		"head rejects it"},
	{"query that base rejects", asks("", "names.graphql"), func(base, _ *side) { noNames(nil, base) }, "run fields it",
		plan.CodeStateUnproven, "base rejects it"},
	{"error on head", asks("", "names.graphql"), func(_, head *side) { delete(head.at("/users/ana.yml"), "name") },
		"run state it", plan.CodeStateUnproven, "head answers with an error"},
	{"error on base", asks("", "names.graphql"), func(base, _ *side) { delete(base.at("/users/ana.yml"), "name") },
		"run state it", plan.CodeStateUnproven, "base answers with an error"},
	{"reads more than it may", asks("", "names.graphql"), both(func(s *side) {
		s.at("/it.yml")["schemas"] = list{"/role-1.yml"}
	}, rename),
		"run state it", plan.CodeStateDiffers, ""},
}

// crowd gives the role dev n groups more, each in an account of its own.
func crowd(s *side, n, size int) {
	dev := s.at("/roles/dev.yml")
	for i := range n {
		path := fmt.Sprintf("/groups/%03d.yml", i)
		if s.data[path] == nil {
			dev["groups"] = append(dev["groups"].(list), object{"$ref": path})
		}
		s.data[path] = object{"$schema": "/group-1.yml", "name": "x", "account": fmt.Sprint(i), "size": size}
	}
}

var shardCases = []rungCase{
	{"one shard", byAccount(""), resize, "shards shards it/two", plan.CodeShardsDiffer, `shard "two" only`},
	{"two shards", byAccount(""), func(base, head *side) { resize(base, head); head.at("/groups/dev.yml")["size"] = 2 },
		"shards shards it/one it/two", plan.CodeShardsDiffer, `shards ["one" "two"] only`},
	{"as many as allowed", byAccount(", max: 2"), func(base, head *side) {
		resize(base, head)
		head.at("/groups/dev.yml")["size"] = 2
	},
		"shards shards it/one it/two", plan.CodeShardsDiffer, ""},
	{"more than allowed", byAccount(", max: 1"), func(base, head *side) {
		resize(base, head)
		head.at("/groups/dev.yml")["size"] = 2
	},
		"run shards it", plan.CodeTooManyShards, "2 shards, more than the 1"},
	{"shard added", byAccount(""), func(_, head *side) {
		head.data["/groups/new.yml"] = object{"$schema": "/group-1.yml", "name": "new", "account": "new", "size": 1}
		dev := head.at("/roles/dev.yml")
		dev["groups"] = append(dev["groups"].(list), object{"$ref": "/groups/new.yml"})
	}, "shards shards it/new", plan.CodeShardsDiffer, `shard "new" only`},
	{"shard moved", byAccount(""), func(_, head *side) { head.at("/groups/dev.yml")["account"] = "new" },
		"shards shards it/new it/one", plan.CodeShardsDiffer, ""},
	{"rest of an ancestor", byAccount(""), func(_, head *side) { head.at("/roles/dev.yml")["name"] = "new" },
		"shards shards it/one", plan.CodeShardsDiffer, ""},
	{"no key", byAccount(""), func(_, head *side) { head.at("/groups/dev.yml")["account"] = "" }, "run shards it",
		plan.CodeNotByShard, ""},
	{"key that the runner would fill in", byAccount(""), both(func(s *side) {
		s.at("/groups/ops.yml")["account"] = "{task}"
	}, resize),
		"run shards it", plan.CodeNotByShard, "a key with braces"},
	{"fan out", byAccount(", max: 1, fan_out: true"), func(base, head *side) {
		resize(base, head)
		head.at("/groups/dev.yml")["size"] = 2
	},
		"run shards it-wrapper/one it-wrapper/two", plan.CodeTooManyShards, "fanned out over its 2 shards"},
	{"fan out, always_run", byAccount(", fan_out: true"), both(func(s *side) { s.check()["always_run"] = true },
		elsewhere),
		"run definition it-wrapper/one it-wrapper/two", plan.CodeAlwaysRun, "always_run; fanned out"},
	{"fan out, too far", byAccount(", max: 1, fan_out: true"),
		both(func(s *side) { crowd(s, 501, 1) }, func(_, head *side) { crowd(head, 2, 2) }),
		"run shards it", plan.CodeTooManyShards, "2 shards, more than the 1"},
	{"fan out, one shard affected", byAccount(", fan_out: true"), resize, "shards shards it/two", plan.CodeShardsDiffer,
		""},
	{"fan out, keys unknown", byAccount(", fan_out: true"), func(_, head *side) {
		head.at("/groups/dev.yml")["account"] = ""
	},
		"run shards it", plan.CodeNotByShard, ""},
	{"fan out, name taken", byAccount(", fan_out: true"),
		both(func(s *side) { s.check()["always_run"], s.data["/w.yml"] = true, definition("it-wrapper", nil) }, elsewhere),
		"run definition it", plan.CodeAlwaysRun, ""},
	{"fan out, no trusted command", byAccount(", fan_out: true"), func(base, _ *side) { delete(base.data, "/it.yml") },
		"run definition it", plan.CodeNewDefinition, ""},
	{"fan out, trusted", byAccount(", fan_out: true") + "trust: {new_integrations: true}\n", func(base, _ *side) {
		delete(base.data, "/it.yml")
	},
		"run definition it-wrapper/one it-wrapper/two", plan.CodeNewDefinition, ""},
}

func TestDefinition(t *testing.T) { climb(t, definitionCases) }
func TestSchema(t *testing.T)     { climb(t, schemaCases) }
func TestState(t *testing.T)      { climb(t, stateCases) }
func TestShards(t *testing.T)     { climb(t, shardCases) }

// climb makes a plan for each case and holds it to the laws.
func climb(t *testing.T, cases []rungCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			base, head := world(), world()
			tt.change(base, head)
			in := input(t, base, head, tt.settings)
			p := made(t, in)
			d, ok := p.Decision("it")
			if got := brief(d); !ok || got != tt.want || !because(d, tt.code, tt.words) {
				t.Errorf("got  %s: %s: %s\nwant %s: %s: … %s", got, d.Code, d.Reason, tt.want, tt.code, tt.words)
			}
			laws(t, in, p)
			twice := made(t, input(t, base, head, tt.settings))
			if got, want := text(t, twice), text(t, p); got != want {
				t.Errorf("the same input gives another plan\ngot  %s\nwant %s", got, want)
			}
		})
	}
}

func text(t *testing.T, p *plan.Plan) string {
	t.Helper()
	var out strings.Builder
	if err := plan.Write(&out, p); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
