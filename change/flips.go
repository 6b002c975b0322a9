package change

import (
	"context"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
)

// Flips finds the changes that would have decided otherwise about an integration of a plan.
func (c *Change) Flips(ctx context.Context, p *plan.Plan, name string) (plan.Flips, error) {
	if c.server != nil {
		return plan.Flips{Known: []plan.Flip{}, Why: "the bundles are on a live server, where no other change can be tried"},
			nil
	}
	flips, err := planner.Flips(ctx, c.input, p, name)
	return flips, c.trouble(ctx, err)
}
