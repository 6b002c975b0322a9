package native_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/state"
)

// openState returns a state in a folder of the test.
func openState(t *testing.T) state.Store {
	t.Helper()
	s, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A part that leaves the data is told in each run, and deleted when somebody says so.
func TestPartsThatLeft(t *testing.T) {
	const whole, rest = `{"north": {"north-1": "A", "north-2": "B"}, "south": {"south-1": "C"}}`, `{"south": {"south-1": "C"}}`
	told := "LEFT_BEHIND north-1, north-2: north: the part left the data, and its things stay until the data or the settings say that they are deleted"
	for _, c := range []struct {
		name     string
		data     string
		left     error // of Left
		delete   bool
		broken   string
		class    reconcile.Class
		change   func(*integration.Environment)
		base     string
		want     string
		things   []reconcile.Key
		isKnown  bool // the part is still remembered after another run
		hasError bool
	}{
		{name: "it is told", data: rest, want: "warning " + told, things: []reconcile.Key{"north-1", "north-2", "south-1"},
			isKnown: true},
		{name: "it is told by what the state knows", data: rest, class: reconcile.Knowing, want: "warning " + told,
			things: []reconcile.Key{"north-1", "north-2", "south-1"}, isKnown: true},
		{name: "it is deleted", data: rest, delete: true, things: []reconcile.Key{"south-1"},
			want: "warning LEFT_BEHIND north-1, north-2: north: the part left the data, and the data or the settings say that its things are deleted"},
		{name: "it is deleted by what the state knows", data: rest, delete: true, class: reconcile.Knowing,
			things: []reconcile.Key{"south-1"},
			want:   "warning LEFT_BEHIND north-1, north-2: north: the part left the data, and the data or the settings say that its things are deleted"},
		{name: "too much to delete", data: rest, delete: true, change: func(e *integration.Environment) {
			zero := 0
			e.Settings.Deletes.Floor = &zero
		},
			want: "error TOO_MANY_DELETES north-1, north-2: ", things: []reconcile.Key{"north-1", "north-2", "south-1"},
			isKnown: true},
		{name: "nothing else is desired", data: `{"south": {"south-1": "!"}}`, delete: true,
			want: "error EMPTY_DESIRED north-1, north-2: ", things: []reconcile.Key{"north-1", "north-2"}, isKnown: true},
		{name: "the data are empty", data: `{}`, delete: true, want: "error EMPTY_DESIRED north-1, north-2: ",
			things: []reconcile.Key{"north-1", "north-2", "south-1"}, isKnown: true},
		{name: "the target left as well", data: rest, left: errors.New("the cluster is gone"), isKnown: true,
			things: []reconcile.Key{"north-1", "north-2", "south-1"},
			want:   "warning LEFT_BEHIND north-1, north-2: north: the part left the data, and nobody can look at what was made for it: the cluster is gone"},
		{name: "the target does not answer", data: rest, broken: "north", isKnown: true,
			things: []reconcile.Key{"north-1", "north-2", "south-1"},
			want:   "warning LEFT_BEHIND north-1, north-2: north: the part left the data, and nobody can look at what was made for it: nobody answers"},
		{name: "the target does not answer, and it must go", data: rest, broken: "north", delete: true, hasError: true,
			isKnown: true, things: []reconcile.Key{"north-1", "north-2", "south-1"},
			want: "error UNREACHABLE north: nobody answers"},
		{name: "it is back", data: whole, want: "", isKnown: true, things: []reconcile.Key{"north-1", "north-2", "south-1"}},
		{name: "another shard runs", data: rest, change: func(e *integration.Environment) { e.Shard = "south" }, want: "",
			isKnown: true, things: []reconcile.Key{"north-1", "north-2", "south-1"}},
		{name: "its shard runs", data: rest, change: func(e *integration.Environment) {
			e.Shard = "north"
		}, want: "warning " + told, isKnown: true, things: []reconcile.Key{"north-1", "north-2", "south-1"}},
		{name: "somebody adopts", data: rest, delete: true, change: func(e *integration.Environment) {
			e.Approve.Adopt = true
		}, isKnown: true, things: []reconcile.Key{"north-1", "north-2", "south-1"}, want: ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			remembered := openState(t)
			s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
			s.with = func(i *native.Recipe) {
				if c.class != "" {
					i.Class = c.class
				}
			}
			s.desire = func(d *native.Desired) {
				d.DeleteLeft = c.delete
				d.Left = func(was native.Part) (native.Part, error) {
					if was.Shard != was.Caller || c.left != nil {
						return native.Part{}, c.left
					}
					return native.Part{Target: was.Shard, Items: []reconcile.Item{{Key: "never"}}, Skip: "never"}, nil
				}
			}
			run := func(data string, isDry bool) (string, error) {
				return s.call(t, "", data, isDry, func(e *integration.Environment) {
					e.State = state.ReadOnly(remembered)
					if data != whole && c.change != nil {
						c.change(e)
					}
				}, integration.Actors{State: remembered})
			}
			if said, err := run(whole, false); said != "" || err != nil {
				t.Fatalf("got %q, %v", said, err)
			}
			s.broken = c.broken
			for _, isDry := range []bool{true, false} {
				said, err := run(c.data, isDry)
				if !strings.Contains(said, c.want) || c.want == "" && said != "" || (err != nil) != c.hasError {
					t.Errorf("dry %v: got %q, %v; want %q", isDry, said, err, c.want)
				}
			}
			if got := slices.Sorted(maps.Keys(s.things)); !slices.Equal(got, c.things) {
				t.Errorf("there is %q, want %q", got, c.things)
			}
			if _, err := run(c.data, false); (err != nil) != c.hasError {
				t.Error(err)
			}
			raw, err := remembered.Read(t.Context(), "parts.json")
			if err != nil || strings.Contains(string(raw), `"north"`) != c.isKnown {
				t.Errorf("the state has %s, %v", raw, err)
			}
		})
	}
}

// An interrupted run made things that it could not remember. They are told when nobody can look.
func TestPartsThatLeftInterrupted(t *testing.T) {
	remembered := openState(t)
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
	s.desire = func(d *native.Desired) {
		d.Left = func(native.Part) (native.Part, error) { return native.Part{}, errors.New("the cluster is gone") }
	}
	use := func(e *integration.Environment) { e.State = remembered }
	if _, err := s.runWith(t, `{"north": {"a": "A"}, "south": {}}`, use,
		integration.Actors{State: &dying{Store: remembered}}); err == nil {
		t.Error("the state died, and the run passed")
	}
	if len(s.things) == 0 {
		t.Fatal("nothing was made")
	}
	said, err := s.runWith(t, `{"south": {"c": "C"}}`, use, integration.Actors{State: remembered})
	if want := "warning LEFT_BEHIND a: north: the part left the data, and nobody can look at what was made for it: the cluster is gone"; !strings.Contains(said, want) || err != nil {
		t.Errorf("got %q, %v; want %q", said, err, want)
	}
}

// A dying state fails as soon as a thing is to be remembered.
type dying struct {
	state.Store
	dead atomic.Bool
}

func (d *dying) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	if d.dead.Load() || strings.HasPrefix(key, "known/") {
		d.dead.Store(true)
		return errors.New("it died")
	}
	return d.Store.Update(ctx, key, change)
}

func (d *dying) Remove(ctx context.Context, key string) error {
	if d.dead.Load() {
		return errors.New("it died")
	}
	return d.Store.Remove(ctx, key)
}

// A merge request is not told of parts that left, and a state that cannot be read is no empty one.
func TestPartsOfTheState(t *testing.T) {
	remembered := openState(t)
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
	s.desire = func(d *native.Desired) {
		d.Left = func(was native.Part) (native.Part, error) { return native.Part{Target: was.Shard}, nil }
	}
	use := func(e *integration.Environment) { e.State = remembered }
	if _, err := s.runWith(t, `{"north": {"a": "A"}, "south": {}}`, use,
		integration.Actors{State: remembered}); err != nil {
		t.Fatal(err)
	}
	said, err := s.run(t, `{"south": {"c": "C"}}`, `{"south": {"c": "C"}}`, true, use)
	if said != "create c" || err != nil {
		t.Errorf("a change: got %q, %v", said, err)
	}
	if err := remembered.Write(t.Context(), "parts.json", []byte(`{"version": "1", "par`)); err != nil {
		t.Fatal(err)
	}
	writes := s.writes
	said, err = s.runWith(t, `{"south": {"c": "C"}}`, use, integration.Actors{State: remembered})
	if !errors.Is(err, integration.ErrNothingDone) || said != "" || s.writes != writes {
		t.Errorf("a damaged document: got %q, %v, %d writes", said, err, s.writes-writes)
	}
}
