package reconcile_test

import (
	"testing"

	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// A thing that was imported without a mark gets none by itself. Its next change, and whoever had
// it before, count as always.
func TestUnmarked(t *testing.T) {
	for name, c := range map[string]struct {
		record  *reconcile.Record
		mark    reconcile.Mark
		differs bool
		want    reconcile.Action
	}{
		"imported":                 {&reconcile.Record{Unmarked: true}, reconcile.Mark{}, false, reconcile.None},
		"imported, and it differs": {&reconcile.Record{Unmarked: true}, reconcile.Mark{}, true, reconcile.Update},
		"imported, and somebody marked it": {&reconcile.Record{Unmarked: true},
			reconcile.Mark{Integration: "it", Caller: "b"}, true, reconcile.Blocked},
		"imported from a caller that left": {&reconcile.Record{Unmarked: true},
			reconcile.Mark{Integration: "it", Caller: "gone"}, false, reconcile.MarkIt},
		"made by us": {&reconcile.Record{}, reconcile.Mark{}, false, reconcile.MarkIt},
		"unknown":    {nil, reconcile.Mark{}, false, reconcile.Blocked},
	} {
		in := reconcile.Input{Owner: reconcile.Owner{Integration: "it", Caller: "a", Callers: []string{"a", "b"}},
			Class:   reconcile.Knowing,
			Desired: []reconcile.Item{{Key: "k"}}, Current: []reconcile.Thing{{Key: "k", Mark: c.mark}},
			Known: map[reconcile.Key]reconcile.Record{},
			Compare: func(reconcile.Item, reconcile.Thing, reconcile.Record) (reconcile.Difference, error) {
				if !c.differs {
					return reconcile.Difference{}, nil
				}
				return reconcile.Difference{Changes: []reconcile.Change{{Path: "/x"}}}, nil
			}}
		if c.record != nil {
			in.Known["k"] = *c.record
		}
		if got := reconcile.Make(in).Steps[0].Action; got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// A thing that was imported and whose entry is not there yet, or not any more, is never deleted
// without a word in the data, also where things without an entry are.
func TestUnmarkedWithoutEntry(t *testing.T) {
	for _, class := range []reconcile.Class{reconcile.Knowing, reconcile.Listing} {
		p := reconcile.Make(reconcile.Input{Owner: reconcile.Owner{Integration: "it", Caller: "a"}, Class: class, Prune: true,
			Desired: []reconcile.Item{{Key: "other"}}, Current: []reconcile.Thing{{Key: "k"}},
			Known: map[reconcile.Key]reconcile.Record{"k": {Unmarked: true}}})
		if got := p.Steps[0]; got.Key != "k" || got.Action != reconcile.None || len(p.Findings) != 1 ||
			p.Findings[0].Severity != plan.SeverityWarning {
			t.Errorf("%s: got %+v, %+v", class, got, p.Findings)
		}
	}
}
