package change

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/planner/rules"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/live"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/bases"
	"github.com/app-sre/prcheck/state/dependence"
)

// A Change is everything that a plan is made from.
type Change struct {
	Base, Head *bundle.Bundle
	Settings   *settings.Settings
	State      state.Store // nil when nothing is remembered

	Worlds Worlds

	settings source.OpenedSettings
	baseRef  string
	open     source.Opener
	known    dependence.Snapshot // what counts
	seen     dependence.Snapshot // what any document says, for what only adds work
	input    planner.Input
	server   *live.Bundles // nil when the bundles are files
	memory   *bases.Memory // nil when nothing is remembered
}

// Open reads everything that a plan is made from. Checkouts are bundled as the settings of
// the change say.
func (in Inputs) Open(ctx context.Context, env cli.Env) (*Change, error) {
	settings, err := source.OpenSettings(ctx, in.Config, in.Base)
	if err != nil {
		return nil, err
	}
	remembered, err := in.openState(ctx, env, settings)
	if err != nil {
		return nil, err
	}
	c := &Change{Settings: settings.Settings, settings: settings, baseRef: in.Base, State: remembered,
		input: planner.Input{
			Settings: settings.Settings, ReadQuery: settings.ReadQuery, Natives: in.Natives,
		}}
	c.openState(ctx, env, in.State, in.NoReuse)
	if err := c.openBundles(ctx, env, in); err != nil {
		return nil, err
	}
	own := source.Own{Files: append([]string{in.Base, in.Head}, in.Writes...), State: in.State,
		Cache: source.CacheFolder(env.Getenv)}
	open := in.opener(env, settings)
	c.open = open
	c.Worlds = OpenWorlds(ctx, open, own, in.Worlds, in.Base, in.Head).WithBase(ctx, open, own, in.Worlds, in.BaseDir)
	if in.IsClean {
		c.Worlds = c.Worlds.OfCleanCheckout(ctx, own)
	}
	if in.Plan != nil {
		c.Worlds = c.Worlds.OfPlan(ctx, open, own, in.Worlds, in.Head, in.Plan.Head)
	}
	if c.input.BaseFiles, err = sideFiles(ctx, in.Base, c.Worlds.Base); err == nil {
		c.input.HeadFiles, err = sideFiles(ctx, in.Head, c.Worlds.Head)
	}
	if err != nil {
		return nil, invalid(ctx, err)
	}
	if c.input.Edits, err = c.findEdits(ctx, in); err != nil {
		return nil, invalid(ctx, err)
	}
	c.input.Base, c.input.Head = c.Base, c.Head
	c.openTrain(ctx, env, in.Base)
	c.input.Programs = Programs(ctx, open, settings, c.Worlds.Head, own)
	c.openEvidence(ctx, in, sync.OnceValues(func() (rules.Workplace, error) {
		return workplace(ctx, open, settings, c.Worlds.Head, own)
	}))
	c.openMemory(ctx, open.Cache)
	return c, nil
}

func (c *Change) openBundles(ctx context.Context, env cli.Env, in Inputs) (err error) {
	open := in.opener(env, c.settings)
	c.input.BaseRef, c.input.HeadRef = cmp.Or(in.BaseName, source.Name(in.Base)), cmp.Or(in.HeadName, source.Name(in.Head))
	if !live.IsRef(in.Base) && !live.IsRef(in.Head) {
		if c.Base, c.Head, err = open.Pair(ctx, in.Base, in.Head); err != nil {
			return err
		}
		var both sync.WaitGroup // the plan names the bundles by their sums
		for _, b := range []*bundle.Bundle{c.Base, c.Head} {
			both.Go(func() { b.SHA256() })
		}
		both.Wait()
		return nil
	}
	both, err := open.Live(ctx, in.Base, in.Head)
	if err != nil {
		return err
	}
	if !both.ListsSchema(c.Settings.DefinitionSchema()) {
		from, _ := live.ParseRef(in.Base) // it was opened
		return cli.Invalid(fmt.Errorf("%s lists no datafile of schema %s, so there are no integrations to plan for",
			from.Server, c.Settings.DefinitionSchema()))
	}
	c.Base, c.Head, c.server = both.Base, both.Head, both
	c.input.BaseServer, c.input.HeadServer = both.BaseSide, both.HeadSide
	return nil
}

// data tells which files of the repository are parts of the change.
func (c *Change) data(in Inputs) Data {
	return Data{Settings: c.settings, Bundles: []*bundle.Bundle{c.Base, c.Head}, Refs: []string{in.Base, in.Head},
		Live: c.server != nil}
}

// Source returns the settings of the change with where they come from.
func (c *Change) Source() source.OpenedSettings { return c.settings }

// Plan makes the plan of the change.
func (c *Change) Plan(ctx context.Context) (*plan.Plan, error) {
	p, err := planner.Make(ctx, c.input)
	return p, c.trouble(ctx, err)
}

// Verify replays what a plan leaves out, and returns what is proven and what is not.
func (c *Change) Verify(ctx context.Context, p *plan.Plan) (proof.Report, error) {
	report, err := planner.Verify(ctx, c.input, p)
	return report, c.trouble(ctx, err)
}

// With hands everything that a plan is made from to a function, and returns its error as
// [Change.Plan] does.
func (c *Change) With(ctx context.Context, do func(planner.Input) error) error {
	return c.trouble(ctx, do(c.input))
}

// trouble returns why a decision about the change cannot be used: a live server gave no
// answer, or else the error of the decision, which is of the user's making.
func (c *Change) trouble(ctx context.Context, err error) error {
	if c.server != nil && ctx.Err() == nil {
		for _, side := range []*live.BundleClient{c.server.BaseSide, c.server.HeadSide} {
			if trouble := side.Err(); trouble != nil {
				return source.LiveError(trouble)
			}
		}
	}
	return invalid(ctx, c.settings.Located(err))
}

// invalid marks an error as one of the user's making, unless we were interrupted.
func invalid(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return cli.Invalid(err)
}
