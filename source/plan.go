package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/live"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/state"
)

// A Change is what a plan is made from.
type Change struct {
	Base, Head *bundle.Bundle
	Settings   *integration.Settings
	rules      Rules
	State      state.Store // nil when nothing is remembered
	input      planner.Input
	live       *live.Bundles // nil when they are files
}

// Inputs name what a plan is made from, as flags give it.
type Inputs struct {
	Base, Head string // references
	// BaseName and HeadName are what the plan calls them; "": see [Name].
	BaseName, HeadName string
	Config             string // a file, base:PATH or git:REV[@DIR]:PATH; "" for the default
	State              string // place; "" when nothing is remembered
	Access             state.Access
	NoCache            bool // nothing is remembered of checkouts
	NoReuse            bool // what passed before runs again

	gitlab   bool   // filled in from the variables of a job
	ciConfig string // the CI file of the project, when it is not the usual one
}

// Open reads everything that a plan is made from. Checkouts are bundled as the
// settings of the change say.
func (in Inputs) Open(ctx context.Context, env cli.Env) (*Change, error) {
	rules, err := rulesOf(ctx, in.Config, in.Base)
	if err != nil {
		return nil, err
	}
	remembered, err := Memory(ctx, env, in.State, in.Access)
	if err != nil {
		return nil, err
	}
	c := &Change{Settings: rules.Settings, rules: rules, State: remembered, input: planner.Input{
		Settings: rules.Settings, ReadQuery: rules.Query, Programs: Programs(rules.Settings), Natives: Natives(),
	}}
	if remembered != nil {
		c.input.Traces, c.input.Estimates = Traces(remembered), Durations(remembered).Snapshot()
		c.input.Results = Passed(remembered, in.NoReuse, time.Now())
	}
	if err := c.openBundles(ctx, env, in); err != nil {
		return nil, err
	}
	if c.input.Edits, err = in.edits(ctx, rules, c.Head); err != nil {
		return nil, err
	}
	c.input.Base, c.input.Head = c.Base, c.Head
	return c, nil
}

func (c *Change) openBundles(ctx context.Context, env cli.Env, in Inputs) (err error) {
	if live.Is(in.Base) || live.Is(in.Head) {
		return c.openLive(ctx, env, in)
	}
	open := in.opener(env, c.rules)
	c.input.BaseRef, c.input.HeadRef = cmp.Or(in.BaseName, Name(in.Base)), cmp.Or(in.HeadName, Name(in.Head))
	c.Base, c.Head, err = open.Pair(ctx, in.Base, in.Head)
	return err
}

// opener opens checkouts as the settings of the change say.
func (in Inputs) opener(env cli.Env, r Rules) Opener {
	open := r.With(In(env))
	if in.NoCache {
		open.Cache = ""
	}
	return open
}

// Opener opens checkouts as the settings of the inputs say.
func (in Inputs) Opener(ctx context.Context, env cli.Env) (Opener, error) {
	r, err := rulesOf(ctx, in.Config, in.Base)
	return in.opener(env, r), err
}

// Plan makes the plan of the change.
func (c *Change) Plan(ctx context.Context) (*plan.Plan, error) {
	p, err := planner.Make(ctx, c.input)
	if trouble := c.trouble(); trouble != nil && ctx.Err() == nil {
		return nil, trouble
	}
	return p, invalid(ctx, c.rules.located(err))
}

// Unproven evaluates both bundles as a whole and returns what the plan skips
// although it cannot be proven.
func (c *Change) Unproven(ctx context.Context, p *plan.Plan) ([]planner.Gap, error) {
	gaps, err := planner.Verify(ctx, c.input, p)
	if trouble := c.trouble(); trouble != nil && ctx.Err() == nil {
		return nil, trouble
	}
	return gaps, invalid(ctx, c.rules.located(err))
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
