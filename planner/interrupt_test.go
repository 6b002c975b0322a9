package planner_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/state/durations"
	"github.com/app-sre/prcheck/state/history"
	"github.com/app-sre/prcheck/state/statetest"
	"github.com/app-sre/prcheck/trace"
)

// A state that does not answer holds nobody who was interrupted.
func TestInterrupted(t *testing.T) {
	always := func() bool { return true }
	for name, from := range map[string]func(*planner.Input, *statetest.Hanging){
		"traces":    func(in *planner.Input, s *statetest.Hanging) { in.Traces = trace.NewStore(s) },
		"results":   func(in *planner.Input, s *statetest.Hanging) { in.Results = history.NewStore(s).Snapshot(time.Now()) },
		"estimates": func(in *planner.Input, s *statetest.Hanging) { in.Estimates = durations.NewStore(s).Snapshot() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				base, head := world(), world()
				head.at("/users/ana.yml")["email"] = "new"
				in := input(t, base, head, whole)
				store := statetest.Hang(nil, always)
				from(&in, store)
				ctx, cancel := context.WithCancel(t.Context())
				var interrupted time.Time
				go func() {
					<-store.Began()
					time.Sleep(time.Hour)
					interrupted = time.Now()
					cancel()
				}()
				_, err := planner.Make(ctx, in)
				if !errors.Is(err, context.Canceled) || interrupted.IsZero() || !time.Now().Equal(interrupted) {
					t.Errorf("got %v, %v after the interrupt", err, time.Since(interrupted))
				}
			})
		})
	}
}
