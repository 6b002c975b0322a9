package lease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/state"
)

// memory is a store in this process. Its calls take no time, and fail if a test says so.
type memory struct {
	state.Store // nothing else is called
	mu          sync.Mutex
	docs        map[string][]byte
	fail        error
	lose        func() bool // the answer of an update
}

func (m *memory) Update(_ context.Context, key string, change func([]byte) ([]byte, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	for {
		raw, err := change(m.docs[key])
		if err != nil || raw == nil {
			return err
		}
		m.docs[key] = raw
		if m.lose == nil || !m.lose() {
			return nil
		}
	}
}

func (m *memory) Write(_ context.Context, key string, raw []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.docs[key] = raw
	return nil
}

func (m *memory) List(context.Context, string) ([]state.Entry, error) { return nil, nil }

func (m *memory) failing(err error) { m.mu.Lock(); m.fail = err; m.mu.Unlock() }

// holders returns the number of holders of a limit.
func (m *memory) holders(t *testing.T, l Limit) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	doc, err := kind.Decode(m.docs[l.document()])
	if err != nil {
		t.Fatal(err)
	}
	return len(doc.Holders)
}

func empty() *memory { return &memory{docs: map[string][]byte{}} }

// in runs a test with a fake clock.
func in(t *testing.T, test func(t *testing.T, m *memory)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, empty()) })
}

var two = Limit{Key: "aws/app-sre", Max: 2}

// At no time do more tasks hold a place than the limit allows. All get a place and give it
// back.
func TestHold(t *testing.T) {
	in(t, func(t *testing.T, m *memory) {
		m.lose = func() bool { return rand.N(10) == 0 }
		var mu sync.Mutex
		now, most, ran := 0, 0, 0
		count := func(by int) {
			mu.Lock()
			defer mu.Unlock()
			now += by
			most = max(most, now)
			ran += max(by, 0)
		}
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				err := Hold(t.Context(), m, []Limit{two}, func(ctx context.Context) error {
					count(1)
					defer count(-1)
					time.Sleep(rand.N(40 * time.Second))
					return ctx.Err()
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if most != 2 || ran != 40 || m.holders(t, two) != 0 {
			t.Errorf("%d ran, at most %d at once, %d hold a place still; want 40, 2, 0", ran, most, m.holders(t, two))
		}
	})
}

// The place of a dead holder is free after one TTL. A place that is renewed stays held.
func TestDeath(t *testing.T) {
	in(t, func(t *testing.T, m *memory) {
		alive, err := Acquire(t.Context(), m, two)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Acquire(t.Context(), m, two); err != nil { // and dies
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var renewing sync.WaitGroup
		renewing.Go(func() {
			for ctx.Err() == nil {
				if err := alive.Renew(t.Context()); err != nil {
					t.Error(err)
				}
				time.Sleep(10 * time.Second)
			}
		})
		time.Sleep(time.Hour) // nobody waited
		began := time.Now()
		if _, err := Acquire(t.Context(), m, two); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < DefaultTTL || took > DefaultTTL+2*lastPause {
			t.Errorf("the place of the dead was free after %v, want about %v", took, DefaultTTL)
		}
		cancel()
		renewing.Wait()
		if err := alive.Renew(t.Context()); err != nil {
			t.Errorf("the living one lost its place: %v", err)
		}
	})
}

// A task stops waiting when its context ends.
func TestWaitEnds(t *testing.T) {
	in(t, func(t *testing.T, m *memory) {
		one := Limit{Key: "k", Max: 1}
		if _, err := Acquire(t.Context(), m, one); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		err := Hold(ctx, m, []Limit{one}, func(context.Context) error { t.Error("it ran"); return nil })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if _, err := Acquire(ctx, m, two); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("afterwards got %v", err)
		}
		m.failing(state.ErrUnreachable)
		if _, err := Acquire(t.Context(), m, two); !errors.Is(err, state.ErrUnreachable) ||
			!strings.Contains(err.Error(), `waiting for "aws/app-sre"`) {
			t.Errorf("without a state got %v", err)
		}
		m.failing(state.ErrBusy)
		time.AfterFunc(time.Minute, func() { m.failing(nil) })
		if _, err := Acquire(t.Context(), m, two); err != nil {
			t.Errorf("with a busy state got %v", err)
		}
	})
}

// A silent store carries updates out, and does not answer before the context ends.
type silent struct {
	*memory
	answers atomic.Bool
}

func (s *silent) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	err := s.memory.Update(ctx, key, change)
	if !s.answers.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return err
}

// An interrupt ends the waiting for a state that does not answer, and gives back the place
// that was taken although no answer came.
func TestInterrupted(t *testing.T) {
	for _, answers := range []bool{true, false} { // after the interrupt
		in(t, func(t *testing.T, m *memory) {
			s := &silent{memory: m}
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(10*time.Second, func() { s.answers.Store(answers); cancel() })
			began := time.Now()
			err := Hold(ctx, s, []Limit{two}, func(context.Context) error { t.Error("it ran"); return nil })
			want := 10 * time.Second
			if !answers {
				want += releaseWait
			}
			if took := time.Since(began); !errors.Is(err, context.Canceled) || took != want {
				t.Errorf("answers %t: got %v after %v, want it after %v", answers, err, took, want)
			}
			if n := m.holders(t, two); n != 0 {
				t.Errorf("answers %t: %d hold a place still", answers, n)
			}
		})
	}
}

// A holder that cannot renew its lease stops before others take its place. A short outage
// does no harm.
func TestLost(t *testing.T) {
	in(t, func(t *testing.T, m *memory) {
		lost := func(break_ func()) (after time.Duration, cause error) {
			var began time.Time
			err := Hold(t.Context(), m, []Limit{two}, func(ctx context.Context) error {
				began = time.Now()
				break_()
				select {
				case <-ctx.Done():
				case <-time.After(10 * time.Minute):
				}
				return context.Cause(ctx)
			})
			return time.Since(began), err
		}
		if after, err := lost(func() { m.failing(state.ErrUnreachable) }); after != DefaultTTL/2 || !errors.Is(err, ErrLost) {
			t.Errorf("without a state it ended after %v with %v, want %v and %v", after, err, DefaultTTL/2, ErrLost)
		}
		m.failing(nil)
		later := func() { time.AfterFunc(2*time.Minute+time.Second, func() { m.failing(state.ErrUnreachable) }) }
		if after, err := lost(later); after != 2*time.Minute+DefaultTTL/2 || !errors.Is(err, ErrLost) {
			t.Errorf("without a state since two minutes it ended after %v with %v", after, err)
		}
		m.failing(nil)
		short := func() {
			m.failing(state.ErrUnreachable)
			time.AfterFunc(DefaultTTL/2-DefaultTTL/6-time.Second, func() { m.failing(nil) })
		}
		if after, err := lost(short); after != 10*time.Minute || err != nil {
			t.Errorf("after short trouble it ended after %v with %v", after, err)
		}
		gone := func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.docs = map[string][]byte{}
		}
		if after, err := lost(gone); after != DefaultTTL/6 || !errors.Is(err, ErrLost) {
			t.Errorf("taken for dead, it ended after %v with %v", after, err)
		}
	})
}

// If the answer was lost or came late, the lease counts from the last sign of life. No task
// begins with a lease that is lost at once.
func TestLateAnswers(t *testing.T) {
	one := Limit{Key: "k", Max: 1, TTL: time.Minute}
	for name, late := range map[string]func(m *memory, slow func()){
		"lost": func(m *memory, slow func()) { m.lose = func() bool { slow(); m.lose = nil; return true } },
		"late": func(m *memory, slow func()) { m.lose = func() bool { slow(); m.lose = nil; return false } },
	} {
		for _, took := range []time.Duration{time.Second, 25 * time.Second, 50 * time.Second} {
			in(t, func(t *testing.T, m *memory) {
				late(m, func() { time.Sleep(took) })
				began := time.Now()
				err := Hold(t.Context(), m, []Limit{one}, func(ctx context.Context) error {
					if time.Since(began) > took+2*lastPause {
						t.Errorf("%s after %v: it began after %v", name, took, time.Since(began))
					}
					time.Sleep(time.Minute)
					return context.Cause(ctx)
				})
				if err != nil || m.holders(t, one) != 0 {
					t.Errorf("%s after %v: %v, %d holders are left", name, took, err, m.holders(t, one))
				}
			})
		}
	}
}

// No period has more starts than the rate allows, wherever the period begins.
func TestRate(t *testing.T) {
	in(t, func(t *testing.T, m *memory) {
		limit := Limit{Key: "k", Rate: Rate{10, time.Minute}}
		var mu sync.Mutex
		var starts []time.Time
		began := time.Now()
		var all sync.WaitGroup
		for range 65 {
			all.Go(func() {
				time.Sleep(rand.N(10 * time.Second))
				err := Hold(t.Context(), m, []Limit{limit}, func(context.Context) error {
					mu.Lock()
					defer mu.Unlock()
					starts = append(starts, time.Now())
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for i := range starts {
			n := 0
			for _, s := range starts[i:] {
				if s.Before(starts[i].Add(time.Minute - time.Millisecond)) {
					n++
				}
			}
			if n > 10 {
				t.Errorf("%d starts within a minute", n)
			}
		}
		if took := time.Since(began); took > 6*time.Minute+30*time.Second {
			t.Errorf("65 starts took %v", took)
		}
	})
}

// A time that is a year ahead does not stop the others for a year.
func TestWrongClock(t *testing.T) {
	in(t, func(t *testing.T, m *memory) {
		limit := Limit{Key: "k", Rate: Rate{1, time.Minute}, Max: 1}
		raw, err := json.Marshal(document{Version: "1", Starts: []int64{time.Now().AddDate(1, 0, 0).UnixMilli()}})
		if err != nil {
			t.Fatal(err)
		}
		m.docs[limit.document()] = raw
		began := time.Now()
		if _, err := Acquire(t.Context(), m, limit); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < time.Minute || took > time.Minute+2*time.Second {
			t.Errorf("waited for %v, want a minute", took)
		}
	})
}

// A damaged document may hide holders, so it is left alone for one TTL. A document of
// another version is left alone for ever.
func TestDocuments(t *testing.T) {
	in(t, func(t *testing.T, m *memory) {
		for _, text := range []string{"{", "", `{"version":"1","holders":7}`,
			`{"version":"1","starts":[` + strings.Repeat("1,", maxCount) + `1]}`} {
			m.docs = map[string][]byte{two.document(): []byte(text)}
			began := time.Now()
			if _, err := Acquire(t.Context(), m, two); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took < DefaultTTL || took > DefaultTTL+2*lastPause {
				t.Errorf("%.30q: waited for %v, want about %v", text, took, DefaultTTL)
			}
			if len(m.docs) != 2 || m.holders(t, two) != 1 {
				t.Errorf("%.30q: there are %d documents, want a new one and a copy", text, len(m.docs))
			}
		}
		m.docs = map[string][]byte{two.document(): []byte(`{"version":"2"}`)}
		if _, err := Acquire(t.Context(), m, two); !errors.Is(err, state.ErrOtherVersion) {
			t.Errorf("got %v", err)
		}
		forever := fmt.Appendf(nil, `{"version":"1","holders":[{"id":"x","ttl":%d}]}`, int64(1)<<62)
		one := Limit{Key: "k", Max: 1}
		m.docs = map[string][]byte{one.document(): forever}
		began := time.Now()
		if _, err := Acquire(t.Context(), m, one); err != nil || time.Since(began) > maxTTL+2*lastPause {
			t.Errorf("a holder with a TTL of ages: %v after %v", err, time.Since(began))
		}
	})
}

// Several limits are always taken in the same order.
func TestOrder(t *testing.T) {
	in(t, func(t *testing.T, m *memory) {
		limits := []Limit{{Key: "a", Max: 1}, {Key: "b", Max: 1}, {Key: "c", Max: 1, Rate: Rate{5, time.Minute}}}
		var all sync.WaitGroup
		for range 20 {
			mine := slices.Clone(limits)
			rand.Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				if err := Hold(ctx, m, mine, func(context.Context) error { time.Sleep(10 * time.Second); return nil }); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		wrong := errors.New("wrong")
		if err := Hold(t.Context(), m, limits, func(context.Context) error { return wrong }); err != wrong {
			t.Errorf("got %v, want the error of what ran", err)
		}
		for _, l := range limits {
			if n := m.holders(t, l); n != 0 {
				t.Errorf("%d hold %s still", n, l.Key)
			}
		}
	})
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		limits []Limit
		want   string
	}{
		{[]Limit{{Max: 1}}, `limit "": it has no key`},
		{[]Limit{{Key: strings.Repeat("k", 501), Max: 1}},
			`limit "` + strings.Repeat("k", 40) + `"…: its key has more than 500 bytes`},
		{[]Limit{{Key: "k"}}, `limit "k": it limits neither places nor starts`},
		{[]Limit{{Key: "k", Max: -1}}, `limit "k": its places must be from 0 to 1000`},
		{[]Limit{{Key: "k", Max: 1001}}, `limit "k": its places must be from 0 to 1000`},
		{[]Limit{{Key: "k", Max: 1, TTL: time.Millisecond}}, `limit "k": its TTL must be from 100ms to 1h0m0s`},
		{[]Limit{{Key: "k", Max: 1, TTL: 2 * time.Hour}}, `limit "k": its TTL must be from 100ms to 1h0m0s`},
		{[]Limit{{Key: "k", Rate: Rate{0, time.Minute}}}, `limit "k": its starts must be from 1 to 1000`},
		{[]Limit{{Key: "k", Rate: Rate{1, 0}}}, `limit "k": its period must be from 1ms to 1h0m0s`},
		{[]Limit{two, {Key: "k", Max: 1}, two}, `limit "aws/app-sre": it is named twice`},
	} {
		err := Hold(t.Context(), empty(), c.limits, func(context.Context) error { t.Error("it ran"); return nil })
		if err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	ran := false
	err := Hold(t.Context(), empty(), nil, func(context.Context) error { ran = true; return nil })
	if err != nil || !ran {
		t.Errorf("without limits: %v, ran %t", err, ran)
	}
}
