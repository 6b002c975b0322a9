package runner

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/durations"
	"github.com/app-sre/prcheck/state/history"
	"github.com/app-sre/prcheck/state/statetest"
)

// An interrupted run ends at once even if the state does not answer, and it still writes
// to the state what it knows until then.
func TestInterruptedRun(t *testing.T) {
	r, _ := oneTask(t,
		"limits: {till: {max: 1}}\nintegrations: {price-tags: {limits: [till]}, shop-window: {limits: [till]}}\n")
	in := r.Input
	in.Plan = &plan.Plan{
		Config: in.Settings.Digest(), Base: plan.Side{SHA256: in.Base.SHA256()}, Head: plan.Side{SHA256: in.Head.SHA256()},
		Tasks: []plan.Task{
			{ID: "a", Integration: "price-tags", Command: "sha256:c", Inputs: "sha256:i", Argv: []string{"true"}, Timeout: "1m",
				Order: 1},
			{ID: "b", Integration: "shop-window", Command: "sha256:c", Inputs: "sha256:i", Argv: []string{"true"}, Timeout: "1m",
				Order: 2},
		},
	}
	dir, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	var calls atomic.Int32
	store := statetest.Hang(dir, func() bool {
		return calls.Add(1) > 2 && ctx.Err() == nil // a takes the limit and gives it back; b waits for it
	})
	in.State = store
	go func() { <-store.Began(); interrupt() }()
	out, err := Run(ctx, in, Options{Jobs: 1, Logs: r.opts.Logs})
	if !errors.Is(err, context.Canceled) || out == nil || len(out.Results) != 2 {
		t.Fatalf("got %+v, %v", out, err)
	}
	if a, b := out.Results[0].Status, out.Results[1].Status; a != plan.Passed || b != plan.Canceled ||
		len(out.Warnings) > 0 {
		t.Errorf("got %s and %s, %q", a, b, out.Warnings)
	}
	if e := durations.NewStore(dir).Estimate(t.Context(), "price-tags", ""); e.Runs != 1 {
		t.Errorf("the duration of the task that passed is not written: %+v", e)
	}
	if _, ok := history.NewStore(dir).Snapshot(time.Now()).Passed(t.Context(), in.Plan.Tasks[0], time.Hour); !ok {
		t.Error("that the task passed is not written")
	}
}
