package gql_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// An engine that has been asked before answers as a new one does, whatever the arguments are:
// it looks files up by a value then.
func TestLookup(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	values := []string{`"a"`, `"b"`, `"é"`, `"1"`, `1`, `null`, `true`, `["a"]`, `{"$ref":"/x/0.yml"}`, ``}
	var data []string
	for i := range 60 {
		for _, kind := range []string{"x", "y"} {
			name := values[r.IntN(len(values))]
			if name != "" {
				name = `,"name":` + name
			}
			data = append(data, fmt.Sprintf(`"/%s/%d.yml":{"$schema":"/%s-1.yml","size":%d%s}`, kind, i, kind, r.IntN(3), name))
		}
	}
	types := `{"name":"X_v1","fields":[{"name":"path","type":"string"},{"name":"name","type":"string","isSearchable":true},{"name":"size","type":"int","isSearchable":true}]}`
	b, err := bundle.Parse([]byte(`{"data":{`+strings.Join(data, ",")+`},"graphql":{"confs":[`+types+
		`,{"name":"Query","fields":[{"name":"x","type":"X_v1","isList":true,"datafileSchema":"/x-1.yml"},{"name":"none","type":"X_v1","isList":true,"datafileSchema":"/z-1.yml"}]}]}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		t.Fatal(err)
	}
	ask := func(e *gql.Engine, query string) string {
		return string(e.Answer(t.Context(), gql.Request{Query: query}).JSON())
	}
	known, different := gql.New(b, schema), map[string]bool{}
	for range 3 {
		for _, args := range []string{
			"", `(name: "a")`, `(name: "b")`, `(name: "é")`, `(name: "1")`, `(name: "")`, `(name: "no")`, `(name: null)`,
			`(size: 1)`, `(size: 7)`,
			`(name: "a", size: 1)`, `(size: 2, name: "a")`, `(path: "/x/0.yml")`, `(path: "/y/0.yml")`, `(path: "/no.yml")`,
			`(path: "/x/0.yml", name: "a")`,
			`(name: "a", filter: {size: 1})`, `(filter: {name: "a"})`, `(name: "a", filter: {name: {in: ["a"]}})`,
			`(name: "a", filter: {no: 1})`,
		} {
			for _, root := range []string{"x", "none"} {
				query := "{ " + root + args + " { path size } }"
				want := ask(gql.New(b, schema), query)
				different[want] = true
				if got := ask(known, query); got != want {
					t.Errorf("%s: got %s\nwant %s", query, got, want)
				}
			}
		}
	}
	if len(different) < 12 {
		t.Errorf("there are only %d different answers", len(different))
	}
}
