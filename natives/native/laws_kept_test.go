package native_test

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// manyWorlds is how many worlds a law is tried on.
func manyWorlds() uint64 {
	if testing.Short() {
		return 200
	}
	return 1000
}

// For every world: what is kept never changes, and what would have been deleted of it is told.
func TestKeptNeverChanges(t *testing.T) {
	told := 0
	for seed := range manyWorlds() {
		r := newRandom(seed)
		kept := map[reconcile.Key]string{}
		for k := range r.shelf.things {
			if r.IntN(3) == 0 {
				kept[k] = "a doubt"
			}
		}
		r.shelf.with = func(i *native.Recipe) {
			current := i.Current
			i.Current = func(ctx context.Context, env integration.Environment, p native.Part) (native.Current, error) {
				c, err := current(ctx, env, p)
				c.Kept = kept
				return c, err
			}
		}
		without := newRandom(seed)
		deletions := without.effects(t, "", wide)
		before := maps.Clone(r.shelf.things)
		for range 3 {
			said, err := r.shelf.run(t, "", r.json(t), false, wide)
			if err != nil {
				t.Fatalf("world %d: %v", seed, err)
			}
			for k := range kept {
				if !reflect.DeepEqual(r.shelf.things[k], before[k]) {
					t.Fatalf("world %d: %s is kept, and changed from %v to %v", seed, k, before[k], r.shelf.things[k])
				}
				isTold := strings.Contains(said, "note KEPT "+string(k)+": ")
				if slices.Contains(deletions, "delete "+string(k)) && !isTold {
					t.Fatalf("world %d: %s would be deleted, and nobody tells that it is kept: %s", seed, k, said)
				}
				if isTold {
					told++
				}
			}
		}
	}
	if told < 100 {
		t.Errorf("only %d kept things were told", told)
	}
}

// For every world: the things of parts that left the data stay, whatever else happens, until the
// data say that they go; then they go, and the parts are forgotten.
func TestLeftStaysUntilAsked(t *testing.T) {
	left := 0
	for seed := range manyWorlds() {
		r := newRandom(seed)
		remembered := newPaper()
		isAsked := false
		r.shelf.desire = func(d *native.Desired) {
			d.DeleteLeft = isAsked
			d.Left = func(was native.Part) (native.Part, error) { return native.Part{Target: was.Shard}, nil }
		}
		run := func() string {
			said, err := r.shelf.runWith(t, r.json(t), func(e *integration.Environment) { wide(e); e.State = remembered },
				integration.Actors{State: remembered})
			if err != nil {
				t.Fatalf("world %d: %v", seed, err)
			}
			return said
		}
		run()
		run() // what was taken over from a gone caller is ours now
		r.data["stays"] = map[string]string{"stays-0": "Atlas"}
		gone := map[string]bool{}
		for shard := range r.data {
			if shard != "stays" && r.IntN(2) == 0 {
				gone[shard] = true
				delete(r.data, shard)
			}
		}
		ours := map[reconcile.Key]reconcile.Thing{}
		for k, th := range r.shelf.things {
			if th.Mark.Integration == "books" && gone[th.Mark.Caller] {
				ours[k] = th
			}
		}
		for range 2 {
			said := run()
			for k, th := range ours {
				if !reflect.DeepEqual(r.shelf.things[k], th) {
					t.Fatalf("world %d: the part of %s left, and it changed to %v", seed, k, r.shelf.things[k])
				}
				if !strings.Contains(said, "warning LEFT_BEHIND ") {
					t.Fatalf("world %d: nobody tells of %s: %s", seed, k, said)
				}
				left++
			}
		}
		isAsked = true
		run()
		run()
		for k := range ours {
			if _, isThere := r.shelf.things[k]; isThere {
				t.Fatalf("world %d: the part of %s left and must go, and it is there", seed, k)
			}
		}
		if said := run(); strings.Contains(said, "LEFT_BEHIND") {
			t.Fatalf("world %d: nothing is left, and it says %s", seed, said)
		}
	}
	if left < 100 {
		t.Errorf("only %d things were left", left)
	}
}

// A crowd is a doer that notices two runs that write to one part at the same moment.
type crowd struct {
	*shelf
	mu     sync.Mutex
	random *rand.Rand
	now    map[string]map[int]int // how many writes each run makes at this moment, by part
	met    string                 // a part at which two runs met
}

// write does a write of one run, after a pause.
func (c *crowd) write(ctx context.Context, run int, part string, write func() error) error {
	c.mu.Lock()
	if c.now[part] == nil {
		c.now[part] = map[int]int{}
	}
	c.now[part][run]++
	if len(c.now[part]) > 1 {
		c.met = part
	}
	pause := time.Duration(c.random.IntN(20)) * time.Second
	c.mu.Unlock()
	time.Sleep(pause)
	err := write()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now[part][run]--; c.now[part][run] == 0 {
		delete(c.now[part], run)
	}
	return errors.Join(err, ctx.Err())
}

// A visitor is the doer of one run at one part.
type visitor struct {
	*crowd
	run  int
	part string
}

func (w visitor) Write(ctx context.Context, step reconcile.Step, was *reconcile.Thing, mark reconcile.Mark) error {
	return w.write(ctx, w.run, w.part, func() error { return w.shelf.Write(ctx, step, was, mark) })
}

// meet makes a run over all shards and runs over single shards at about the same time, and returns
// a part to which two of them wrote at the same moment. Each run gets its state from next.
func meet(t *testing.T, seed uint64, next func() *paper) (part string) {
	t.Helper()
	r := newRandom(seed)
	c := &crowd{shelf: r.shelf, random: rand.New(rand.NewPCG(seed, 3)), now: map[string]map[int]int{}} //nolint:gosec // repeatable
	var running sync.WaitGroup
	shards := append([]string{""}, slices.Sorted(maps.Keys(r.data))...)
	for run, shard := range shards {
		start, data, store := time.Duration(r.IntN(30))*time.Second, r.json(t), next()
		s := &shelf{things: r.shelf.things, with: func(i *native.Recipe) {
			i.Current = func(_ context.Context, _ integration.Environment, p native.Part) (native.Current, error) {
				r.shelf.mu.Lock()
				defer r.shelf.mu.Unlock()
				var out native.Current
				for k, th := range r.shelf.things {
					if strings.HasPrefix(string(k), p.Shard+"-") {
						out.Things = append(out.Things, th)
					}
				}
				return out, nil
			}
			i.Doer = func(_ context.Context, _ integration.Environment, _ integration.Actors,
				p native.Part) (reconcile.Doer, error) {
				return visitor{c, run, p.Shard}, nil
			}
		}}
		running.Go(func() {
			time.Sleep(start)
			// It fails if another run is faster, or writes for too long.
			_, _ = s.runWith(t, data, func(e *integration.Environment) { wide(e); e.Shard, e.State = shard, store },
				integration.Actors{State: store})
		})
	}
	running.Wait()
	return c.met
}

// For every world: a run over all shards and runs over single shards never write to one part at the
// same moment. Runs that do not share a state do, so the law can fail.
func TestRunsDoNotMeet(t *testing.T) {
	met := 0
	for seed := range manyWorlds() {
		synctest.Test(t, func(t *testing.T) {
			store := newPaper()
			if part := meet(t, seed, func() *paper { return store }); part != "" {
				t.Fatalf("world %d: two runs write to %s at once", seed, part)
			}
			if seed%10 > 0 {
				return
			}
			if part := meet(t, seed, newPaper); part != "" {
				met++
			}
		})
	}
	if want := int(manyWorlds()) / 40; met < want {
		t.Errorf("without a common state only %d worlds have two runs at one part, want %d", met, want)
	}
}
