package gql_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

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

// TestAnswers compares answers with those of qontract-server 2.0.0 over the small bundle, byte for byte. The file has,
// for each case, a name after #, a query and the recorded answer.
func TestAnswers(t *testing.T) {
	raw, err := os.ReadFile("testdata/answers.golden")
	if err != nil {
		t.Fatal(err)
	}
	e, _ := smallEngine(t)
	for block := range strings.SplitSeq(strings.TrimSpace(string(raw)), "\n\n") {
		lines := strings.SplitN(block, "\n", 3)
		if len(lines) < 3 {
			t.Fatalf("a block needs a name, a query and an answer: %q", block)
		}
		answer := string(e.Answer(context.Background(), gql.Request{Query: lines[1]}).JSON())
		if lines[2] != answer {
			t.Errorf("%s\n%s\n got %s\nwant %s", lines[0], lines[1], answer, lines[2])
		}
	}
}
