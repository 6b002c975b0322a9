package dependence_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/dependence"
)

func open(t *testing.T) (state.Store, dependence.Store) {
	t.Helper()
	d, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return d, dependence.NewStore(d)
}

// What was known stays known, also when a later run depends on less or fails.
func TestAdd(t *testing.T) {
	_, s := open(t)
	run := func(command string, passed bool, schemas ...string) dependence.Run {
		return dependence.Run{Integration: "it", Command: command, Passed: passed, At: time.Unix(1, 0),
			Beyond: dependence.Beyond{Schemas: schemas}}
	}
	for _, runs := range [][]dependence.Run{nil, {run("a", true, "/x"), run("a", false, "/y")}, {run("b", false, "/z")},
		{run("a", false)}} {
		if err := s.Add(t.Context(), runs); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := (dependence.Beyond{Schemas: []string{"/x", "/y", "/z"}}); !reflect.DeepEqual(got.Beyond("it"), want) {
		t.Errorf("got %+v, want %+v", got.Beyond("it"), want)
	}
	if !got.Passed("it", "a") || got.Passed("it", "b") || got.Passed("other", "a") ||
		!reflect.DeepEqual(got.Beyond("other"), dependence.Beyond{}) {
		t.Errorf("got %+v", got)
	}
}

// The document is bounded. What does not fit is remembered as anything.
func TestBounds(t *testing.T) {
	_, s := open(t)
	var runs []dependence.Run
	for i := range 20 {
		runs = append(runs, dependence.Run{Integration: "it", Command: fmt.Sprint(i), Passed: true,
			At: time.Unix(int64(i), 0)})
	}
	var many []string
	for i := range 2000 {
		many = append(many, fmt.Sprintf("/%04d", i))
	}
	runs = append(runs, dependence.Run{Integration: "many", Command: "a", Beyond: dependence.Beyond{Missing: many}},
		dependence.Run{Integration: "many", Command: "a"})
	if err := s.Add(t.Context(), runs); err != nil {
		t.Fatal(err)
	}
	got, err := s.Snapshot(t.Context())
	if err != nil || got.Passed("it", "11") || !got.Passed("it", "12") || !got.Passed("it", "19") {
		t.Errorf("got %+v, %v", got, err)
	}
	if b := got.Beyond("many"); len(b.Missing) != 1000 || !b.Anything {
		t.Errorf("got %d names, anything %v", len(b.Missing), b.Anything)
	}
}

// A document that cannot be read says so, and knows nothing.
func TestDamaged(t *testing.T) {
	d, s := open(t)
	if err := d.Write(t.Context(), "dependence/all.json", []byte("{")); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Snapshot(t.Context()); err == nil || got.Passed("it", "a") {
		t.Errorf("got %+v and no error", got)
	}
}
