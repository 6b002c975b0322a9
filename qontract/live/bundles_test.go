package live_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/live"
	"github.com/app-sre/prcheck/settings"
)

type object = map[string]any
type list = []any

// world returns a bundle with everything that is hard to read from a server: back
// references (one of them without files), an interface, files without a root field,
// resources with GraphQL objects, errors in answers, and references to missing files.
func world() object {
	ref := func(path string) object { return object{"$ref": path} }
	field := func(name, kind string, flags ...string) object {
		f := object{"name": name, "type": kind}
		for _, flag := range flags {
			f[flag] = true
		}
		return f
	}
	with := func(f object, key string, value any) object { f[key] = value; return f }
	kind := func(name string, fields ...object) object { return object{"name": name, "fields": fields} }
	back := func(f object, schema, attr string) object {
		return with(f, "synthetic", object{"schema": schema, "subAttr": attr})
	}
	path := field("path", "string", "isRequired")
	root := func(name, kind, schema string, flags ...string) object {
		return with(field(name, kind, append(flags, "isList")...), "datafileSchema", schema)
	}
	return object{
		"git_commit": "abc", "git_commit_timestamp": "1700000000", "schemas": object{"/user-1.yml": object{"version": 1}},
		"data": object{
			"/users/ana.yml":      object{"$schema": "/user-1.yml", "name": "ana", "roles": list{ref("/roles/dev.yml")}, "note": object{"2": 1.5, "10": "/hidden/1.yml"}},
			"/users/bob.yml":      object{"$schema": "/user-1.yml", "name": "bob", "roles": list{ref("/roles/ops.yml"), ref("/roles/gone.yml")}},
			"/users/nameless.yml": object{"$schema": "/user-1.yml", "roles": list{ref("/roles/ops.yml")}},
			"/roles/dev.yml":      object{"$schema": "/role-1.yml", "name": "dev", "grants": list{object{"kind": "aws", "account": "one"}, object{"kind": "quay", "org": "x"}}},
			"/roles/ops.yml":      object{"$schema": "/role-1.yml", "name": "ops", "grants": list{object{"kind": "aws", "account": "two"}}, "hidden": ref("/hidden/1.yml")},
			"/hidden/1.yml":       object{"$schema": "/hidden-1.yml", "name": "hidden", "template": "/t.txt", "owner": object{"role": ref("/roles/dev.yml")}},
			"/hidden/lone 2.yml":  object{"$schema": "/hidden-1.yml", "name": "alone", "owner": object{"role": ref("/roles/dev.yml")}},
		},
		"resources": object{
			"/t.txt":   object{"path": "/t.txt", "content": "text", "sha256sum": "1", "$schema": nil, "backrefs": list{object{"path": "/hidden/1.yml", "datafileSchema": "/hidden-1.yml", "jsonpath": "template"}}},
			"/own.yml": object{"path": "/own.yml", "content": "text", "sha256sum": "2", "$schema": "/res-1.yml", "backrefs": list{}},
		},
		"graphql": object{"confs": list{
			with(kind("Integration_v1", path, field("name", "string")), "datafile", settings.DefinitionSchema),
			with(object{"name": "DatafileObject_v1", "isInterface": true, "interfaceResolve": object{"strategy": "schema"}}, "fields", list{path}),
			with(kind("User_v1", path, field("name", "string", "isRequired", "isSearchable"), field("note", "json"), field("roles", "Role_v1", "isList")), "datafile", "/user-1.yml"),
			with(kind("Role_v1", path, field("name", "string", "isRequired"), field("grants", "Grant_v1", "isList", "isInterface"), field("hidden", "Hidden_v1"),
				back(field("users", "User_v1", "isList"), "/user-1.yml", "roles"), back(field("owned", "Hidden_v1", "isList"), "/hidden-1.yml", "owner.role"),
				back(field("teams", "Team_v1", "isList"), "/team-1.yml", "roles")), "datafile", "/role-1.yml"),
			object{"name": "Grant_v1", "isInterface": true, "fields": list{field("kind", "string", "isRequired")},
				"interfaceResolve": object{"strategy": "fieldMap", "field": "kind", "fieldMap": object{"aws": "Aws_v1", "quay": "Quay_v1"}}},
			with(kind("Aws_v1", field("kind", "string", "isRequired"), field("account", "string")), "interface", "Grant_v1"),
			with(kind("Quay_v1", field("kind", "string", "isRequired"), field("org", "string")), "interface", "Grant_v1"),
			with(kind("Hidden_v1", path, field("name", "string"), field("template", "string", "isResource", "resolveResource")), "datafile", "/hidden-1.yml"),
			with(kind("Team_v1", path, field("name", "string"), field("roles", "Role_v1", "isList")), "datafile", "/team-1.yml"),
			kind("Backref_v1", field("path", "string"), field("datafileSchema", "string"), field("jsonpath", "string"), field("type", "string", "isRequired")),
			kind("Resource_v1", path, field("schema", "string"), field("sha256sum", "string", "isRequired"), field("content", "string", "isRequired"), field("backrefs", "Backref_v1", "isList")),
			kind("Query", root("integrations", "Integration_v1", string(settings.DefinitionSchema)), root("users", "User_v1", "/user-1.yml"), root("roles", "Role_v1", "/role-1.yml"),
				root("teams", "Team_v1", "/team-1.yml"), field("resources", "Resource_v1", "isList", "isRequired", "isResource")),
		}},
	}
}

var worldQueries = []string{
	`{ users { path roles { name } } }`,
	`{ users { name } }`, // one user has no name, which is an error
	`query Q($p: String = "/users/ana.yml") { users(path: $p) { name note } roles { name } }`,
	`{ roles { name users { path } } }`,
	`{ roles { name grants { kind ... on Aws_v1 { account } } } }`,
	`{ roles { owned { name template { content } } teams { name } } }`,
	`{ roles(filter: {name: {ne: "x"}}) { hidden { name template { sha256sum schema backrefs { path } } } } }`,
	`{ resources { path schema } teams { name roles { name } } }`,
	`query A($v: Boolean = false) { users @include(if: $v) @skip(if: $v) { name } roles { users { name } } ...F } fragment F on Query { users { note } }`,
	`{ users { note } x: roles { grants { kind } } }`,
}

// changes are single changes of the bundle.
var changes = map[string]func(w object){
	"nothing":                 func(object) {},
	"a name":                  func(w object) { at(w, "/users/ana.yml")["name"] = "anna" },
	"a name appears":          func(w object) { at(w, "/users/nameless.yml")["name"] = "n" },
	"a name where errors are": func(w object) { at(w, "/users/bob.yml")["name"] = "rob" },
	"a note":                  func(w object) { at(w, "/users/ana.yml")["note"] = object{"2": 2} },
	"a role less":             func(w object) { at(w, "/users/bob.yml")["roles"] = list{} },
	"a user less":             func(w object) { delete(w["data"].(object), "/users/ana.yml") },
	"a role goes":             func(w object) { delete(w["data"].(object), "/roles/ops.yml") },
	"a user more":             func(w object) { w["data"].(object)["/users/zoe.yml"] = object{"$schema": "/user-1.yml", "name": "zoe"} },
	"a team": func(w object) {
		w["data"].(object)["/teams/t.yml"] = object{"$schema": "/team-1.yml", "name": "t", "roles": list{object{"$ref": "/roles/dev.yml"}}}
	},
	"an account":          func(w object) { at(w, "/roles/dev.yml")["grants"] = list{object{"kind": "aws", "account": "three"}} },
	"a hidden name":       func(w object) { at(w, "/hidden/1.yml")["name"] = "seen" },
	"a lone one":          func(w object) { at(w, "/hidden/lone 2.yml")["name"] = "not alone" },
	"metadata":            func(w object) { at(w, "/users/ana.yml")["$file_sha256sum"] = "1" },
	"a resource":          func(w object) { r := resource(w, "/t.txt"); r["content"], r["sha256sum"] = "new", "3" },
	"a resource's schema": func(w object) { resource(w, "/own.yml")["$schema"] = "/res-2.yml" },
	"backrefs":            func(w object) { resource(w, "/t.txt")["backrefs"] = list{} },
	"a resource goes":     func(w object) { delete(w["resources"].(object), "/own.yml") },
}

func at(w object, path string) object       { return w["data"].(object)[path].(object) }
func resource(w object, path string) object { return w["resources"].(object)[path].(object) }

// written returns a bundle with one integration per query, which may read one schema, and
// one integration without a query.
func written(t *testing.T, w object) []byte {
	t.Helper()
	schemas := []string{"/user-1.yml", "/role-1.yml", "/hidden-1.yml", "/res-1.yml"}
	for i := range 2 * len(worldQueries) {
		name := fmt.Sprintf("it-%02d", i)
		w["data"].(object)["/integrations/"+name+".yml"] = object{"$schema": settings.DefinitionSchema, "name": name,
			"schemas": schemas[i%len(schemas):], "pr_check": object{"cmd": name}}
	}
	raw, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// For each change, the plans from files and from a server are the same.
func TestPlansOfChanges(t *testing.T) {
	rules := "version: 1\nexec: {argv: [run, '{cmd}', '{shard_args}']}\nintegrations:\n"
	for i, q := range worldQueries {
		more := ""
		if strings.HasPrefix(q, "{ roles") {
			more = ", shards: {by: ['roles[*].name'], arg: --role, max: 1}"
			if strings.Contains(q, "hidden {") || strings.Contains(q, "owned") {
				more = ", list_order: significant"
			}
		}
		rules += fmt.Sprintf("  it-%02d: {queries: ['%d']%s}\n", i, i, more)
	}
	s, err := settings.Read("prcheck.yaml", []byte(rules))
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) ([]byte, error) {
		var i int
		_, err := fmt.Sscan(name, &i)
		return []byte(worldQueries[i]), err
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			head := world()
			change(head)
			base := parse(t, written(t, world()), nil)
			p := same(t, base, parse(t, written(t, head), base), s, read)
			if len(p.Integrations) != 2*len(worldQueries) {
				t.Errorf("got %d integrations", len(p.Integrations))
			}
		})
	}
}

// The error for a bundle that the server does not have names the bundles that it has.
func TestUnknownBundle(t *testing.T) {
	base := parse(t, written(t, world()), nil)
	from, to := serve(t, base, base)
	to.SHA256 = strings.Repeat("f", 64)
	_, err := live.Open(t.Context(), from, to, live.Options{})
	var unknown *live.UnknownBundleError
	if !errors.As(err, &unknown) || unknown.SHA256 != to.SHA256 || !slices.Equal(unknown.Known, []string{strings.Repeat("0", 64)}) {
		t.Errorf("got %v", err)
	}
	if side := live.NewSide(to, live.Options{}); side.Answer(t.Context(), gqlRequest("{ users { name } }")).Status != 502 || !errors.As(side.Err(), &unknown) {
		t.Errorf("got %v", side.Err())
	}
	to.Server = "http://elsewhere.example"
	if _, err := live.Open(t.Context(), from, to, live.Options{}); err == nil || !strings.Contains(err.Error(), "one server must have both bundles") {
		t.Errorf("got %v", err)
	}
}

// Bundles from a server equal the bundle files, except for the JSON schemas and the contents
// of resources that did not change.
func TestBundles(t *testing.T) {
	base := parse(t, written(t, world()), nil)
	from, to := serve(t, base, base)
	b, err := live.Open(t.Context(), from, to, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if b.Base.Commit() != "abc" || b.Base.Timestamp() != "1700000000" || b.Base.SHA256() != base.SHA256() {
		t.Errorf("got %q, %q, %q", b.Base.Commit(), b.Base.Timestamp(), b.Base.SHA256())
	}
	for _, f := range base.Datafiles() {
		got, ok := b.Head.Datafile(f.Path)
		if !ok || !bundle.Equal(got.Object(), f.Object()) || bytes.Contains(got.Raw(), []byte(`"path":"`+f.Path)) {
			t.Errorf("%s: got %v", f.Path, ok)
		}
	}
	if len(b.Limitations()) == 0 {
		t.Error("got no limitations")
	}
}
