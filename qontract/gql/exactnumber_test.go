package gql_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// A number for which JavaScript has no value is null in a JSON scalar, as qontract-server answers
// it. Who asks for exact numbers gets an error with the place instead, of this entry alone.
func TestExactNumbers(t *testing.T) {
	huge := "1" + strings.Repeat("0", 309)
	text := `{"git_commit": "0", "git_commit_timestamp": "1", "resources": {}, "schemas": {"/a.yml": {}}, "data": {
		"/a": {"$schema": "/a.yml", "of": {"null": null, "list": [1, {"n": ` + huge + `}]}},
		"/b": {"$schema": "/a.yml", "of": {"n": 1e308, "null": null}}},
		"graphql": [{"name": "A", "fields": [{"name": "of", "type": "json"}]},
			{"name": "Query", "fields": [{"name": "all", "type": "A", "isList": true, "datafileSchema": "/a.yml"}]}]}`
	b, err := bundle.Parse([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		t.Fatal(err)
	}
	plain := `{"all":[{"of":"{\"null\":null,\"list\":[1,{\"n\":null}]}"},{"of":"{\"n\":1e+308,\"null\":null}"}]}`
	exact := strings.Replace(plain, `"{\"null\":null,\"list\":[1,{\"n\":null}]}"`, "null", 1)
	for given, want := range map[string]string{
		``: plain + ` []`, `{"exactNumbers": false}`: plain + ` []`, `{"exactNumbers": "true"}`: plain + ` []`,
		`{"exactNumbers": true}`: exact + ` [[all 0 of list 1 n]]`,
	} {
		req := gql.Request{Query: "{ all { of } }", Variables: variables(t, given)}
		res := gql.New(b, s).Answer(context.Background(), req)
		paths := []any{}
		for _, e := range res.Errors {
			paths = append(paths, e.Path)
			if strings.Contains(e.Message, huge[:20]) {
				t.Errorf("the message shows the value: %s", e.Message)
			}
		}
		if got := fmt.Sprintf("%s %v", res.DataJSON(), paths); got != want {
			t.Errorf("%s: got %s, want %s", given, got, want)
		}
	}
}
