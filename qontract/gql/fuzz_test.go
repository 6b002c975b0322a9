package gql_test

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// FuzzAnswer checks that the answer to every request is valid JSON, and that the analysis
// of a query does not panic.
func FuzzAnswer(f *testing.F) {
	golden, err := os.ReadFile("testdata/answers.golden")
	if err != nil {
		f.Fatal(err)
	}
	for block := range strings.SplitSeq(string(golden), "\n\n") {
		if lines := strings.Split(block, "\n"); len(lines) > 1 {
			f.Add(lines[1], `{"x":"ana"}`)
		}
	}
	requests, err := os.ReadFile("testdata/requests.golden")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(requests)) {
		if line[0] == '{' {
			f.Add(requestOf(f, []byte(line)).Query, `{"x":1}`)
		}
	}
	f.Add(`query($x:[[JSON!]]=[1] $y:Boolean=true){authors(filter:{name:{in:$x}}){name @skip(if:$y)}}`, `{"y":null}`)
	f.Add(`query($x:Int!){authors(filter:{age:{ne:$x},homes:{filter:{zip:{in:"12"}}}}){age}}`, `{"x":1e3}`)
	e, s := smallEngine(f)
	b := small(f)
	f.Fuzz(func(t *testing.T, query, given string) {
		v, err := bundle.ParseValue([]byte(given))
		if err != nil {
			v = nil
		}
		o, _ := v.(*bundle.Object)
		req := gql.Request{Query: query, Variables: o}
		if _, err := bundle.ParseValue(e.Answer(context.Background(), req).JSON()); err != nil {
			t.Fatal(err)
		}
		q, err := s.Compile(req)
		if err != nil {
			return
		}
		for i, root := range q.Roots() {
			pos := q.Footprint().Children[i].Pos
			for _, file := range b.Datafiles() {
				e.Element(context.Background(), q, root, file)
				if !pos.Same(file.Object(), file.Object()) {
					t.Fatalf("%s is not the same as itself", file.Path)
				}
			}
		}
		_ = q.CheckSelector([]gql.Step{{Kind: gql.StepMembers}, {Kind: gql.StepItems}, {Kind: gql.StepMembers}})
		_, _ = q.Schemas(), q.Types()
	})
}

// TestConcurrent executes one query in several goroutines at the same time.
func TestConcurrent(t *testing.T) {
	e, s := smallEngine(t)
	q, err := s.Compile(gql.Request{
		Query: `{authors{name awards{kind ... on Paper_v1{pages}} books{title authors{name}} links{path}}}`})
	if err != nil {
		t.Fatal(err)
	}
	answers := make([]string, 8)
	var wait sync.WaitGroup
	for i := range answers {
		wait.Go(func() {
			for range 20 {
				answers[i] = string(e.Execute(context.Background(), q).JSON())
				q.Footprint()
			}
		})
	}
	wait.Wait()
	for _, got := range answers {
		if got != answers[0] {
			t.Errorf("got %s\nand %s", got, answers[0])
		}
	}
}
