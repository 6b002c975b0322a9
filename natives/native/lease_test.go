package native_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
)

// A slow doer takes a while for each write, and counts how many write at once.
type slow struct {
	*shelf
	now, most atomic.Int32
}

func (s *slow) Write(ctx context.Context, step reconcile.Step, was *reconcile.Thing, mark reconcile.Mark) error {
	if n := s.now.Add(1); n > s.most.Load() {
		s.most.Store(n)
	}
	defer s.now.Add(-1)
	time.Sleep(3 * time.Minute)
	return s.shelf.Write(ctx, step, was, mark)
}

// Runs that write to one part, or under one lease, do not write at once. Who waits too long gives
// up for this run.
func TestLeases(t *testing.T) {
	for _, c := range []struct {
		name   string
		lease  string // of both parts
		second func(*integration.Environment)
		data   string // of the second run
		most   int32
		error  string // of the second run
	}{
		{"the same part", "", func(e *integration.Environment) { e.Wait = 10 * time.Minute }, `{"north": {"b": "B"}}`, 1, ""},
		{"the same part, and no patience", "", nil, `{"north": {"b": "B"}}`, 1,
			"north: another run writes to it; the next run goes on"},
		{"the same part in a shard", "", func(e *integration.Environment) { e.Shard, e.Wait = "north", 10*time.Minute },
			`{"north": {"b": "B"}, "south": {"c": "C"}}`, 1, ""},
		{"another part", "", nil, `{"south": {"c": "C"}}`, 2, ""},
		{"another part under the same lease", "cluster", nil, `{"south": {"c": "C"}}`, 1, "south: another run writes to it"},
		{"a static shard beside the whole", "", func(e *integration.Environment) { e.Static = plan.Fraction{Part: 1, Of: 2} },
			`{"north": {"1": "B", "2": "B", "3": "B", "4": "B"}}`, 3, ""},
		{"nothing to do", "", nil, `{"north": {"there": "Atlas"}}`, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				remembered := openState(t)
				s := &slow{shelf: &shelf{things: map[reconcile.Key]reconcile.Thing{}}}
				s.put("there", bookOf("north"))
				s.with = func(i *native.Recipe) {
					i.Class = reconcile.Blind
					i.Doer = func(context.Context, integration.Environment, integration.Actors, native.Part) (reconcile.Doer, error) {
						return s, nil
					}
				}
				s.desire = func(d *native.Desired) {
					for i := range d.Parts {
						d.Parts[i].Lease = c.lease
					}
				}
				act := integration.Actors{State: remembered}
				use := func(e *integration.Environment) { e.State = state.ReadOnly(remembered) }
				var first error
				go func() { _, first = s.runWith(t, `{"north": {"a": "A"}}`, use, act) }()
				time.Sleep(time.Second)
				_, err := s.runWith(t, c.data, func(e *integration.Environment) {
					use(e)
					if c.second != nil {
						c.second(e)
					}
				}, act)
				time.Sleep(time.Hour)
				synctest.Wait()
				if first != nil || s.most.Load() != c.most {
					t.Errorf("%d wrote at once, want %d; the first run ended with %v", s.most.Load(), c.most, first)
				}
				if (err == nil) != (c.error == "") ||
					err != nil &&
						(!strings.Contains(err.Error(), c.error) || integration.ClassOfFailure(err) != integration.FailureTransient) {
					t.Errorf("the second run ended with %v, want %q", err, c.error)
				}
			})
		})
	}
}

// Parts of one lease share it within a run, and a lease that is lost ends the run of its parts.
func TestLeaseOfSeveralParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remembered := openState(t)
		s := &slow{shelf: &shelf{things: map[reconcile.Key]reconcile.Thing{}}}
		s.with = func(i *native.Recipe) {
			i.Doer = func(context.Context, integration.Environment, integration.Actors, native.Part) (reconcile.Doer, error) {
				return s, nil
			}
		}
		s.desire = func(d *native.Desired) {
			for i := range d.Parts {
				d.Parts[i].Lease = "cluster"
			}
		}
		_, err := s.runWith(t, `{"north": {"a": "A"}, "south": {"c": "C"}}`, nil, integration.Actors{State: remembered})
		if err != nil || s.most.Load() != 2 {
			t.Errorf("%d wrote at once, %v", s.most.Load(), err)
		}
		_, err = s.runWith(t, `{"north": {"b": "B"}}`, nil, integration.Actors{State: noLeases{remembered}})
		if err == nil || !strings.Contains(err.Error(), "north: holding the lease of what is written: ") ||
			len(s.things) != 2 {
			t.Errorf("no lease can be had: got %v and %v", err, s.things)
		}
	})
}

// A noLeases is a state that cannot keep leases.
type noLeases struct{ state.Store }

func (n noLeases) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	if strings.HasPrefix(key, "lease") {
		return errors.New("403 Forbidden")
	}
	return n.Store.Update(ctx, key, change)
}
