package simulation

import (
	"errors"
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var kills = flag.Int("kills", 12, "how often TestKilled kills the process; 200 are the judged ones")

// A process that dies at any moment, operations included, is followed by one that puts everything
// right: everything is as the data say, nothing is there twice or without an owner, and no
// operation is started while one is running.
func TestKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(7, 11)) //nolint:gosec // a test wants the same numbers again
		killed, rounds := 0, 0
		for killed < *kills {
			rounds++
			w := newWorld(t)
			w.Slow(40*time.Second, 5*time.Second)
			const shops = 2
			for value := 1; value <= 3 && killed < *kills; value++ {
				w.fill(shops, value)
				for range 4 {
					m := &mortal{left: 1 + random.IntN(260)}
					err := w.runUntil(m)
					if m.dies() {
						killed++
					} else if err != nil {
						t.Fatalf("%v\n%s", err, w.log.String())
					}
					time.Sleep(time.Duration(random.IntN(90)) * time.Second)
				}
				w.converge(t)
				w.checkValues(t, shops, value)
				w.checkOwned(t, shops*len(makers))
			}
			if t.Failed() {
				t.Fatalf("round %d: %s", rounds, w.log.String())
			}
		}
		t.Logf("%d kills in %d rounds", killed, rounds)
	})
}

// converge runs until nothing is left to do.
func (w *world) converge(t *testing.T) {
	t.Helper()
	var err error
	for range 6 {
		time.Sleep(15 * time.Minute)
		w.Forget()
		if err = w.run(); err == nil && len(w.Writes()) == 0 {
			return
		}
	}
	t.Fatalf("it does not end: %v\n%s\n%v\n%s", err, w.told(), w.Writes(), w.log.String())
}

// checkOwned wants so many resources, each with the mark of the integration where the type has
// tags, no resource made twice, and no write to a resource while an operation was running there.
func (w *world) checkOwned(t *testing.T, want int) {
	t.Helper()
	ids := w.IDs()
	if len(ids) != want {
		t.Errorf("there are %d resources, want %d: %q", len(ids), want, ids)
	}
	for _, id := range ids {
		tags, hasTags := w.Object(id)["tags"].(map[string]any)
		if !strings.Contains(id, "/subnets/") && !strings.Contains(id, "/firewallrules/") &&
			(!hasTags || tags["qontract-integration"] == nil) {
			t.Errorf("%s has no owner: %v", id, tags)
		}
	}
	made := map[string]int{}
	for _, op := range w.Operations() {
		if op.Verb == "POST" {
			made[op.ID]++
		}
	}
	for id, n := range made {
		if n > 1 {
			t.Errorf("%s was made %d times", id, n)
		}
	}
	for _, r := range w.Overlaps() {
		t.Errorf("a write while an operation was running: %s", r)
	}
}

// A death is an error of the run, and nothing is hidden by it.
func TestDeath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(1, 1)
		if err := w.runUntil(&mortal{left: 3}); err == nil ||
			!errors.Is(err, errKilled) && !strings.Contains(err.Error(), "cancel") {
			t.Errorf("got %v", err)
		}
	})
}
