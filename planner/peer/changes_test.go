package peer_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/live"
	"github.com/app-sre/prcheck/settings"
)

type object = map[string]any
type list = []any

// world returns the bundle with everything that is hard to read from a server, see the tests of qontract/live.
func world(t *testing.T) (w object) {
	t.Helper()
	raw, err := os.ReadFile("../../qontract/live/testdata/world.json")
	if err == nil {
		err = json.Unmarshal(raw, &w)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
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
	"a user more": func(w object) {
		w["data"].(object)["/users/zoe.yml"] = object{"$schema": "/user-1.yml", "name": "zoe"}
	},
	"a team": func(w object) {
		w["data"].(object)["/teams/t.yml"] = object{"$schema": "/team-1.yml", "name": "t",
			"roles": list{object{"$ref": "/roles/dev.yml"}}}
	},
	"an account": func(w object) {
		at(w, "/roles/dev.yml")["grants"] = list{object{"kind": "aws", "account": "three"}}
	},
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
			head := world(t)
			change(head)
			base := parse(t, written(t, world(t)), nil)
			p := same(t, base, parse(t, written(t, head), base), s, read)
			if len(p.Integrations) != 2*len(worldQueries) {
				t.Errorf("got %d integrations", len(p.Integrations))
			}
		})
	}
}

// No root field lists the type Hidden_v1, so its field followers cannot be recognized as one
// of back references. If the answers of the server have errors, package affected then cannot
// know which parts of them the change can reach, and says so.
func TestUnknownBackReferences(t *testing.T) {
	withFollowers := func(name string) object {
		w := world(t)
		user := at(w, "/users/ana.yml")
		user["name"], user["hidden"] = name, object{"$ref": "/hidden/1.yml"}
		for _, c := range w["graphql"].(object)["confs"].(list) {
			if kind := c.(object); kind["name"] == "Hidden_v1" {
				kind["fields"] = append(kind["fields"].(list), object{"name": "followers", "type": "User_v1", "isList": true,
					"synthetic": object{"schema": "/user-1.yml", "subAttr": "hidden"}})
			}
		}
		return w
	}
	const query = `{ roles { hidden { followers { name } } } resources { backrefs { type } } }`
	rules, err := settings.Read("prcheck.yaml",
		[]byte("version: 1\nexec: {argv: [run]}\nintegrations: {it-00: {queries: [q]}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	base := parse(t, written(t, withFollowers("ana")), nil)
	from, to := serve(t, base, parse(t, written(t, withFollowers("anna")), base))
	b, err := live.Open(t.Context(), from, to, live.Connection{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Make(t.Context(), planner.Input{
		Base: b.Base, Head: b.Head, BaseServer: b.BaseSide, HeadServer: b.HeadSide,
		Settings: rules, ReadQuery: func(string) ([]byte, error) { return []byte(query), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	d, _ := p.Decision("it-00")
	if d.Decision != plan.Run || !strings.Contains(d.Reason, "does not tell what the change can reach") {
		t.Errorf("got %s: %s, want that it runs since the server does not tell what the change can reach", d.Decision,
			d.Reason)
	}
	if !b.BaseSide.Vague([]string{"Hidden_v1"}) || b.BaseSide.Vague([]string{"User_v1"}) {
		t.Error("not exactly the back references of Hidden_v1 are unknown")
	}
}
