package server_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/server"
)

type object = map[string]any

func field(name, kind string, more object) object {
	f := object{"name": name, "type": kind}
	maps.Copy(f, more)
	return f
}

// types are the GraphQL types of all bundles in these tests.
var types = object{"confs": []any{
	object{"name": "Integration_v1", "datafile": "/app-sre/integration-1.yml", "fields": []any{
		field("name", "string", nil), field("description", "string", nil), field("managed", "string", nil),
		field("schemas", "string", object{"isList": true}), field("blob", "json", nil), field("extra", "Extra_v1", nil)}},
	object{"name": "Extra_v1", "fields": []any{field("name", "string", nil)}},
	object{"name": "User_v1", "datafile": "/user-1.yml", "fields": []any{
		field("name", "string", object{"isRequired": true, "isSearchable": true}),
		field("roles", "Role_v1", object{"isList": true})}},
	object{"name": "Role_v1", "datafile": "/role-1.yml", "fields": []any{field("name", "string", nil)}},
	object{"name": "Resource_v1", "fields": []any{field("path", "string", nil), field("content", "string", nil),
		field("schema", "string", nil)}},
	object{"name": "Query", "fields": []any{
		field("integrations", "Integration_v1", object{"isList": true, "datafileSchema": "/app-sre/integration-1.yml"}),
		field("users", "User_v1", object{"isList": true, "datafileSchema": "/user-1.yml"}),
		field("roles", "Role_v1", object{"isList": true, "datafileSchema": "/role-1.yml"}),
		field("resources", "Resource_v1", object{"isList": true, "isRequired": true, "isResource": true})}},
}}

// snapshot returns the text of a bundle in which the only user has the given name.
func snapshot(user string, more object) []byte {
	b := object{
		"data": object{
			"/integrations/one.yml": object{"$schema": "/app-sre/integration-1.yml", "name": "one", "description": "The one.",
				"managed": "no", "blob": object{"name": "x"}, "extra": object{"name": "x"}, "schemas": []any{"/user-1.yml"}},
			"/users/x.yml":   object{"$schema": "/user-1.yml", "name": user, "roles": []any{object{"$ref": "/roles/dev.yml"}}},
			"/roles/dev.yml": object{"$schema": "/role-1.yml", "name": "dev"},
		},
		"resources": object{"/r.yml": object{"path": "/r.yml", "content": "x", "sha256sum": "0", "$schema": "/res-1.yml"}},
		"graphql":   types,
	}
	maps.Copy(b, more)
	raw, err := json.Marshal(b)
	if err != nil {
		panic(err)
	}
	return raw
}

var commits = []object{
	{"git_commit": "base-commit", "git_commit_timestamp": "1600000000"},
	{"git_commit": "head-commit", "git_commit_timestamp": "1700000000"},
}

func snapshots(t testing.TB) (base, head *server.Snapshot) {
	t.Helper()
	b, err := bundle.Parse(snapshot("ana", commits[0]), nil)
	if err != nil {
		t.Fatal(err)
	}
	h, err := bundle.Parse(snapshot("bob", commits[1]), b)
	if err != nil {
		t.Fatal(err)
	}
	base, head, err = server.NewSnapshots(b, h)
	if err != nil {
		t.Fatal(err)
	}
	return base, head
}

// open opens an endpoint for both bundles. The task may read users only.
func open(t testing.TB, change func(*server.Options)) *server.Endpoint {
	t.Helper()
	base, head := snapshots(t)
	opts := server.Options{
		Base: base, Head: head, Integration: "one",
		BaseAllowed: []bundle.SchemaPath{"/user-1.yml"}, HeadAllowed: []bundle.SchemaPath{"/user-1.yml"},
	}
	if change != nil {
		change(&opts)
	}
	e, err := server.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() }) // tests that need the error call Close themselves
	return e
}

// at returns the address of a path of an endpoint.
func at(e *server.Endpoint, path string) string {
	return strings.TrimSuffix(e.URL(), "/graphql") + path
}

// An answer is the part of a response that tests compare.
type answer struct {
	status            int
	kind, cache, body string
}

func do(t testing.TB, method, url, kind, body string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header.Get("Content-Type"), res.Header.Get("Cache-Control"), string(raw)}
}

// ask sends a query by POST.
func ask(t testing.TB, url, query string) answer {
	t.Helper()
	body, err := json.Marshal(object{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	return do(t, http.MethodPost, url, "application/json", string(body))
}
