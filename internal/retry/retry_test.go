package retry_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/internal/retry"
)

var errTrouble = errors.New("trouble")

// least and most return the smallest and the largest random duration.
func least(time.Duration) time.Duration      { return 0 }
func most(below time.Duration) time.Duration { return below - 1 }
func passes(error) (time.Duration, bool)     { return 0, true }
func asks(after time.Duration) func(error) (time.Duration, bool) {
	return func(error) (time.Duration, bool) { return after, true }
}

// usual is the policy that the tests change.
var usual = retry.Policy{Attempts: 5, FirstPause: 100 * time.Millisecond, MaxPause: time.Second, Random: least}

func TestDo(t *testing.T) {
	const ms = time.Millisecond
	permanent := retry.Permanent(errTrouble)
	within := usual
	within.Within = 10 * time.Second
	for _, test := range []struct {
		name     string
		policy   retry.Policy
		errs     []error // of the attempts; the last one stays
		mayPass  func(error) (time.Duration, bool)
		attempts int
		want     string        // error; "" for none
		took     time.Duration // with the longest pauses
	}{
		{"good", usual, []error{nil}, passes, 1, "", 0},
		{"good the third time", usual, []error{errTrouble, errTrouble, nil}, passes, 3, "", 300 * ms},
		{"trouble", usual, []error{errTrouble}, passes, 5, "trouble (tried 5 times)", 1500 * ms},
		{"does not pass", usual, []error{errTrouble}, func(error) (time.Duration, bool) { return 0, false }, 1, "trouble", 0},
		{"permanent", usual, []error{permanent}, passes, 1, "trouble", 0},
		{"permanent the second time", usual, []error{errTrouble, permanent}, passes, 2, "trouble (tried 2 times)", 100 * ms},
		{"asks for seven seconds", usual, []error{errTrouble, nil}, asks(7 * time.Second), 2, "", 7 * time.Second},
		{"asks for less than the pause", usual, []error{errTrouble, nil}, asks(7 * ms), 2, "", 100 * ms},
		{"asks for too long", within, []error{errTrouble}, asks(11 * time.Second), 1, "trouble", 0},
		{"asks for too long the third time", within, []error{errTrouble}, asks(4 * time.Second), 3, "trouble (tried 3 times)",
			8 * time.Second},
		{"one attempt", retry.Policy{Attempts: 1}, []error{errTrouble}, passes, 1, "trouble", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			began, attempts := time.Now(), 0
			err := test.policy.Do(t.Context(), func(context.Context) error {
				attempts++
				return test.errs[min(attempts, len(test.errs))-1]
			}, test.mayPass)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != test.want || attempts != test.attempts || time.Since(began) != test.took {
				t.Errorf("%s: got %q, %d attempts, %v; want %q, %d, %v", test.name, got, attempts, time.Since(began), test.want,
					test.attempts, test.took)
			}
			if err != nil && !errors.Is(err, errTrouble) {
				t.Errorf("%s: the error is not that of an attempt: %v", test.name, err)
			}
		})
	}
}

// When the context ends, Do returns at once, during an attempt and during a pause.
func TestDoEnds(t *testing.T) {
	why := errors.New("nobody wants it")
	for name, do := range map[string]func(context.Context) error{
		"attempt": func(ctx context.Context) error { <-ctx.Done(); return errTrouble },
		"pause":   func(context.Context) error { return errTrouble },
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Minute, func() { cancel(why) })
			began := time.Now()
			err := usual.Do(ctx, do, asks(time.Hour))
			if err != why || time.Since(began) != time.Minute {
				t.Errorf("%s: got %v after %v", name, err, time.Since(began))
			}
		})
	}
}

func TestPause(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		random   func(time.Duration) time.Duration
		failures int
		after    time.Duration
		want     time.Duration
	}{
		{least, 1, 0, 100 * ms}, {least, 2, 0, 200 * ms}, {least, 4, 0, 800 * ms}, {least, 5, 0, time.Second},
		{least, 1000, 0, time.Second},
		{most, 1, 0, 50*ms + 1}, {most, 2, 0, 100*ms + 1}, {most, 5, 0, 500*ms + 1},
		{least, 1, time.Minute, time.Minute}, {most, 1, time.Minute, time.Minute + time.Second - 1},
		{least, 5, ms, time.Second},
	} {
		p := usual
		p.Random, p.Spread = test.random, time.Second
		if got := p.Pause(test.failures, test.after); got != test.want {
			t.Errorf("after %d failures, asked for %v: got %v, want %v", test.failures, test.after, got, test.want)
		}
	}
	p := usual
	p.Random = nil
	var pauses []time.Duration
	for range 50 {
		pause := p.Pause(1, 0)
		if pause <= 50*ms || pause > 100*ms {
			t.Errorf("got %v, want more than 50ms and at most 100ms", pause)
		}
		pauses = append(pauses, pause)
	}
	if slices.Sort(pauses); len(slices.Compact(pauses)) == 1 {
		t.Error("all pauses are alike")
	}
}

func TestAfter(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": -1, "x": -1, "-1": -1, "1.5": -1, "99999999999999": -1,
		"0": 0, "7": 7 * time.Second, "86400": 24 * time.Hour,
		"Sat, 21 Nov 2026 12:00:40 GMT": 40 * time.Second, "Sat, 21 Nov 2026 11:00:00 GMT": 0,
	} {
		got, ok := retry.After(http.Header{"Retry-After": {value}}, now)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: got %v, %t, want %v", value, got, ok, want)
		}
	}
}

func TestPermanent(t *testing.T) {
	if retry.Permanent(nil) != nil || retry.IsPermanent(nil) || retry.IsPermanent(errTrouble) {
		t.Error("no error is permanent")
	}
	if err := retry.Tried(retry.Permanent(errTrouble), 3); !retry.IsPermanent(err) || !errors.Is(err, errTrouble) {
		t.Errorf("%v is not permanent", err)
	}
}
