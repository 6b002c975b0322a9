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
	want     string                 // verdict, rung, tasks
	reason   string                 // is in the reason
}

func email(_, head *side)  { head.at("/users/ana.yml")["email"] = "new@x" }
func rename(_, head *side) { head.at("/users/ana.yml")["name"] = "anna" }
func resize(_, head *side) { head.at("/groups/ops.yml")["size"] = 2 }
func elsewhere(_, head *side) {
	head.at("/others/else.yml")["name"] = "new"
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

var definitionCases = []rungCase{
	{"no pr_check", exec, both(func(s *side) { delete(s.at("/it.yml"), "pr_check") }, rename), "skip definition", "it has no pr_check"},
	{"disabled", exec, both(func(s *side) { s.check()["disabled"] = true }, rename), "skip definition", "disabled"},
	{"disabled goes before always_run", exec, both(func(s *side) { s.check()["disabled"], s.check()["always_run"] = true, true }, rename),
		"skip definition", "disabled"},
	{"always_run", exec, both(func(s *side) { s.check()["always_run"] = true }, elsewhere), "run definition it", "always_run"},
	{"always_run goes before queries", asks("", "names.graphql"), both(func(s *side) { s.check()["always_run"] = true }, email),
		"run definition it", "always_run"},
	{"pr_check changed", asks("", "names.graphql"), func(_, head *side) { head.check()["cmd"] = "evil" },
		"run definition it", "its own definition changed (pr_check); it runs as base defines it"},
	{"schemas changed", exec, func(_, head *side) { head.at("/it.yml")["schemas"] = list{} }, "run definition it", "(schemas)"},
	{"managed changed", exec, func(_, head *side) { head.at("/it.yml")["managed"] = list{object{"x": 1}} }, "run definition it", "(managed)"},
	{"description changed", exec, func(_, head *side) { head.at("/it.yml")["description"] = "y" },
		"skip schema", "no changed file has one of the 3 schemas it may read"},
	{"changed goes before always_run", exec, both(func(s *side) { s.check()["always_run"] = true }, func(_, head *side) { head.check()["cmd"] = "x" }),
		"run definition it", "its own definition changed"},
	{"disabled on head", exec, func(_, head *side) { head.check()["disabled"] = true }, "run definition it", "runs as base defines it"},
	{"pr_check removed on head", exec, func(_, head *side) { delete(head.at("/it.yml"), "pr_check") }, "run definition it", "(pr_check)"},
	{"pr_check new on head", exec, func(base, _ *side) { delete(base.at("/it.yml"), "pr_check") },
		"run definition it", "only head gives it a pr_check"},
	{"new", exec, func(base, _ *side) { delete(base.data, "/it.yml") }, "run definition it", "it is new: only head defines it"},
	{"new and disabled", exec, func(base, head *side) { delete(base.data, "/it.yml"); head.check()["disabled"] = true },
		"skip definition", "it is new and its pr_check is disabled"},
	{"removed", exec, func(_, head *side) { delete(head.data, "/it.yml") }, "skip definition", "head removes its definition"},
	{"moved", exec, func(_, head *side) { head.data["/moved.yml"] = head.data["/it.yml"]; delete(head.data, "/it.yml") },
		"skip schema", "no changed file"},
}

var schemaCases = []rungCase{
	{"nothing", exec, both(func(s *side) { s.check()["always_run"] = true }, nil), "skip schema", "base and head are the same bundle"},
	{"nothing it may read", exec, elsewhere, "skip schema", "no changed file has one of the 3 schemas it may read"},
	{"no queries", exec, email, "run schema it", "it may read /users/ana.yml, which changed"},
	{"old schema counts", exec, func(_, head *side) { head.at("/users/ana.yml")["$schema"] = "/other-1.yml" }, "run schema it", "it may read /users/ana.yml, which changed"},
	{"metadata", exec, func(_, head *side) { head.at("/users/ana.yml")["$file_sha256sum"] = "1" }, "skip schema", "nothing but metadata changed"},
	{"schemas not enforced", exec, both(func(s *side) { s.check()["no_validate_schemas"] = true }, elsewhere), "run schema it", "not enforced"},
	{"ignored", exec + "paths: {ignore: ['data/users/**']}\n", email, "skip schema", "every change lies under paths.ignore"},
	{"ignored goes before always_run", exec + "paths: {ignore: ['data/users/**']}\n",
		both(func(s *side) { s.check()["always_run"] = true }, email), "skip schema", "paths.ignore"},
	{"not all ignored", exec + "paths: {ignore: ['data/users/**']}\n",
		func(base, head *side) { email(base, head); elsewhere(base, head) }, "run schema it", "/users/ana.yml"},
	{"rule", exec + "paths: {select: [{when: ['data/others/**'], run: [it]}]}\n", elsewhere,
		"run schema it", "a paths rule names it: data/others/** covers data/others/else.yml"},
	{"rule goes before queries", asks("", "names.graphql") + "paths: {select: [{when: ['data/others/*'], run: [it]}]}\n", elsewhere,
		"run schema it", "a paths rule names it"},
	{"disabled goes before a rule", exec + "paths: {select: [{when: ['data/others/**'], run: [it]}]}\n",
		both(func(s *side) { s.check()["disabled"] = true }, elsewhere), "skip definition", "disabled"},
	{"rule for a resource", exec + "paths: {select: [{when: ['resources/own.*'], run: [it]}]}\n",
		func(_, head *side) { head.resources["/own.yml"] = resource("/own.yml", "new", "/res-1.yml") },
		"run schema it", "resources/own.* covers resources/own.yml"},
	{"resource of another schema", exec, func(_, head *side) { head.resources["/own.yml"] = resource("/own.yml", "new", "/res-1.yml") },
		"skip schema", "no changed file"},
	{"resource of its schema", exec, both(func(s *side) { s.at("/it.yml")["schemas"] = list{"/res-1.yml"} },
		func(_, head *side) { head.resources["/own.yml"] = resource("/own.yml", "new", "/res-1.yml") }), "run schema it", "it may read /own.yml, which changed"},
	{"resource that a file mentions", exec, func(_, head *side) { head.resources["/t.txt"] = resource("/t.txt", "new", nil) },
		"run schema it", "it may read /t.txt, which changed"},
	{"resource that nobody claims", exec, func(_, head *side) { head.resources["/lone.txt"] = resource("/lone.txt", "new", nil) },
		"run schema it", "no schema, datafile or paths rule tells who reads it"},
	{"JSON schema", exec, func(_, head *side) { head.schemas["/user-1.yml"] = object{"version": 2} }, "run schema it", "/user-1.yml changed, and without queries"},
	{"GraphQL type", exec, newField, "run schema it", "User_v1 changed, and without queries"},
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
	{"field not read", asks("", "names.graphql"), email, "skip fields", "its queries read no field that changed"},
	{"field of one query", asks("", "names.graphql", "emails.graphql"), email, "run state it", "differs between base and head"},
	{"nothing it may read, with queries", asks("", "names.graphql"), elsewhere, "skip schema", "no changed file"},
	{"state differs", asks("", "names.graphql"), rename, "run state it", "its desired state differs"},
	{"state differs by reference", asks("", "everyone.graphql"), func(_, head *side) { head.at("/groups/dev.yml")["account"] = "three" },
		"run state it", "its desired state differs"},
	{"state differs by back reference", asks("", "members.graphql"), func(_, head *side) { head.at("/users/bob.yml")["roles"] = list{} },
		"run state it", "its desired state differs"},
	{"read but not reached", asks("", "members.graphql"), both(func(s *side) { s.at("/users/bob.yml")["roles"] = list{} },
		func(_, head *side) { head.at("/users/bob.yml")["name"] = "rob" }), "skip state", "is the same"},
	{"order ignored", asks("", "roles.graphql"), func(_, head *side) { head.at("/roles/dev.yml")["tags"] = list{"y", "x"} },
		"skip state", "its desired state is the same"},
	{"order significant", asks(", list_order: significant", "roles.graphql"), func(_, head *side) { head.at("/roles/dev.yml")["tags"] = list{"y", "x"} },
		"run state it", "its desired state differs"},
	{"file added", asks("", "names.graphql"), func(_, head *side) { head.data["/users/new.yml"] = object{"$schema": "/user-1.yml", "name": "new"} },
		"run state it", "its desired state differs"},
	{"file removed", asks("", "names.graphql"), func(_, head *side) { delete(head.data, "/users/bob.yml") }, "run state it", "differs"},
	{"resource read", asks("", "templates.graphql"), func(_, head *side) { head.resources["/t.txt"] = resource("/t.txt", "new", nil) },
		"run state it", "differs"},
	{"resource not read", asks("", "roles.graphql"), func(_, head *side) { head.resources["/t.txt"] = resource("/t.txt", "new", nil) },
		"skip fields", "read no field"},
	{"resource that nobody claims, with queries", asks("", "roles.graphql"),
		func(_, head *side) { head.resources["/lone.txt"] = resource("/lone.txt", "new", nil) }, "skip schema", "no changed file"},
	{"JSON schema, with queries", asks("", "names.graphql"), func(_, head *side) { head.schemas["/user-1.yml"] = object{"version": 2} },
		"skip state", "its desired state is the same"},
	{"GraphQL type, with queries", asks("", "names.graphql"), newField, "skip state", "its desired state is the same"},
	{"GraphQL type and state", asks("", "names.graphql"), func(base, head *side) { newField(base, head); rename(base, head) },
		"run state it", "differs"},
	{"query that head rejects", asks("", "names.graphql"), noNames, "run fields it", "head rejects it"},
	{"query that base rejects", asks("", "names.graphql"), func(base, _ *side) { noNames(nil, base) }, "run fields it", "base rejects it"},
	{"error on head", asks("", "names.graphql"), func(_, head *side) { delete(head.at("/users/ana.yml"), "name") },
		"run state it", "head answers with an error"},
	{"error on base", asks("", "names.graphql"), func(base, _ *side) { delete(base.at("/users/ana.yml"), "name") },
		"run state it", "base answers with an error"},
	{"reads more than it may", asks("", "names.graphql"), both(func(s *side) { s.at("/it.yml")["schemas"] = list{"/role-1.yml"} }, rename),
		"run state it", "differs"},
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
	{"one shard", byAccount(""), resize, "shards shards it/two", `shard "two" only`},
	{"two shards", byAccount(""), func(base, head *side) { resize(base, head); head.at("/groups/dev.yml")["size"] = 2 },
		"shards shards it/one it/two", `shards ["one" "two"] only`},
	{"as many as allowed", byAccount(", max: 2"), func(base, head *side) { resize(base, head); head.at("/groups/dev.yml")["size"] = 2 },
		"shards shards it/one it/two", "only"},
	{"more than allowed", byAccount(", max: 1"), func(base, head *side) { resize(base, head); head.at("/groups/dev.yml")["size"] = 2 },
		"run shards it", "2 shards, more than the 1"},
	{"shard added", byAccount(""), func(_, head *side) {
		head.data["/groups/new.yml"] = object{"$schema": "/group-1.yml", "name": "new", "account": "new", "size": 1}
		dev := head.at("/roles/dev.yml")
		dev["groups"] = append(dev["groups"].(list), object{"$ref": "/groups/new.yml"})
	}, "shards shards it/new", `shard "new" only`},
	{"shard moved", byAccount(""), func(_, head *side) { head.at("/groups/dev.yml")["account"] = "new" },
		"shards shards it/new it/one", "only"},
	{"rest of an ancestor", byAccount(""), func(_, head *side) { head.at("/roles/dev.yml")["name"] = "new" }, "shards shards it/one", "only"},
	{"no key", byAccount(""), func(_, head *side) { head.at("/groups/dev.yml")["account"] = "" }, "run shards it", "not for single shards only"},
	{"key that the runner would fill in", byAccount(""), both(func(s *side) { s.at("/groups/ops.yml")["account"] = "{task}" }, resize),
		"run shards it", "a key with braces"},
	{"fan out", byAccount(", max: 1, fan_out: true"), func(base, head *side) { resize(base, head); head.at("/groups/dev.yml")["size"] = 2 },
		"run shards it-wrapper/one it-wrapper/two", "fanned out over its 2 shards"},
	{"fan out, always_run", byAccount(", fan_out: true"), both(func(s *side) { s.check()["always_run"] = true }, elsewhere),
		"run definition it-wrapper/one it-wrapper/two", "always_run; fanned out"},
	{"fan out, too far", byAccount(", max: 1, fan_out: true"), both(func(s *side) { crowd(s, 501, 1) }, func(_, head *side) { crowd(head, 2, 2) }),
		"run shards it", "2 shards, more than the 1"},
	{"fan out, one shard affected", byAccount(", fan_out: true"), resize, "shards shards it/two", "only"},
	{"fan out, keys unknown", byAccount(", fan_out: true"), func(_, head *side) { head.at("/groups/dev.yml")["account"] = "" },
		"run shards it", "not for single shards only"},
	{"fan out, name taken", byAccount(", fan_out: true"),
		both(func(s *side) { s.check()["always_run"], s.data["/w.yml"] = true, definition("it-wrapper", nil) }, elsewhere), "run definition it", "always_run"},
	{"fan out, no trusted command", byAccount(", fan_out: true"), func(base, _ *side) { delete(base.data, "/it.yml") },
		"run definition it", "it is new"},
	{"fan out, trusted", byAccount(", fan_out: true") + "trust: {new_integrations: true}\n", func(base, _ *side) { delete(base.data, "/it.yml") },
		"run definition it-wrapper/one it-wrapper/two", "it is new"},
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
			if got := brief(d); !ok || got != tt.want || !strings.Contains(d.Reason, tt.reason) {
				t.Errorf("got  %s: %s\nwant %s: %s", got, d.Reason, tt.want, tt.reason)
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
