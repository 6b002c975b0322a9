package change

import (
	"context"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
)

// A pass is what one task did, at a time before now.
type pass time.Duration

// Passed implements planner.Results.
func (p pass) Passed(_ context.Context, _ plan.Task, within time.Duration) (began time.Time, ok bool) {
	return time.Time{}, time.Duration(p) <= within
}

// LastEffects implements planner.Results.
func (p pass) LastEffects(_ context.Context, _ plan.Task, within time.Duration, _ string) (*plan.Effects, time.Time) {
	if time.Duration(p) > within {
		return nil, time.Time{}
	}
	return &plan.Effects{}, time.Time{}
}

// Effects implements planner.Results.
func (pass) Effects(context.Context, plan.Task, time.Time, string) (*plan.Effects, bool) {
	return nil, false
}

// Results of the own state count for ten minutes, or for less if the settings say so.
func TestLately(t *testing.T) {
	for _, c := range []struct {
		age, settings time.Duration
		want          bool
	}{
		{9 * time.Minute, time.Hour, true},
		{10 * time.Minute, time.Hour, true},
		{11 * time.Minute, time.Hour, false},
		{11 * time.Minute, 14 * 24 * time.Hour, false},
		{4 * time.Minute, 5 * time.Minute, true},
		{6 * time.Minute, 5 * time.Minute, false},
		{time.Minute, 0, false},
	} {
		results := lately{pass(c.age), OwnReuse}
		_, passed := results.Passed(t.Context(), plan.Task{}, c.settings)
		found, _ := results.LastEffects(t.Context(), plan.Task{}, c.settings, "")
		if passed != c.want || (found != nil) != c.want {
			t.Errorf("%s ago, reuse %s: got %t and %v, want %t", c.age, c.settings, passed, found, c.want)
		}
	}
}
