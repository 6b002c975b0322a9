package gql_test

import (
	"context"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

func TestNewSchemaErrors(t *testing.T) {
	const query = `{"name":"Query","fields":[{"name":"a","type":"string"}]}`
	for name, c := range map[string]struct{ types, want string }{
		"no list":       {`{"confs":1}`, `neither a list of types nor an object with a list "confs"`},
		"nothing":       {`null`, `neither a list of types`},
		"not an object": {`[1]`, `graphql type 0: not an object`},
		"no query":      {`[{"name":"A","fields":[{"name":"a","type":"string"}]}]`, `there is no object type "Query"`},
		"no name":       {`[{"fields":[]}]`, `graphql type 0: "" is not a name`},
		"a name that is taken": {`[` + query + `,{"name":"JSON","fields":[]}]`,
			`graphql type "JSON": the name is that of a scalar`},
		"twice":     {`[` + query + `,` + query + `]`, `graphql type "Query": the name is used twice`},
		"reserved":  {`[{"name":"__A","fields":[]}]`, `graphql type "__A": "__A" is not a name`},
		"no fields": {`[{"name":"Query","fields":[]}]`, `graphql type "Query": it has no fields`},
		"a field's name": {`[{"name":"Query","fields":[{"name":"1a","type":"string"}]}]`,
			`graphql type "Query": field "1a": "1a" is not a name`},
		"an unknown type": {`[{"name":"Query","fields":[{"name":"a","type":"Nope"}]}]`,
			`graphql type "Query": field "a": there is no object type "Nope"`},
		"an object as interface": {`[` + query + `,{"name":"A","fields":[{"name":"q","type":"Query","isInterface":true}]}]`,
			`graphql type "A": field "q": there is no interface "Query"`},
		"no resolver": {`[` + query + `,{"name":"A","isInterface":true,"fields":[{"name":"a","type":"string"}]}]`,
			`an interface needs interfaceResolve`},
		"odd strategy": {`[{"name":"A","isInterface":true,"interfaceResolve":{"strategy":"x"},"fields":[]}]`,
			`there is no strategy "x"`},
		"no map": {
			`[{"name":"A","isInterface":true,"interfaceResolve":{"strategy":"fieldMap","field":"x"},"fields":[]}]`,
			`needs field and fieldMap`},
		"no resources": {
			`[{"name":"Query","fields":[{"name":"a","type":"string","isResource":true,"resolveResource":true}]}]`,
			`there is no object type "Resource_v1"`},
		"scalar files": {`[{"name":"Query","fields":[{"name":"a","type":"string","datafileSchema":"/a"}]}]`,
			`datafiles cannot be of type "string"`},
		"missing field": {`[` + query + `,` + shape + `,{"name":"B","interface":"A","fields":[{"name":"b","type":"int"}]}]`,
			`graphql type "B": field "a" of interface "A" is missing`},
		"other field": {`[` + query + `,` + shape + `,{"name":"B","interface":"A","fields":[{"name":"a","type":"int"}]}]`,
			`graphql type "B": field "a" is Int, but interface "A" has String`},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := bundle.ParseValue([]byte(c.types))
			if err != nil {
				t.Fatal(err)
			}
			if _, err = gql.NewSchema(v); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

const shape = `{"name":"A","isInterface":true,"interfaceResolve":{"strategy":"fieldMap","field":"k","fieldMap":{}},"fields":[{"name":"a","type":"string"}]}`

// TestBareList checks that the old form of the graphql section works, except for filters,
// which fail in qontract-server too.
func TestBareList(t *testing.T) {
	types := `[{"name":"Thing","fields":[{"name":"a","type":"string"}]},
		{"name":"Query","fields":[{"name":"things","type":"Thing","isList":true,"datafileSchema":"/t"}]}]`
	b, err := bundle.Parse([]byte(`{"data":{"/1":{"$schema":"/t","a":"x"}},"graphql":`+types+`}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		t.Fatal(err)
	}
	e := gql.New(b, s)
	res := e.Answer(context.Background(), gql.Request{Query: `{things(path:"/1"){a}}`})
	if got := string(res.DataJSON()); got != `{"things":[{"a":"x"}]}` {
		t.Errorf("got %s", got)
	}
	if res := e.Answer(context.Background(), gql.Request{Query: `{things(filter:{a:"x"}){a}}`}); len(res.Errors) != 1 {
		t.Errorf("a filter: got %s", res.JSON())
	}
}

// Interfaces that have a field are suggested before their own types, and otherwise types by their names.
func TestSuggestedTypes(t *testing.T) {
	const named = `"interfaceResolve":{"strategy":"fieldMap","field":"k","fieldMap":{}},"fields":[{"name":"path","type":"string","isRequired":true},{"name":"name","type":"string"}]`
	types := `[{"name":"DatafileObject_v1","isInterface":true,"interfaceResolve":{"strategy":"schema"},"fields":[{"name":"path","type":"string","isRequired":true}]},
		{"name":"X","isInterface":true,` + named + `},{"name":"Y","isInterface":true,` + named + `},
		{"name":"A","interface":"X","datafile":"/a",` + named + `},{"name":"B","interface":"Y","datafile":"/b",` + named + `},
		{"name":"Query","fields":[{"name":"files","type":"DatafileObject_v1","isInterface":true,"isList":true,"datafileSchema":"/a"},` +
		`{"name":"ab6","type":"string"},{"name":"ab1","type":"string"},{"name":"ab2","type":"string"},{"name":"ab3","type":"string"},{"name":"ab4","type":"string"},{"name":"ab5","type":"string"}]}]`
	b, err := bundle.Parse([]byte(`{"data":{},"graphql":`+types+`}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		t.Fatal(err)
	}
	many := gql.New(b, s).Answer(context.Background(), gql.Request{Query: `{ab}`})
	// five of six
	if got := string(many.JSON()); !strings.Contains(got, `Did you mean \"ab1\", \"ab2\", \"ab3\", \"ab4\", or \"ab5\"?`) {
		t.Errorf("got %s", got)
	}
	res := gql.New(b, s).Answer(context.Background(), gql.Request{Query: `{files{name}}`})
	const want = `Cannot query field \"name\" on type \"DatafileObject_v1\". Did you mean to use an inline fragment on \"X\", \"A\", \"Y\", or \"B\"?`
	if got := string(res.JSON()); !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}
