package gql_test

import (
	"context"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

func openShared(b *testing.B, name string) *bundle.Bundle {
	b.Helper()
	opened, err := bundle.Open(shared.Path(b, "data", "bundles", name+".json"), nil)
	if err != nil {
		b.Fatal(err)
	}
	return opened
}

// BenchmarkNewSchema makes the schema of app-interface, which has some 500 types.
func BenchmarkNewSchema(b *testing.B) {
	types := openShared(b, "generated-300-base").GraphQL()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := gql.NewSchema(types); err != nil {
			b.Fatal(err)
		}
	}
}

// real returns the recorded queries over the generated bundle that are valid.
func real(b *testing.B, s *gql.Schema) map[string]gql.Request {
	b.Helper()
	requests := map[string]gql.Request{}
	for _, c := range readRecorded(b, "cases.jsonl") {
		if _, err := s.Compile(c.request); err == nil && c.bundle == "generated-300-base" {
			requests[c.name] = c.request
		}
	}
	return requests
}

var named = []string{"integrations-pr-check", "saas-files-deploy", "namespace-external-resources-by-provider",
	"cluster-namespaces-back-references"}

func BenchmarkCompile(b *testing.B) {
	s, err := gql.NewSchema(openShared(b, "generated-300-base").GraphQL())
	if err != nil {
		b.Fatal(err)
	}
	requests := real(b, s)
	for _, name := range named {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Compile(requests[name]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFootprint(b *testing.B) {
	s, err := gql.NewSchema(openShared(b, "generated-300-base").GraphQL())
	if err != nil {
		b.Fatal(err)
	}
	req := real(b, s)["saas-files-deploy"]
	b.ReportAllocs()
	for b.Loop() {
		q, err := s.Compile(req)
		if err != nil {
			b.Fatal(err)
		}
		if len(q.Footprint().Children) == 0 {
			b.Fatal("no roots")
		}
	}
}

func BenchmarkExecute(b *testing.B) {
	snapshot := openShared(b, "generated-300-base")
	s, err := gql.NewSchema(snapshot.GraphQL())
	if err != nil {
		b.Fatal(err)
	}
	e := gql.New(snapshot, s)
	requests := real(b, s)
	for _, name := range named {
		q, err := s.Compile(requests[name])
		if err != nil {
			b.Fatal(err)
		}
		size := len(e.Execute(context.Background(), q).JSON())
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for b.Loop() {
				if res := e.Execute(context.Background(), q); len(res.JSON()) != size {
					b.Fatal("another answer")
				}
			}
		})
	}
}
