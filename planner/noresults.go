package planner

import (
	"context"
	"time"

	"github.com/app-sre/prcheck/plan"
)

// NoResults are results of which none lets a task be left out. Unlike no results at all,
// they still give each task the digest of its inputs, by which its own result is remembered.
type NoResults struct{}

// Passed reports that the task did not pass.
func (NoResults) Passed(context.Context, plan.Task, time.Duration) (time.Time, bool) {
	return time.Time{}, false
}

// LastEffects reports that no effects are remembered.
func (NoResults) LastEffects(context.Context, plan.Task, time.Duration, string) (*plan.Effects, time.Time) {
	return nil, time.Time{}
}

// Effects reports that no effects are remembered.
func (NoResults) Effects(context.Context, plan.Task, time.Time, string) (*plan.Effects, bool) {
	return nil, false
}
