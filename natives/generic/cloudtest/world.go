package cloudtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"maps"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// Fields are those of a datafile or a part of one.
type Fields = map[string]any

// The names in a new world.
const (
	API   = "/cloud/api.yml"    // the datafile of the API
	Spec  = "/specs/cache.json" // its specification
	Group = "/subscriptions/s/resourceGroups/g"
	Store = "Acme.Cache/stores@2020-01-01"
	Rule  = "Acme.Cache/stores/rules@2020-01-01"
)

// A World is the datafiles and resources of one side.
type World struct {
	Data      map[string]Fields
	Resources map[string]string // contents by path
	// Older says that the GraphQL types are those from before credentials and outputs.
	Older bool
}

// New returns a world with an API of the family arm at an endpoint, and no resources. Its
// specification has the types [Store] and [Rule].
func New(endpoint string) *World {
	return &World{
		Data: map[string]Fields{
			API: {"$schema": "/cloud/api-1.yml", "name": "acme", "family": "arm", "endpoint": endpoint,
				"specifications": []any{Spec},
				"token":          Fields{"path": "cloud/acme", "field": "token"}},
			"/integrations/generic.yml": {"$schema": "/app-sre/integration-1.yml", "name": "generic",
				"description": "resources of APIs",
				"schemas":     []any{"/cloud/api-1.yml", "/cloud/resource-1.yml"}, "pr_check": Fields{"cmd": "generic"}},
		},
		Resources: map[string]string{Spec: Specification, "/specs/common.json": Common},
	}
}

// Add adds a resource of the API. It fills in schema and api if they are missing.
func (w *World) Add(file string, r Fields) {
	full := Fields{"$schema": "/cloud/resource-1.yml", "api": Fields{"$ref": API}}
	maps.Copy(full, r)
	w.Data[file] = full
}

// Clone returns a copy that shares nothing but the values of datafiles.
func (w *World) Clone() *World {
	out := &World{Data: map[string]Fields{}, Resources: maps.Clone(w.Resources), Older: w.Older}
	for file, of := range w.Data {
		out.Data[file] = maps.Clone(of)
	}
	return out
}

// Bundle returns the world as a bundle.
func (w *World) Bundle(t testing.TB) []byte {
	t.Helper()
	out, err := w.bundle()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (w *World) bundle() ([]byte, error) {
	raw, err := fs.ReadFile(cloud.Files(), "graphql-schemas/cloud.yml")
	if err != nil {
		return nil, err
	}
	var types []any
	if err := json.Unmarshal(raw, &types); err != nil {
		return nil, err
	}
	if w.Older {
		for _, t := range types {
			of, _ := t.(Fields)
			all, _ := of["fields"].([]any)
			of["fields"] = slices.DeleteFunc(all, func(f any) bool {
				name, _ := f.(Fields)["name"].(string)
				return name == "credentials" || name == "outputs"
			})
		}
	}
	field := func(name, typ string, more Fields) Fields {
		out := Fields{"name": name, "type": typ}
		maps.Copy(out, more)
		return out
	}
	required := Fields{"isRequired": true}
	query, _ := types[len(types)-1].(Fields)
	fields, _ := query["fields"].([]any)
	query["fields"] = append(fields,
		field("resources_v1", "Resource_v1", Fields{"isList": true, "isRequired": true, "isResource": true}),
		field("integrations_v1", "Integration_v1", Fields{"isList": true, "datafileSchema": "/app-sre/integration-1.yml"}))
	types = append(types,
		Fields{"name": "Resource_v1", "fields": []any{field("path", "string", required), field("content", "string", required),
			field("sha256sum", "string", required), field("schema", "string", nil)}},
		Fields{"name": "Integration_v1", "datafile": "/app-sre/integration-1.yml",
			"fields": []any{field("name", "string", required),
				field("schemas", "string", Fields{"isList": true, "isRequired": true})}})
	resources := Fields{}
	for _, path := range slices.Sorted(maps.Keys(w.Resources)) {
		sum := sha256.Sum256([]byte(w.Resources[path]))
		resources[path] = Fields{"path": path, "content": w.Resources[path], "sha256sum": hex.EncodeToString(sum[:]),
			"$schema": nil, "backrefs": []any{}}
	}
	return json.Marshal(Fields{
		"git_commit": "0000000000000000000000000000000000000000", "git_commit_timestamp": "1", "data": w.Data,
		"resources": resources,
		"schemas": Fields{"/cloud/api-1.yml": Fields{}, "/cloud/resource-1.yml": Fields{},
			"/app-sre/integration-1.yml": Fields{}},
		"graphql": Fields{"$schema": "/app-interface/graphql-schemas-1.yml", "confs": types},
	})
}

// Query returns what answers queries over the world.
func (w *World) Query(t testing.TB) integration.QueryFunc {
	t.Helper()
	query, err := w.Open()
	if err != nil {
		t.Fatal(err)
	}
	return query
}

// Open is Query for what is no test.
func (w *World) Open() (integration.QueryFunc, error) {
	raw, err := w.bundle()
	if err != nil {
		return nil, err
	}
	b, err := bundle.Parse(raw, nil)
	if err != nil {
		return nil, err
	}
	schema, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		return nil, err
	}
	engine := gql.New(b, schema)
	return func(_ context.Context, query string, variables map[string]any) ([]byte, error) {
		return answer(engine, query, variables)
	}, nil
}

// answer answers one query.
func answer(engine *gql.Engine, query string, variables map[string]any) ([]byte, error) {
	text, err := json.Marshal(variables)
	if err != nil {
		return nil, err
	}
	values, err := bundle.ParseValue(text)
	if err != nil {
		return nil, err
	}
	given, _ := values.(*bundle.Object)
	var out struct {
		Data   json.RawMessage
		Errors []integration.FieldError
	}
	if err := json.Unmarshal(engine.Answer(context.Background(), gql.Request{Query: query, Variables: given}).JSON(),
		&out); err != nil {
		return nil, err
	}
	if len(out.Errors) > 0 {
		return nil, &integration.AnswerError{Data: out.Data, Errors: out.Errors}
	}
	return out.Data, nil
}
