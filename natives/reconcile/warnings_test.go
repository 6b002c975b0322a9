package reconcile_test

import (
	"reflect"
	"testing"

	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// What people must know of a change is a finding, and the change is made.
func TestWarnings(t *testing.T) {
	me := reconcile.Owner{Integration: "i", Caller: "a", Callers: []string{"a"}}
	warn := func(reconcile.Item, reconcile.Thing, reconcile.Record) (reconcile.Difference, error) {
		return reconcile.Difference{Changes: []reconcile.Change{{Path: "/x"}}, Warnings: []string{"it keeps its class"}}, nil
	}
	p := reconcile.Make(reconcile.Input{Owner: me, Class: reconcile.Listing, Compare: warn,
		Desired: []reconcile.Item{{Key: "k", Place: plan.Place{File: "f"}}},
		Current: []reconcile.Thing{{Key: "k", Mark: me.Mark()}}})
	want := []reconcile.Finding{{Finding: plan.Finding{Severity: plan.SeverityWarning, Place: plan.Place{File: "f"},
		Message: "it keeps its class"}, Keys: []reconcile.Key{"k"}, OfThing: true}}
	if s, _ := stepOf(p, "k"); s.Action != reconcile.Update || !reflect.DeepEqual(p.Findings, want) {
		t.Errorf("got %q with %+v, want an update with %+v", s.Action, p.Findings, want)
	}
}
