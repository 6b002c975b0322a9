package gql_test

import (
	"context"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
)

var update = flag.Bool("update", false, "rewrite golden files")

// small returns a bundle that has a value for every rule of the resolvers.
func small(t testing.TB) *bundle.Bundle {
	t.Helper()
	raw, err := os.ReadFile("testdata/small.json")
	if err != nil {
		t.Fatal(err)
	}
	types, err := os.ReadFile("testdata/library.json")
	if err != nil {
		t.Fatal(err)
	}
	const resources = `{
		"/res/photo": {"path": "/res/photo", "content": "pixels", "sha256sum": "1", "$schema": null, "backrefs": [{"path": "/book/one.yml"}]},
		"/res/text": {"path": "/res/text", "content": "words", "sha256sum": "2", "$schema": "/text-1.yml", "backrefs": []}}`
	b, err := bundle.Parse([]byte(`{"data":`+string(raw)+`,"graphql":`+string(types)+`,"resources":`+resources+`}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func smallEngine(t testing.TB) (*gql.Engine, *gql.Schema) {
	t.Helper()
	b := small(t)
	s, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		t.Fatal(err)
	}
	return gql.New(b, s), s
}

// TestAnswers compares answers with a golden file. The file has, for each case, a name
// after #, a query and its answer.
func TestAnswers(t *testing.T) {
	const name = "testdata/answers.golden"
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := smallEngine(t)
	var out strings.Builder
	for block := range strings.SplitSeq(strings.TrimSpace(string(raw)), "\n\n") {
		lines := strings.SplitN(block, "\n", 3)
		if len(lines) < 2 {
			t.Fatalf("a block needs a name and a query: %q", block)
		}
		answer := string(e.Answer(context.Background(), gql.Request{Query: lines[1]}).JSON())
		if !*update && (len(lines) < 3 || lines[2] != answer) {
			t.Errorf("%s\n%s\n got %s\nwant %s", lines[0], lines[1], answer, strings.Join(lines[2:], ""))
		}
		out.WriteString(lines[0] + "\n" + lines[1] + "\n" + answer + "\n\n")
	}
	if *update {
		if err := os.WriteFile(name, []byte(strings.TrimSpace(out.String())+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
