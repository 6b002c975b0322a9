package native_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
)

// Parts of one shard and caller are told apart by their place: each has its own state, and one
// that leaves the data is told with its place.
func TestPartsAtPlaces(t *testing.T) {
	remembered := openState(t)
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}, broken: ""}
	s.desire = func(d *native.Desired) {
		for i := range d.Parts {
			d.Parts[i].At, d.Parts[i].Shard, d.Parts[i].Caller = d.Parts[i].Shard, "library", "one"
		}
		d.Callers = []string{"one"}
		d.Left = func(was native.Part) (native.Part, error) { return native.Part{Target: was.At}, nil }
	}
	use := func(e *integration.Environment) { e.State, e.Shard = state.ReadOnly(remembered), "library" }
	act := integration.Actors{State: remembered}
	const both = `{"north": {"a": "A"}, "south": {"b": "B"}}`
	if said, err := s.runWith(t, both, use, act); said != "" || err != nil {
		t.Fatalf("got %q, %v", said, err)
	}
	if got := slices.Sorted(maps.Keys(s.things)); !slices.Equal(got, []reconcile.Key{"a", "b"}) {
		t.Errorf("there is %q", got)
	}
	said, err := s.runWith(t, `{"south": {"b": "B"}}`, use, act)
	if want := "warning LEFT_BEHIND a: library at north: "; !strings.HasPrefix(said, want) ||
		strings.Contains(said, "\n") || err != nil {
		t.Errorf("got %q, %v, want %q", said, err, want)
	}
	raw, err := json.Marshal(s.desiredState(t, both))
	if want := `"at":"north"`; err != nil || !strings.Contains(string(raw), want) {
		t.Errorf("the desired state is %s, %v, want %s in it", raw, err, want)
	}
	s.desire = func(d *native.Desired) {
		for i := range d.Parts {
			d.Parts[i].At, d.Parts[i].Shard, d.Parts[i].Caller = "here", "library", "one"
		}
	}
	if _, err := s.runWith(t, both, nil, act); err == nil ||
		!strings.Contains(err.Error(), `two parts of shard "library" have the caller "one" at here`) {
		t.Errorf("parts at one place: got %v", err)
	}
}

// desiredState returns the desired state of data.
func (s *shelf) desiredState(t *testing.T, data string) any {
	t.Helper()
	out, err := s.books().(integration.Stater).DesiredState(t.Context(), answer(data), settings.Integration{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
