package source

import (
	"context"
	"errors"
	"fmt"
	"os"

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
		Settings: settings, ReadQuery: Query(settings), Natives: Natives(),
	}}, nil
}

// Plan makes the plan of the change.
func (c *Change) Plan(ctx context.Context) (*plan.Plan, error) {
	p, err := planner.Make(ctx, c.input)
	return p, invalid(ctx, err)
}

// Unproven evaluates both bundles as a whole and returns what the plan skips
// although it cannot be proven.
func (c *Change) Unproven(ctx context.Context, p *plan.Plan) ([]planner.Gap, error) {
	gaps, err := planner.Verify(ctx, c.input, p)
	return gaps, invalid(ctx, err)
}

// invalid marks an error as one of the input, unless we were interrupted.
func invalid(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return cli.Invalid(err)
}

// ReadPlan reads a plan that planner wrote.
func ReadPlan(name string) (*plan.Plan, error) {
	if name == "" {
		return nil, cli.Usage(errors.New("--plan is required: the plan that planner wrote"))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("reading plan: %w", err))
	}
	defer f.Close()
	p, err := plan.Read(f)
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("plan %q: %w", name, err))
	}
	return p, nil
}
