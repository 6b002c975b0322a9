package native_test

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/state"
)

// A damaged memory is not taken for an empty one, and one of a later program neither: without it
// nobody knows what was made.
func TestDamagedMemory(t *testing.T) {
	for name, c := range map[string]struct{ raw, why string }{
		"cut":           {`{"version":"1","rec`, "it is cut short or damaged"},
		"later version": {`{"version":"2","records":{}}`, `its version is "2": this prcheck cannot read it`},
		"no version":    {`{}`, "it is cut short or damaged"},
	} {
		remembered, err := state.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
		run := func(data string) error {
			_, err := s.runWith(t, data, func(e *integration.Environment) {
				e.State = remembered
			}, integration.Actors{State: remembered})
			return err
		}
		if err := run(`{"north": {"a": "Atlas"}}`); err != nil {
			t.Fatal(err)
		}
		list, err := remembered.List(t.Context(), "known")
		if err != nil || len(list) != 1 {
			t.Fatalf("got %v, %v", list, err)
		}
		if err := remembered.Write(t.Context(), list[0].Key, []byte(c.raw)); err != nil {
			t.Fatal(err)
		}
		writes := s.writes
		if err := run(`{"north": {"b": "Bible"}}`); err == nil ||
			!strings.HasSuffix(err.Error(), "reading the state: "+list[0].Key+": "+c.why) || s.writes != writes {
			t.Errorf("%s: got %v, and %d writes", name, err, s.writes-writes)
		}
	}
}
