package gql_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// All that a server says of an error is read, and what is no answer is an error.
func TestReadResponse(t *testing.T) {
	const body = `{"data":{"a":1},"errors":[{"message":"m","path":["a",2],"locations":[{"line":3,"column":4}],"extensions":{"code":"C","gqlType":"T"}}]}`
	got, err := gql.ReadResponse(400, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	want := []gql.Error{{Message: "m", Path: []any{"a", 2}, Locations: []gql.Location{{Line: 3, Column: 4}}, Code: "C",
		GQLType: "T"}}
	if !reflect.DeepEqual(got.Errors, want) || got.Status != 400 || !got.HasData {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, text := range []string{``, `{`, `[]`, `{"data":1}`, `{}`, `{"data":null}`, `{"errors":{}}`, `{"errors":[1]}`} {
		if got, err := gql.ReadResponse(200, []byte(text)); err == nil || got != nil {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
	}
}

// answerOf answers a query over one datafile.
func answerOf(t *testing.T, query string) string {
	t.Helper()
	b, err := bundle.Parse(
		[]byte(`{"data":{"/1":{"$schema":"/t","a":"x"}},"graphql":[{"name":"Thing","fields":[{"name":"a","type":"string"}]},
		{"name":"Query","fields":[{"name":"things","type":"Thing","isList":true,"datafileSchema":"/t"}]}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		t.Fatal(err)
	}
	return string(gql.New(b, s).Answer(context.Background(), gql.Request{Query: query}).JSON())
}

// Two escapes form one character only if they are a high and a low surrogate.
func TestSurrogates(t *testing.T) {
	for text, isGood := range map[string]bool{
		`\uD800\uDC00`: true, `\uDBFF\uDFFF`: true, `\uD7FF`: true, `\uE000`: true,
		`\uD800`: false, `\uDC00`: false, `\uD800\uDBFF`: false, `\uD800\uE000`: false, `\uDC00\uDC00`: false,
		`\uD800x`: false,
	} {
		got := answerOf(t, `{things(path:"`+text+`"){a}}`)
		if want := `{"data":{"things":[]}`; isGood && !strings.HasPrefix(got, want) ||
			!isGood && !strings.Contains(got, "Invalid Unicode escape sequence") {
			t.Errorf("%s: got %s", text, got)
		}
	}
}

// A variable is held to the type of its place, also within a fragment that names no type.
func TestVariableInFragmentWithoutType(t *testing.T) {
	for _, query := range []string{
		`query($x:Boolean){things(path:$x){a}}`, `query($x:Boolean){...{things(path:$x){a}}}`,
		`query($x:Boolean){...on Query{things(path:$x){a}}}`,
	} {
		if got := answerOf(t, query); !strings.Contains(got,
			`Variable \"$x\" of type \"Boolean\" used in position expecting type \"String\".`) {
			t.Errorf("%s: got %s", query, got)
		}
	}
}
