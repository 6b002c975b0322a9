package manager

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/bundler"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/settings"
)

// An object is a datafile or a part of it.
type object = map[string]any

// exampleText is the bundle of examples/integrations.
var exampleText = sync.OnceValues(func() ([]byte, error) {
	section := func(dir string) bundler.TreePart {
		return bundler.TreePart{Tree: bundler.Folder("../../examples/integrations"), Dir: dir, Shown: dir,
			Optional: dir == "resources"}
	}
	made, problems, err := bundler.Make(context.Background(), bundler.Input{
		Data: section("data"), Resources: section("resources"), Schemas: section("schemas"),
		GraphQL: section("graphql-schemas/schema.yml"),
	}, bundler.Options{})
	if err != nil || len(problems) > 0 {
		return nil, fmt.Errorf("%w: %v", err, problems)
	}
	defer made.Close()
	var raw bytes.Buffer
	_, err = made.WriteTo(&raw)
	return raw.Bytes(), err
})

// A testData is the data of a test: the types of the example with any datafiles.
type testData struct {
	Data      map[string]object          `json:"data"`
	Resources map[string]object          `json:"resources"`
	GraphQL   map[string]json.RawMessage `json:"graphql"`
}

// example returns the data of examples/integrations.
func example(t testing.TB) *testData {
	t.Helper()
	raw, err := exampleText()
	if err != nil {
		t.Fatal(err)
	}
	out := &testData{}
	if err := json.Unmarshal(raw, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Paths of the example.
const (
	terraformFile   = "/integrations/terraform-resources.yml"
	managerFile     = "/integrations/integrations-manager.yml"
	clusterFile     = "/clusters/reconcile-01.yml"
	namespaceFile   = "/namespaces/reconcile-prod.yml"
	environmentFile = "/environments/production.yml"
	exampleShard    = "reconcile-01/reconcile-prod"
	exampleUpstream = "https://github.com/app-sre/qontract-reconcile"
)

// at returns the object at a path of keys and positions in a datafile.
func (d *testData) at(file string, path ...any) object {
	var v any = d.Data[file]
	for _, part := range path {
		switch part := part.(type) {
		case string:
			v = v.(object)[part]
		case int:
			v = v.([]any)[part]
		}
	}
	return v.(object)
}

// entry returns an element of managed.
func (d *testData) entry(file string, at int) object { return d.at(file, "managed", at) }

// copyOf puts a copy of a datafile, with changed fields.
func (d *testData) copyOf(from, to string, fields object) object {
	raw, err := json.Marshal(d.Data[from])
	if err != nil {
		panic(err)
	}
	var out object
	if err := json.Unmarshal(raw, &out); err != nil {
		panic(err)
	}
	maps.Copy(out, fields)
	d.Data[to] = out
	return out
}

func ref(path string) object { return object{"$ref": path} }

// query returns what answers over the data. Errors in an answer are as runners tell them.
func (d *testData) query(t testing.TB) integration.QueryFunc {
	t.Helper()
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Parse(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	return queryOf(t, b)
}

func queryOf(t testing.TB, b *bundle.Bundle) integration.QueryFunc {
	t.Helper()
	schema, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		t.Fatal(err)
	}
	return queryWith(gql.New(b, schema))
}

func queryWith(engine *gql.Engine) integration.QueryFunc {
	return func(ctx context.Context, query string, variables map[string]any) ([]byte, error) {
		text, err := json.Marshal(variables)
		if err != nil {
			return nil, err
		}
		values, err := bundle.ParseValue(text)
		if err != nil {
			return nil, err
		}
		object, _ := values.(*bundle.Object)
		res := engine.Answer(ctx, gql.Request{Query: query, Variables: object})
		var answer struct {
			Data   json.RawMessage
			Errors []integration.FieldError
		}
		if err := json.Unmarshal(res.JSON(), &answer); err != nil {
			return nil, err
		}
		if len(answer.Errors) > 0 {
			return nil, &integration.AnswerError{Data: answer.Data, Errors: answer.Errors}
		}
		return answer.Data, nil
	}
}

// settingsOf returns the settings of the manager with its own ones as YAML.
func settingsOf(t testing.TB, own string) settings.Integration {
	t.Helper()
	text := "version: 1\nintegrations:\n  integrations-manager:\n"
	if own == "" {
		text += "    reuse: none\n"
	} else {
		text += "    settings:\n"
		for line := range strings.Lines(own) {
			text += "      " + line
		}
	}
	s, err := settings.Read("prcheck.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s.For(Name)
}

// desired returns what the data say under settings.
func (d *testData) desired(t testing.TB, own string) native.Desired {
	t.Helper()
	out, err := desired(t.Context(), d.query(t), settingsOf(t, own))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// keys returns the keys of the items of all parts, without those of mistakes.
func keys(d native.Desired) []string {
	var out []string
	eachItem(d, func(_ native.Part, it reconcile.Item) {
		if it.Mistake == (reconcile.Mistake{}) {
			out = append(out, string(it.Key))
		}
	})
	return out
}

func eachItem(d native.Desired, do func(native.Part, reconcile.Item)) {
	for _, p := range d.Parts {
		for _, it := range p.Items {
			do(p, it)
		}
	}
}

// told returns findings and mistakes of items, one line each, sorted.
func told(d native.Desired) []string {
	var out []string
	for _, f := range d.Findings {
		out = append(out, fmt.Sprintf("%s %s%s: %s", f.Code, f.File, f.Pointer, f.Message))
	}
	eachItem(d, func(_ native.Part, it reconcile.Item) {
		if it.Mistake != (reconcile.Mistake{}) {
			out = append(out, fmt.Sprintf("%s %s%s: %s", it.Mistake.Code, it.Place.File, it.Place.Pointer, it.Mistake.Message))
		}
	})
	slices.Sort(out)
	return out
}

// item returns the item of a key.
func item(t testing.TB, d native.Desired, key string) reconcile.Item {
	t.Helper()
	var out reconcile.Item
	eachItem(d, func(_ native.Part, it reconcile.Item) {
		if string(it.Key) == key {
			out = it
		}
	})
	if out.Key == "" {
		t.Fatalf("there is no item %q, but %q", key, keys(d))
	}
	return out
}
