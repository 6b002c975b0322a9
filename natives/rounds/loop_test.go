package rounds

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/integration"
)

// Rounds follow each other after the pause and up to a tenth of it, whether they fail or not.
func TestPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const every, takes = 15 * time.Minute, time.Minute
		var starts []time.Time
		in, _ := input(fake{dry: func(context.Context, integration.Environment) error {
			starts = append(starts, time.Now())
			time.Sleep(takes)
			switch len(starts) % 3 {
			case 0:
				return errors.New("no room")
			case 1:
				panic("oh no")
			}
			return nil
		}})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(24*time.Hour+takes, cancel)
		var outcomes []Outcome
		_, err := New(in, Orders{Every: every, Timeout: time.Hour}).Run(ctx, func(r *Report) error {
			outcomes = append(outcomes, r.Outcome)
			return nil
		})
		if err != nil {
			t.Errorf("it ended with %v", err)
		}
		for i := 1; i < len(starts); i++ {
			if gap := starts[i].Sub(starts[i-1]) - takes; gap < every || gap > every+every/10 {
				t.Errorf("round %d began %v after the end of the one before", i+1, gap)
			}
		}
		if n := len(starts); n < 24*60/18 || n > 24*60/16+1 {
			t.Errorf("there were %d rounds in a day", n)
		}
		if want := []Outcome{NothingDone, Done, Failed}; !slices.Equal(outcomes[:3], want) {
			t.Errorf("got %v, want %v", outcomes[:3], want)
		}
	})
}

// To be told to end between two rounds is no failure.
func TestEndBetweenRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, _ := input(fake{})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		if last, err := New(in, Orders{Every: time.Hour}).Run(ctx, func(*Report) error { return nil }); last != nil ||
			err != nil {
			t.Errorf("got %v, %v", last, err)
		}
	})
}

// An error of writing a report ends the rounds.
func TestEmitFails(t *testing.T) {
	in, _ := input(fake{})
	full := errors.New("disk full")
	if _, err := New(in, Orders{Every: time.Hour}).Run(t.Context(), func(*Report) error { return full }); !errors.Is(err,
		full) {
		t.Errorf("got %v", err)
	}
}

// When the context ends, the integration is told, and what it did is reported.
func TestInterrupted(t *testing.T) {
	for _, every := range []time.Duration{0, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			in, _ := input(fake{run: func(ctx context.Context, _ integration.Environment, act integration.Actors) error {
				act.Did(integration.Deed{Key: "a", Action: "create", Status: "done"})
				<-ctx.Done()
				time.Sleep(5 * time.Second) // the step that runs ends
				act.Did(integration.Deed{Key: "b", Action: "create", Status: "done"})
				return ctx.Err()
			}})
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Minute, cancel)
			last, err := New(in, Orders{Writes: true, Every: every}).Run(ctx, func(*Report) error { return nil })
			if err != nil || last == nil || last.Outcome != Interrupted || len(last.Steps) != 2 {
				t.Errorf("every %v: got %+v, %v", every, last, err)
			}
		})
	}
}

// A round that takes too long ends.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, _ := input(fake{dry: func(ctx context.Context, _ integration.Environment) error {
			<-ctx.Done()
			return integration.ErrNothingDone
		}})
		began := time.Now()
		r := once(t, in, Orders{Timeout: time.Minute})
		if want := []string{"nothing could be done", "the round took longer than 1m0s"}; r.Outcome != NothingDone ||
			!slices.Equal(r.Errors, want) {
			t.Errorf("got %s, %q, want %q", r.Outcome, r.Errors, want)
		}
		if took := time.Since(began); took != time.Minute {
			t.Errorf("it took %v", took)
		}
	})
}

// Two runs of one integration and shard that write are never at work at once. Others are.
func TestLease(t *testing.T) {
	for _, c := range []struct {
		name    string
		options [2]Orders
		want    string // outcomes, sorted
		most    int32  // at once
	}{
		{"the second waits", [2]Orders{{Writes: true, Wait: time.Minute}, {Writes: true, Wait: time.Minute}}, "done done", 1},
		{"the second waits too long", [2]Orders{{Writes: true, Wait: 5 * time.Second}, {Writes: true, Wait: 5 * time.Second}},
			"done skipped", 1},
		{"two shards", [2]Orders{{Writes: true, Wait: time.Minute, Shard: "a"},
			{Writes: true, Wait: time.Minute, Shard: "b"}}, "done done", 2},
		{"a dry run", [2]Orders{{Writes: true, Wait: time.Minute}, {Wait: time.Minute}}, "done done", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var now, most atomic.Int32
				in, _ := input(fake{dry: func(ctx context.Context, _ integration.Environment) error {
					most.Store(max(most.Load(), now.Add(1)))
					time.Sleep(20 * time.Second)
					now.Add(-1)
					return ctx.Err() // the patience is for the lease alone
				}})
				in.State = newMemory()
				var all sync.WaitGroup
				outcomes := make([]string, 2)
				for i, o := range c.options {
					all.Go(func() { outcomes[i] = string(New(in, o).Round(t.Context()).Outcome) })
				}
				all.Wait()
				slices.Sort(outcomes)
				if got := strings.Join(outcomes, " "); got != c.want || most.Load() != c.most {
					t.Errorf("got %s and %d at once, want %s and %d", got, most.Load(), c.want, c.most)
				}
			})
		})
	}
}

// When the lease is lost, the integration is told to end, before another run may begin.
func TestLostLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newMemory()
		in, _ := input(fake{run: func(ctx context.Context, _ integration.Environment, _ integration.Actors) error {
			s.breakDown(errors.New("no answer"))
			<-ctx.Done()
			return errors.New("not run: " + ctx.Err().Error())
		}})
		in.State = s
		began := time.Now()
		r := once(t, in, Orders{Writes: true, Wait: time.Minute})
		if r.Outcome != Failed || !strings.Contains(strings.Join(r.Errors, "\n"), "the lease is lost") {
			t.Errorf("got %s, %q", r.Outcome, r.Errors)
		}
		if took := time.Since(began); took > leaseTTL/2+10*time.Second { // releasing waits some seconds
			t.Errorf("it took %v", took)
		}
	})
}

// A state that does not answer makes nothing happen.
func TestNoState(t *testing.T) {
	for _, writes := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			in, _ := input(fake{dry: func(context.Context, integration.Environment) error {
				t.Error("the integration was called")
				return nil
			}})
			s := newMemory()
			s.breakDown(errors.New("no answer"))
			in.State = s
			if r := once(t, in, Orders{Writes: writes, Wait: time.Minute}); r.Outcome != NothingDone || len(r.Errors) != 1 {
				t.Errorf("writes %t: got %s, %q", writes, r.Outcome, r.Errors)
			}
		})
	}
}
