package rounds

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/integration"
)

// Since when units wait outlives the process, and is written only when a wait begins or ends.
func TestWaitsAreRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		round := func(writes bool, units ...integration.Standing) *Report {
			f := stands(units...)
			f.run = func(ctx context.Context, env integration.Environment, _ integration.Actors) error {
				return f.dry(ctx, env)
			}
			in, _ := input(f)
			in.State = store
			time.Sleep(time.Hour)
			r := once(t, in, Orders{Writes: writes, Wait: time.Minute})
			if len(r.Units) != len(units) {
				t.Fatalf("got %v %v", r.Units, r.Errors)
			}
			return r
		}
		held := integration.Standing{Key: "shop/stage", State: "held", Waits: true}
		began := time.Now().Add(time.Hour)
		if r := round(true, held); !r.Units[0].Since.Equal(began) {
			t.Errorf("the wait began at %v, want %v", r.Units[0].Since, began)
		}
		before := text(store)
		for range 3 {
			if r := round(true, held); !r.Units[0].Since.Equal(began) {
				t.Errorf("after a restart the wait began at %v, want %v", r.Units[0].Since, began)
			}
		}
		if text(store) != before {
			t.Error("a wait that goes on was written")
		}
		if r := round(false, held,
			integration.Standing{Key: "b", Waits: true, Since: began.Add(-time.Hour)}); !r.Units[1].Since.Equal(began) ||
			!r.Units[0].Since.Equal(began.Add(-time.Hour)) || text(store) != before {
			t.Errorf("a dry run tells %+v", r.Units)
		}
		round(true, integration.Standing{Key: "shop/stage", State: "same"})
		again := time.Now().Add(time.Hour)
		if r := round(true, held); !r.Units[0].Since.Equal(again) {
			t.Errorf("another wait began at %v, want %v", r.Units[0].Since, again)
		}
		// A damaged document, or one of the future, costs the times and nothing else.
		for _, damaged := range []string{"{", `{"version":"1","since":{"shop/stage":"2099-01-01T00:00:00Z"}}`,
			`{"version":"9"}`} {
			for key := range store.docs {
				if strings.Contains(key, "/waits/") {
					store.docs[key] = []byte(damaged)
				}
			}
			if r := round(true, held); r.Outcome != Done || r.Units[0].Since.After(time.Now()) {
				t.Errorf("%s: %v %+v %v", damaged, r.Outcome, r.Units, r.Errors)
			}
		}
	})
}

// A state that breaks down after the integration ran fails nothing.
func TestWaitsWithoutState(t *testing.T) {
	f := stands(integration.Standing{Key: "a", Waits: true})
	in, _ := input(f)
	if r := once(t, in, Orders{}); r.Outcome != Done || !r.Units[0].Since.IsZero() {
		t.Errorf("got %v %+v", r.Outcome, r.Units)
	}
	w := &round{Runner: New(in, Orders{Writes: true}), collector: &collector{}, report: &Report{}}
	store := newMemory()
	store.breakDown(errors.New("down"))
	w.noteWaits(t.Context(), store)
}

// text returns what a store has of waits.
func text(m *memory) string {
	out := ""
	for _, key := range slices.Sorted(maps.Keys(m.docs)) {
		if strings.Contains(key, "/waits/") {
			out += key + " " + string(m.docs[key]) + "\n"
		}
	}
	return out
}
