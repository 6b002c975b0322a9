package schemafilter_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/schemafilter"
	"github.com/app-sre/prcheck/settings"
)

// An object is a JSON object to build bundles from.
type object = map[string]any

// A side is one bundle before it is written as JSON.
type side struct {
	data, resources, schemas map[string]object
	graphql                  any
}

// clone copies a side, so that files can be replaced in the copy.
func (s side) clone() side {
	return side{maps.Clone(s.data), maps.Clone(s.resources), maps.Clone(s.schemas), s.graphql}
}

func (s side) bundle(t *testing.T) *bundle.Bundle {
	t.Helper()
	raw, err := json.Marshal(object{"data": s.data, "resources": s.resources, "schemas": s.schemas, "graphql": s.graphql})
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, raw)
}

func parse(t *testing.T, raw []byte) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Parse(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// definition makes the datafile that defines an integration. A nil check is
// no pr_check.
func definition(name string, check object, schemas ...string) object {
	o := object{"$schema": settings.DefinitionSchema, "name": name, "schemas": schemas}
	if check != nil {
		o["pr_check"] = check
	}
	return o
}

// with returns a copy of an object with more members.
func with(o object, key string, v any) object {
	out := maps.Clone(o)
	out[key] = v
	return out
}

func file(schema string, v any) object { return object{"$schema": schema, "v": v} }

func resource(sum string, more ...any) object {
	o := object{"path": "", "content": sum, "sha256sum": sum, "backrefs": []any{}}
	if len(more) > 0 {
		o["$schema"] = more[0]
	}
	return o
}

func readSettings(t *testing.T, text string) *settings.Settings {
	t.Helper()
	if text == "" {
		return &settings.Settings{}
	}
	s, err := settings.Read("prcheck.yaml", []byte("version: 1\nexec: {argv: [x]}\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// filter asks the first two rungs about a change.
func filter(t *testing.T, base, head *bundle.Bundle, s *settings.Settings, stated ...string) []schemafilter.Outcome {
	t.Helper()
	return schemafilter.Filter(input(t, base, head, s, stated...))
}

func input(t *testing.T, base, head *bundle.Bundle, s *settings.Settings, stated ...string) schemafilter.Input {
	t.Helper()
	in := schemafilter.Input{
		Settings: s,
		Changes: schemafilter.Collect(base, head, bundle.Compare(base, head),
			func() *bundle.Mentions { return bundle.IndexMentions(base, head) }),
		HasState: func(name string) bool { return slices.Contains(stated, name) },
	}
	var err error
	if in.Base, err = integration.List(base, nil); err != nil {
		t.Fatal(err)
	}
	if in.Head, err = integration.List(head, nil); err != nil {
		t.Fatal(err)
	}
	return in
}
