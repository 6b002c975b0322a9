package reconcile_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/natives/reconcile"
)

// A slow doer needs a time for each write, and heeds its context.
type slowDoer time.Duration

func (slowDoer) Read(context.Context, reconcile.Key) (*reconcile.Thing, error) { return nil, nil }

func (d slowDoer) Write(ctx context.Context, _ reconcile.Step, _ *reconcile.Thing, _ reconcile.Mark) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(d)):
		return nil
	}
}

// When the context ends, the step that runs may go on for the grace time, and no other starts.
func TestGrace(t *testing.T) {
	for _, c := range []struct {
		name         string
		grace, takes time.Duration
		want         reconcile.Status
		ends         time.Duration
	}{
		{"the step ends in time", 10 * time.Second, 5 * time.Second, reconcile.StatusDone, 5 * time.Second},
		{"the step takes too long", 10 * time.Second, time.Hour, reconcile.StatusFailed, 11 * time.Second},
		{"there is no grace", 0, 5 * time.Second, reconcile.StatusFailed, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				began := time.Now()
				results, err := reconcile.Execute(ctx, creating("a", "b"), slowDoer(c.takes), nil,
					reconcile.Options{Grace: c.grace})
				if results[0].Status != c.want || results[1].Status != reconcile.StatusNotRun || err == nil {
					t.Errorf("got %s and %s (%v), want %s and %s", results[0].Status, results[1].Status, err, c.want,
						reconcile.StatusNotRun)
				}
				if c.want == reconcile.StatusFailed && !errors.Is(results[0].Err, context.Canceled) {
					t.Errorf("it failed with %v", results[0].Err)
				}
				if took := time.Since(began); took != c.ends {
					t.Errorf("it took %v, want %v", took, c.ends)
				}
			})
		})
	}
}
