package planner_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/trace"
)

// A replay lists each request on whose answer a decision rests that leaves something out or that
// divides a full run, on both sides, and no other one.
func TestQuestions(t *testing.T) {
	noName := always(unset("/users/ana.yml", "name"))
	other := always(func(s *side) { s.data["/other.yml"] = definition("other", object{"cmd": "it"}) })
	onBoth := func(names ...string) (out []string) {
		for _, side := range []string{"base", "head"} {
			for _, name := range names {
				out = append(out, side+" "+name)
			}
		}
		slices.Sort(out)
		return out
	}
	remembered := func(sides ...trace.Side) func(*planner.Input) {
		return remembers("", traced("", world(), asked(names, sides...)...))
	}
	for _, tt := range []struct {
		name, settings string
		change         func(base, head *side)
		given          func(*planner.Input)
		want           []string
	}{
		{"a skip", asks("", "names.graphql"), email, nil, onBoth("names.graphql [it]")},
		{"two queries", asks("", "names.graphql", "roles.graphql"), email, nil,
			onBoth("names.graphql [it]", "roles.graphql [it]")},
		{"two integrations with one query",
			exec + "integrations: {it: {queries: [names.graphql]}, other: {queries: [names.graphql]}}\n",
			then(other, email), nil, onBoth("names.graphql [it other]")},
		{"one of two is skipped",
			exec + "integrations: {it: {queries: [emails.graphql]}, other: {queries: [names.graphql]}}\n",
			then(other, email), nil, onBoth("names.graphql [other]")},
		{"it runs", asks("", "emails.graphql"), email, nil, nil},
		{"single shards", byAccount(""), resize, nil, onBoth("roles.graphql [it]")},
		{"all shards", byAccount(", fan_out: true"),
			then(resize, onHead(set0("/roles/none.yml", object{"$schema": "/role-1.yml", "name": "none"}))), nil,
			onBoth("roles.graphql [it]")},
		{"no queries", exec, elsewhere, nil, nil},
		{"errors on both sides", asks("", "names.graphql"), then(noName, elsewhere), nil,
			onBoth("names.graphql, by element [it]")},
		{"a trace", whole, email, remembered(trace.Base, trace.Head), onBoth("{ users { name } } [it]")},
		{"a trace of base alone", whole, email, remembered(trace.Base), []string{"base { users { name } } [it]"}},
		{"a native", exec, rename, func(in *planner.Input) {
			in.Natives = []integration.DryRunner{telling{"it",
				func(ctx context.Context, query integration.QueryFunc) (any, error) {
					return query(ctx, "query($f: JSON) { groups(filter: $f) { name } }",
						map[string]any{"f": map[string]any{"name": "dev"}})
				}}}
		}, onBoth(`{"f":{"name":"dev"}} [it]`)},
	} {
		m := mutant{settings: tt.settings, change: tt.change, given: tt.given}
		in := m.input(t, m.settings)
		r, err := planner.Verify(t.Context(), in, made(t, in))
		if err != nil || len(r.Refuted) > 0 {
			t.Fatal(tt.name, err, r.Refuted)
		}
		var got []string
		for _, q := range r.Questions {
			line := string(q.Side) + " " + q.Name
			if q.Request.Variables != nil {
				line += string(bundle.AppendOrdered(nil, q.Request.Variables))
			}
			if q.Elements {
				line += ", by element"
			}
			got = append(got, fmt.Sprintf("%s %v", line, q.Integrations))
		}
		if slices.Sort(got); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
