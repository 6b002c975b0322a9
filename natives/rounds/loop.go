package rounds

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state/loops"
)

// noteLoop keeps how the loop stands after a round that may write, for people who look at all loops. A round that
// only does what a person asked for says nothing about the loop, and neither does one that another run kept away.
func (w *round) noteLoop(ctx context.Context) {
	asked := w.opts.Approve.Adopt || w.opts.Approve.TakeOver || w.opts.Approve.Word != nil
	if w.in.State == nil || !w.opts.Writes || w.opts.Status || asked || w.report.Misused ||
		w.report.Outcome == Skipped || w.report.Outcome == Interrupted {
		return
	}
	doc := loops.Loop{
		Integration: w.report.Integration, Shard: w.report.Shard, Static: w.report.Static, Ended: time.Now(),
		Outcome: string(w.report.Outcome), Every: int64(w.opts.Every / time.Second), Errors: w.report.Errors,
		Units: w.report.Units, MoreUnits: w.report.MoreUnits, Flows: w.passed(),
	}
	for _, f := range w.report.Findings {
		if f.Severity == plan.SeverityError && f.Fails() {
			doc.Errors = append(slices.Clone(doc.Errors), f.Message)
		}
	}
	if w.report.Bundle != nil {
		doc.Commit = w.report.Bundle.Commit
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTTL/2)
	defer cancel()
	if err := loops.NewStore(w.in.State).Write(ctx, doc); err != nil {
		w.tell(fmt.Sprintf("boards do not show this round: %v", err))
	}
}

// passed returns the flows that the integration told.
func (c *collector) passed() []integration.Flow {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.flows)
}
