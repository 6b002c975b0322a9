package source

import (
	"context"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
)

// A Change is what a plan is made from.
type Change struct {
	Base, Head *bundle.Bundle
	Settings   *integration.Settings
	input      planner.Input
}

// Open reads everything that a plan is made from.
func Open(base, head, config string) (*Change, error) {
	settings, err := Settings(config)
	if err != nil {
		return nil, err
	}
	b, h, err := Pair(base, head)
	if err != nil {
		return nil, err
	}
	return &Change{Base: b, Head: h, Settings: settings, input: planner.Input{
		Base: b, Head: h, BaseRef: Name(base), HeadRef: Name(head),
		Settings: settings, ReadQuery: Query(settings),
	}}, nil
}

// Plan makes the plan of the change.
func (c *Change) Plan(ctx context.Context) (*plan.Plan, error) {
	p, err := planner.Make(ctx, c.input)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return p, cli.Invalid(err)
}

// Unproven evaluates both bundles as a whole and returns what the plan skips
// although it cannot be proven.
func (c *Change) Unproven(ctx context.Context, p *plan.Plan) ([]planner.Gap, error) {
	gaps, err := planner.Verify(ctx, c.input, p)
	return gaps, cli.Invalid(err)
}
