package gql_test

import (
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

const singles = `{"data":{"/a.yml":{"$schema":"/u-1.yml","name":"a"},"/b.yml":{"$schema":"/u-1.yml","name":"b"}},` +
	`"resources":{"/r":{"path":"/r","content":"x","sha256sum":"1","$schema":"/x.yml"}},` +
	`"graphql":[{"name":"U","fields":[{"name":"name","type":"string","isSearchable":true}]},` +
	`{"name":"Resource_v1","fields":[{"name":"path","type":"string"}]},` +
	`{"name":"Query","fields":[{"name":"us","type":"U","isList":true,"datafileSchema":"/u-1.yml"},` +
	`{"name":"rs","type":"Resource_v1","isList":true,"isResource":true}]}]}`

// TestRestrictToFile checks that the answer to a request for a single file is the element
// of this file.
func TestRestrictToFile(t *testing.T) {
	b, err := bundle.Parse([]byte(singles), nil)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		t.Fatal(err)
	}
	engine := gql.New(b, schema)
	for _, text := range []string{
		"{ us { name } }", "{ x: us { name } us { name } }", `{ us(name: "b") { name } }`, `{ us(path: "/b.yml") { name } }`,
		`{ us(path: null) { name } }`,
		`query($p: String = "/a.yml", $n: String) { us(path: $p, name: $n) { name } rs(schema: $p) { path } }`,
		`query($p: String) { us(path: $p) { name } }`, `{ us { ...F } rs { path } } fragment F on U { name }`,
		`query($v: Boolean = true) { ... on Query { us { name } } ...G } fragment G on Query { rs @include(if: $v) @skip(if: false) { path } }`,
		`{ rs(path: "") { path } us { name } }`, `{ rs(schema: "/y.yml") { path } }`,
		`{ rs(path: "/r", schema: "/y.yml") { path } }`,
		`query A { us { name } }`,
	} {
		req := gql.Request{Query: text}
		q, err := schema.Compile(req)
		if err != nil {
			t.Fatal(err)
		}
		for _, root := range q.Roots() {
			files := b.Datafiles()
			if root.Resources() {
				files = b.Resources()
			}
			for _, f := range files {
				want := engine.Element(t.Context(), q, root, f)
				single, ok := gql.RestrictToFile(req, root, f)
				if !ok || single == nil {
					if !ok || want.Present {
						t.Errorf("%s: %s of %s: got no request, want %v", text, root.Key, f.Path, want)
					}
					continue
				}
				res := engine.Answer(t.Context(), *single)
				data, _ := res.Data.(*bundle.Object)
				if data == nil || data.Len() != 1 || len(res.Errors) > 0 {
					t.Errorf("%s: %s of %s: got %s for %s", text, root.Key, f.Path, res.JSON(), single.Query)
					continue
				}
				v, _ := data.Get(root.Key)
				list, _ := v.([]any)
				if (len(list) == 1) != want.Present || len(list) == 1 && !bundle.Equal(list[0], want.Value) {
					t.Errorf("%s: %s of %s: got %s, want %v", text, root.Key, f.Path, res.JSON(), want)
				}
			}
		}
	}
}

// TestRestrictToFileRefuses checks that texts that cannot be parsed are not rewritten.
func TestRestrictToFileRefuses(t *testing.T) {
	for _, text := range []string{"", "{", "query A { a } query B { b }"} {
		if _, ok := gql.RestrictToFile(gql.Request{Query: text}, &gql.Root{Key: "a"}, &bundle.File{Path: "/a"}); ok {
			t.Errorf("%q: rewritten", text)
		}
	}
}

// FuzzReadResponse checks that a response that was read is written again with the same
// bytes.
func FuzzReadResponse(f *testing.F) {
	f.Add([]byte(`{"data":{"a":[1.5,"x",null]},"extensions":{"schemas":["/a.yml"]}}`))
	f.Add([]byte(`{"errors":[{"message":"m","locations":[{"line":1,"column":2}],"path":["a",0],"extensions":{"code":"C"}}],"data":null,"extensions":{"schemas":[]}}`))
	f.Add([]byte(`{"errors":[{}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		res, err := gql.ReadResponse(200, body)
		if err != nil {
			return
		}
		again, err := gql.ReadResponse(200, res.JSON()) // text that is no UTF-8 is so now
		if err != nil {
			t.Fatalf("%s: %v", res.JSON(), err)
		}
		last, err := gql.ReadResponse(200, again.JSON())
		if err != nil || string(last.JSON()) != string(again.JSON()) {
			t.Errorf("got %s, then %s, %v", again.JSON(), last.JSON(), err)
		}
	})
}
