package reconcile_test

import (
	"testing"

	"github.com/app-sre/prcheck/natives/reconcile"
)

// A thing that is ours and that nobody remembers is remembered, where memory alone says what is ours.
func TestLearn(t *testing.T) {
	ours := reconcile.Thing{Key: "k", Mark: reconcile.Mark{Integration: "x", Caller: "a"}}
	same := func(reconcile.Item, reconcile.Thing, reconcile.Record) (reconcile.Difference, error) {
		return reconcile.Difference{}, nil
	}
	for class, want := range map[reconcile.Class]bool{reconcile.Knowing: true, reconcile.Listing: false} {
		w := &world{things: map[reconcile.Key]reconcile.Thing{"k": ours}}
		m := &memory{known: map[reconcile.Key]reconcile.Record{}, world: w}
		p := reconcile.Make(reconcile.Input{Owner: reconcile.Owner{Integration: "x", Caller: "a"}, Class: class,
			Compare: same,
			Desired: []reconcile.Item{{Key: "k", Body: "body"}}, Current: []reconcile.Thing{ours}, Known: m.snapshot()})
		if got := p.Steps[0].Action; got != reconcile.None {
			t.Errorf("%s: got %s", class, got)
		}
		if _, err := reconcile.Execute(t.Context(), p, w, m, reconcile.Options{}); err != nil {
			t.Error(err)
		}
		if record, known := m.known["k"]; known != want || known && record.Applied != "body" {
			t.Errorf("%s: it is remembered: %v, %+v; want %v", class, known, record, want)
		}
	}
}
