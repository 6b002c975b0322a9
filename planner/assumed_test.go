package planner_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/trace"
)

// A replay counts what a skip assumes, and nothing else.
func TestAssumed(t *testing.T) {
	byTrace := func(read string) func(*planner.Input) {
		return func(in *planner.Input) {
			then := *traced("", world(), asked(names, trace.Head)...)
			then.Files = "declared"
			if read != "" {
				then.Files = "read:then"
			}
			remembers("", &then)(in)
			in.ProofFiles, in.Files = headFiles{map[string]string{"tool.py": "100644 1"},
				[]proof.FileRead{{Path: "tool.py", Found: "100644 1"}}}, theSame
		}
	}
	unread := func(in *planner.Input) { in.Edits.Unread = func(string) bool { return true } }
	retag := func(role string) func(base, head *side) {
		return onHead(set("/roles/"+role+".yml", "tags", list{"y", "x"}))
	}
	const environment = "environment: [.venv]\nprograms: none\n"
	for _, tt := range []struct {
		name, settings string
		change         func(base, head *side)
		given          func(*planner.Input)
		want           []plan.Assumption
	}{
		{"queries", asks("", "names.graphql"), email, nil, nil},
		{"another order", asks("", "roles.graphql"), retag("ops"), nil, []plan.Assumption{plan.AssumedOrder}},
		{"another order, unread", asks("", "roles.graphql"), retag("ops"), unread,
			[]plan.Assumption{plan.AssumedOrder, plan.AssumedReads}},
		{"one shard", byAccount(""), resize, nil, nil},
		{"one shard, and another order in it", byAccount(""), then(resize, retag("ops")), nil, nil},
		{"one shard, and another order in one that is left out", byAccount(""), then(resize, retag("dev")), nil,
			[]plan.Assumption{plan.AssumedOrder}},
		{"the order counts", asks(", list_order: significant", "names.graphql"), email, nil, nil},
		{"the order counts, unread", asks(", list_order: significant", "names.graphql"), email, unread,
			[]plan.Assumption{plan.AssumedReads}},
		{"its schemas", exec, elsewhere, nil, []plan.Assumption{plan.AssumedSchemas}},
		{"its schemas, unread", exec, elsewhere, unread, []plan.Assumption{plan.AssumedSchemas, plan.AssumedReads}},
		{"its schemas are strict", exec + "integrations: {it: {schemas: strict}}\n", elsewhere, nil, nil},
		{"a recorded trace", whole, email, byTrace("read"), nil},
		{"a trace that nobody recorded", whole + environment, email, byTrace(""),
			[]plan.Assumption{plan.AssumedRuns, plan.AssumedEnvironment}},
		{"it runs", whole, email, nil, nil},
	} {
		m := mutant{settings: tt.settings, change: tt.change, given: tt.given}
		in := m.input(t, m.settings)
		r, err := planner.Verify(t.Context(), in, made(t, in))
		if err != nil || len(r.Refuted) > 0 {
			t.Fatal(tt.name, err, r.Refuted)
		}
		var got []plan.Assumption
		for _, a := range plan.Assumptions() {
			for _, name := range r.Assumed[a] {
				if name == "it" {
					got = append(got, a)
				}
			}
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
		if slices.Contains(r.Believed, "it") != (len(tt.want) > 0) || len(tt.want) > 0 && slices.Contains(r.Proven, "it") {
			t.Errorf("%s: proven %v, believed %v", tt.name, r.Proven, r.Believed)
		}
	}
}
