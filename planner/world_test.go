package planner_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

type object = map[string]any
type list = []any

// A side is one bundle as Go values.
type side struct {
	data, resources, schemas object
	types                    []object
}

// world returns a fresh side: two users, three roles in two accounts, and the
// integration "it", which may read them all.
func world() *side {
	ref := func(path string) object { return object{"$ref": path} }
	return &side{
		data: object{
			"/it.yml": definition("it", object{"cmd": "it"}),
			"/users/ana.yml": object{"$schema": "/user-1.yml", "name": "ana", "email": "a@x",
				"roles": list{ref("/roles/dev.yml"), ref("/roles/ops.yml")}},
			"/users/bob.yml": object{"$schema": "/user-1.yml", "name": "bob", "email": "b@x",
				"roles": list{ref("/roles/ops.yml")}},
			"/roles/dev.yml": object{"$schema": "/role-1.yml", "name": "dev", "tags": list{"x", "y"},
				"groups": list{ref("/groups/dev.yml")}},
			"/roles/ops.yml": object{"$schema": "/role-1.yml", "name": "ops", "tags": list{"x", "y"},
				"groups": list{ref("/groups/ops.yml")}},
			"/groups/dev.yml": object{"$schema": "/group-1.yml", "name": "dev", "account": "one", "template": "/t.txt",
				"size": 1},
			"/groups/ops.yml": object{"$schema": "/group-1.yml", "name": "ops", "account": "two", "template": "/t.txt",
				"size": 1},
			"/others/else.yml": object{"$schema": "/other-1.yml", "name": "else"},
		},
		resources: object{
			"/t.txt":    resource("/t.txt", "text", nil),
			"/lone.txt": resource("/lone.txt", "text", nil),
			"/own.yml":  resource("/own.yml", "text", "/res-1.yml"),
		},
		schemas: object{"/user-1.yml": object{"version": 1}},
		types: []object{
			kind("Integration_v1", "/app-sre/integration-1.yml", field("name", "string", nil)),
			kind("User_v1", "/user-1.yml", field("path", "string", nil), field("name", "string", object{"isRequired": true}),
				field("email", "string", nil), field("roles", "Role_v1", object{"isList": true})),
			kind("Role_v1", "/role-1.yml", field("name", "string", nil), field("tags", "string", object{"isList": true}),
				field("groups", "Group_v1", object{"isList": true}),
				field("users", "User_v1",
					object{"isList": true, "synthetic": object{"schema": "/user-1.yml", "subAttr": "roles"}})),
			kind("Group_v1", "/group-1.yml", field("name", "string", nil), field("account", "string", nil),
				field("size", "int", nil),
				field("template", "string", object{"isResource": true, "resolveResource": true})),
			kind("Resource_v1", "", field("path", "string", nil), field("content", "string", nil)),
			kind("Query", "", field("users", "User_v1", object{"isList": true, "datafileSchema": "/user-1.yml"}),
				field("roles", "Role_v1", object{"isList": true, "datafileSchema": "/role-1.yml"}),
				field("groups", "Group_v1", object{"isList": true, "datafileSchema": "/group-1.yml"}),
				field("resources", "Resource_v1", object{"isList": true, "isRequired": true, "isResource": true})),
		},
	}
}

func definition(name string, check object) object {
	d := object{"$schema": "/app-sre/integration-1.yml", "name": name, "description": "x",
		"schemas": list{"/user-1.yml", "/role-1.yml", "/group-1.yml"}}
	if check != nil {
		d["pr_check"] = check
	}
	return d
}

func resource(path, content string, schema any) object {
	return object{"path": path, "content": content, "sha256sum": fmt.Sprintf("%x", content), "$schema": schema}
}

func field(name, kind string, more object) object {
	f := object{"name": name, "type": kind}
	for k, v := range more {
		f[k] = v
	}
	return f
}

func kind(name, schema string, fields ...object) object {
	t := object{"name": name, "fields": fields}
	if schema != "" {
		t["datafile"] = schema
	}
	return t
}

// at gives the datafile of a path, to be changed.
func (s *side) at(path string) object { return s.data[path].(object) }

// check gives the pr_check of "it", to be changed.
func (s *side) check() object { return s.at("/it.yml")["pr_check"].(object) }

func (s *side) bundle(t testing.TB, like *bundle.Bundle) *bundle.Bundle {
	t.Helper()
	b, err := s.parse(like)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (s *side) parse(like *bundle.Bundle) (*bundle.Bundle, error) {
	raw, err := json.Marshal(object{
		"data": s.data, "resources": s.resources, "schemas": s.schemas,
		"graphql": object{"confs": s.types}, "git_commit": "abc",
	})
	if err != nil {
		return nil, err
	}
	return bundle.Parse(raw, like)
}

// queries are the query files beside the settings.
var queries = map[string]string{
	"names.graphql":     "{ users { name } }",
	"people.graphql":    "{ users { name email } }",
	"roles.graphql":     "{ roles { name tags groups { name account size } } }",
	"members.graphql":   "{ roles { name users { name } } }",
	"emails.graphql":    "{ users { email } }",
	"groups.graphql":    "{ groups { name account size } }",
	"labels.graphql":    "{ groups { name labels } }", // which the world does not have
	"templates.graphql": "{ groups { name template { content } } }",
	"everyone.graphql":  "{ users { name roles { groups { account } } } }",
	"grouped.graphql":   "{ roles(filter: {groups: {filter: {}}}) { name } }",
	"sized.graphql":     "{ roles(filter: {groups: {filter: {weight: 1}}}) { name } }",
	"inside.graphql":    "{ roles(filter: {groups: {filter: {name: {filter: {}}}}}) { name } }",
	"weighed.graphql":   "{ roles(filter: {name: \"none\", weight: 1}) { name } }",
	"syntax.graphql":    "{ users { name }",
	"unknown.graphql":   "{ users { nam } }",
}

// exec begins all settings that can start something.
const exec = "version: 1\nexec: {argv: [run, \"{cmd}\", \"{shard_args}\"]}\n"

// asks are settings of "it" that declare queries.
func asks(more string, files ...string) string {
	return exec + "integrations: {it: {queries: [" + strings.Join(files, ", ") + "]" + more + "}}\n"
}

// byAccount shards "it" by account.
func byAccount(more string) string {
	return asks(`, shards: {by: ["roles[*].groups[*].account"], arg: --account`+more+"}", "roles.graphql")
}

// input is the input of a plan.
func input(t testing.TB, base, head *side, rules string, natives ...integration.DryRunner) planner.Input {
	t.Helper()
	s := &settings.Settings{}
	if rules != "" {
		var err error
		if s, err = settings.Read("prcheck.yaml", []byte(rules)); err != nil {
			t.Fatal(err)
		}
	}
	b := base.bundle(t, nil)
	return planner.Input{
		Base: b, Head: head.bundle(t, b), BaseRef: "base.json", HeadRef: "head.json", Settings: s, Natives: natives,
		ReadQuery: func(path string) ([]byte, error) {
			if text, ok := queries[path]; ok {
				return []byte(text), nil
			}
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		},
	}
}

func made(t testing.TB, in planner.Input) *plan.Plan {
	t.Helper()
	p, err := planner.Make(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// because tells whether a decision has this code, and these words in its reason.
func because(d plan.Decision, code plan.Code, words string) bool {
	return d.Code == code && strings.Contains(d.Reason, words)
}

// brief is a decision in one line: action, rung, tasks.
func brief(d plan.Decision) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", d.Decision, d.Rung, strings.Join(d.Tasks, " ")))
}
