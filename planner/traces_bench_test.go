//go:build unix

package planner_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/trace"
)

// remembered hands out one trace for each integration, in which it asked its
// query of the fleet and one more of its own.
type remembered struct{ traces map[string]*trace.Trace }

func (r remembered) Load(_ context.Context, of trace.TaskKey) ([]*trace.Trace, []string) {
	return []*trace.Trace{r.traces[of.Integration]}, nil
}

func (remembered) Broken(context.Context, string) string { return "" }

// BenchmarkRecall plans a fleet of a hundred integrations that never declared a
// query and are known by their traces alone: ten thousand datafiles, ten
// changes, all of them read by somebody. The traces were recorded over base.
func BenchmarkRecall(b *testing.B) {
	dir := b.TempDir()
	fleetFiles(b, dir, 10_000)
	rules, err := settings.Read("prcheck.yaml", []byte("version: 1\nexec: {argv: [run, '{cmd}']}\n"))
	if err != nil {
		b.Fatal(err)
	}
	in := fleetInput(b, dir, rules)
	schema, err := gql.NewSchema(in.Base.GraphQL())
	if err != nil {
		b.Fatal(err)
	}
	engine := gql.New(in.Base, schema)
	in.Traces = remembered{map[string]*trace.Trace{}}
	for i := range 100 {
		r := trace.NewRecorder(in.Base.SHA256(), in.Base.SHA256())
		query := fleetQueries[i%len(fleetQueries)]
		own := strings.Replace(query, "{", fmt.Sprintf("query Own%d {", i), 1)
		for _, q := range []string{query, own} {
			req := gql.Request{Query: q}
			res := engine.Answer(b.Context(), req)
			r.Note(trace.Exchange{Path: "/graphql", SHA256: in.Base.SHA256(), Request: &req, Response: res, Status: res.Status,
				Body: res.JSON()})
		}
		name := fmt.Sprintf("int-%03d", i)
		in.Traces.(remembered).traces[name] = r.Trace(trace.TaskKey{Integration: name}, time.Unix(0, 0))
	}
	for b.Loop() {
		fresh := fleetInput(b, dir, rules)
		fresh.Traces = in.Traces
		p, err := planner.Make(b.Context(), fresh)
		if err != nil {
			b.Fatal(err)
		}
		skipped := 0
		for _, d := range p.Integrations {
			if d.Decision == plan.Skip && d.Rung == plan.RungState {
				skipped++
			}
		}
		b.ReportMetric(float64(skipped), "skipped")
	}
}
