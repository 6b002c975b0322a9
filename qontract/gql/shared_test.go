package gql_test

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// An opened is a bundle with its schema and engine.
type opened struct {
	*bundle.Bundle
	*gql.Schema
	*gql.Engine
}

// engines opens bundles once per test.
type engines map[string]*opened

func (e engines) open(t testing.TB, name string) *opened {
	t.Helper()
	if found := e[name]; found != nil {
		return found
	}
	path := shared.Path(t, "data", "bundles", name+".json")
	if name == "probe-bundle" {
		path = shared.Path(t, "data", "graphql", name+".json")
	}
	b, err := bundle.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		t.Fatal(err)
	}
	e[name] = &opened{b, s, gql.New(b, s)}
	return e[name]
}

// A recorded is a request with the answer of qontract-server.
type recorded struct {
	name, bundle string
	request      gql.Request
	status       bundle.Number
	response     *bundle.Object
}

func readRecorded(t testing.TB, file string) []recorded {
	t.Helper()
	raw, err := os.ReadFile(shared.Path(t, "data", "graphql", file))
	if err != nil {
		t.Fatal(err)
	}
	var cases []recorded
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, len(raw)+1)
	for lines.Scan() {
		v, err := bundle.ParseValue(lines.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		o := v.(*bundle.Object)
		c := recorded{name: o.String("name"), bundle: o.String("bundle")}
		variables, _ := o.Get("variables")
		c.request.Variables, _ = variables.(*bundle.Object)
		c.request.Query, c.request.Operation = o.String("query"), o.String("operationName")
		status, _ := o.Get("status")
		c.status, _ = status.(bundle.Number)
		response, _ := o.Get("response")
		c.response, _ = response.(*bundle.Object)
		cases = append(cases, c)
	}
	return cases
}

// TestRecorded compares whole answers, including rejections, with those of qontract-server.
func TestRecorded(t *testing.T) {
	open := engines{}
	for _, file := range []string{"probes.jsonl", "cases.jsonl", "random.jsonl"} {
		for _, c := range readRecorded(t, file) {
			t.Run(c.bundle+"/"+c.name, func(t *testing.T) {
				res := open.open(t, c.bundle).Answer(context.Background(), c.request)
				if got := bundle.Number(itoa(res.Status)); got != c.status {
					t.Errorf("status %s, want %s", got, c.status)
				}
				got, err := bundle.ParseValue(res.JSON())
				if err != nil {
					t.Fatal(err)
				}
				if g, w := canonical(got), canonical(c.response); !bytes.Equal(g, w) {
					t.Errorf("query %s\n got %.3000s\nwant %.3000s", c.request.Query, g, w)
				}
			})
		}
	}
}

// TestRecordedElements checks the law of elements with the recorded queries.
func TestRecordedElements(t *testing.T) {
	open := engines{}
	for _, file := range []string{"probes.jsonl", "cases.jsonl", "random.jsonl"} {
		for _, c := range readRecorded(t, file) {
			e := open.open(t, c.bundle)
			q, err := e.Compile(c.request)
			if err != nil {
				continue
			}
			checkElements(t, e.Engine, e.Bundle, q, c.name)
		}
	}
}
