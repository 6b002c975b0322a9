package reconcile_test

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/reconcile"
)

// What another run made since the plan is not forgotten. What is gone, or is to be left alone, is.
func TestForget(t *testing.T) {
	ours := reconcile.Mark{Integration: "x", Caller: "a"}
	for _, c := range []struct {
		name   string
		before []reconcile.Thing
		after  map[reconcile.Key]reconcile.Thing
		record reconcile.Record
		known  bool // it is still remembered
		error  string
	}{
		{"it is gone", nil, nil, reconcile.Record{}, false, ""},
		{"another run made it", nil, map[reconcile.Key]reconcile.Thing{"k": {Key: "k", Mark: ours}}, reconcile.Record{}, true,
			"k: forget: it is there again; the next run compares it"},
		{"it is left alone", []reconcile.Thing{{Key: "k", Mark: ours}},
			map[reconcile.Key]reconcile.Thing{"k": {Key: "k", Mark: ours}}, reconcile.Record{Policy: reconcile.Detach}, false,
			""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{things: c.after}
			m := &memory{known: map[reconcile.Key]reconcile.Record{"k": c.record}, world: w}
			p := reconcile.Make(reconcile.Input{Owner: reconcile.Owner{Integration: "x", Caller: "a"}, Class: reconcile.Listing,
				Compare: never, Current: c.before, Known: m.snapshot()})
			_, err := reconcile.Execute(t.Context(), p, w, m, reconcile.Options{})
			if _, known := m.known["k"]; known != c.known || (err == nil) != (c.error == "") ||
				err != nil && !strings.Contains(err.Error(), c.error) {
				t.Errorf("it is remembered: %v, and the error is %v; want %v and %q", known, err, c.known, c.error)
			}
		})
	}
}
