package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/live"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/trace"
)

// A Change is what a plan is made from.
type Change struct {
	Base, Head *bundle.Bundle
	Settings   *integration.Settings
	rules      Rules
	input      planner.Input
	live       *live.Bundles // nil when they are files
}

// Inputs name what a plan is made from, as flags give it.
type Inputs struct {
	Base, Head string // references
	// BaseName and HeadName are what the plan calls them; "": see [Name].
	BaseName, HeadName string
	Config             string // a file, base:PATH or git:REV[@DIR]:PATH; "" for the default
	State              string // folder; "" when nothing is remembered
	NoCache            bool   // nothing is remembered of checkouts

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
	store, err := Traces(in.State)
	if err != nil {
		return nil, err
	}
	c := &Change{Settings: rules.Settings, rules: rules, input: planner.Input{
		Settings: rules.Settings, ReadQuery: rules.Query, Natives: Natives(),
	}}
	if store != nil {
		c.input.Traces = store
	}
	if c.input.Estimates, err = estimates(in.State); err != nil {
		return nil, err
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

// Traces opens what is remembered of tasks that passed; nil without a folder.
func Traces(folder string) (*trace.Store, error) {
	if folder == "" {
		return nil, nil
	}
	dir, err := state.Open(folder)
	if err != nil {
		return nil, cli.Invalid(err)
	}
	store := trace.NewStore(dir)
	return &store, nil
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
