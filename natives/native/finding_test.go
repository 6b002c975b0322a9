package native

import (
	"io"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// A finding is an old one as often as base has it in the same file, also when it moved there. One about
// entries is old wherever they stand.
func TestOldFindings(t *testing.T) {
	at := func(file, pointer string, keys ...reconcile.Key) reconcile.Finding {
		return reconcile.Finding{Finding: plan.Finding{Code: "X", Severity: plan.SeverityError, Message: "wrong",
			Place: plan.Place{File: file, Pointer: pointer}}, Keys: keys}
	}
	for _, tt := range []struct {
		name       string
		base, head []reconcile.Finding
		errors     int
	}{
		{"the same", []reconcile.Finding{at("/a", "/0")}, []reconcile.Finding{at("/a", "/0")}, 0},
		{"moved in its file", []reconcile.Finding{at("/a", "/0")}, []reconcile.Finding{at("/a", "/1")}, 0},
		{"twice in the file", []reconcile.Finding{at("/a", "/0")}, []reconcile.Finding{at("/a", "/1"), at("/a", "/0")}, 1},
		{"in another file, too", []reconcile.Finding{at("/a", "/0")}, []reconcile.Finding{at("/a", "/0"), at("/b", "/0")}, 1},
		{"in another file alone", []reconcile.Finding{at("/a", "/0")}, []reconcile.Finding{at("/b", "/0")}, 1},
		{"said twice at a place", []reconcile.Finding{at("/a", "/0"), at("/a", "/0")},
			[]reconcile.Finding{at("/a", "/0"), at("/a", "/0"), at("/a", "/1")}, 1},
		{"about an entry that moved", []reconcile.Finding{at("/a", "/0", "k")}, []reconcile.Finding{at("/b", "/7", "k")}, 0},
		{"about two entries", []reconcile.Finding{at("/a", "/0", "k")},
			[]reconcile.Finding{at("/a", "/0", "k"), at("/a", "/0", "l")}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &work{told: map[string]bool{}, noted: map[string]bool{}, old: map[string]int{}, hasBase: true}
			w.env = integration.Environment{Log: io.Discard, Report: func(integration.Remark) {}}
			w.noteOld(tt.base...)
			for _, f := range tt.head {
				w.find(f)
			}
			if w.errors != tt.errors {
				t.Errorf("got %d errors, want %d", w.errors, tt.errors)
			}
		})
	}
}
