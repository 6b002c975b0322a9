package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/bundle/bundler"
	"github.com/app-sre/prcheck/ci/revisions"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integrations/generic"
	"github.com/app-sre/prcheck/integrations/manager"
	"github.com/app-sre/prcheck/integrations/namespaces"
	"github.com/app-sre/prcheck/integrations/saas/deploy"
	"github.com/app-sre/prcheck/integrations/saas/pipelines"
	"github.com/app-sre/prcheck/integrations/saas/promotions"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/live"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/planner/rules"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/audits"
	"github.com/app-sre/prcheck/state/bases"
	"github.com/app-sre/prcheck/state/dependence"
	"github.com/app-sre/prcheck/state/durations"
	"github.com/app-sre/prcheck/state/history"
	"github.com/app-sre/prcheck/state/trains"
	"github.com/app-sre/prcheck/trace"
	"github.com/app-sre/prcheck/world"
)

// A Change is everything that a plan is made from.
type Change struct {
	Base, Head *bundle.Bundle
	Settings   *integration.Settings
	State      state.Store // nil when nothing is remembered

	Worlds Worlds

	settings source.Settings
	baseRef  string
	known    dependence.Snapshot
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
	remembered, err := TryState(ctx, env, StateFlag{Place: in.State, Access: in.Access, Settings: settings, Base: in.Base, Head: in.Head})
	if err != nil {
		return nil, err
	}
	c := &Change{Settings: settings.Settings, settings: settings, baseRef: in.Base, State: remembered, input: planner.Input{
		Settings: settings.Settings, ReadQuery: settings.ReadQuery, Natives: Natives(),
	}}
	if remembered != nil {
		c.input.Traces, c.input.Estimates = trace.NewStore(remembered), durations.NewStore(remembered).Snapshot()
		known, err := dependence.NewStore(remembered).Snapshot(ctx)
		if err != nil {
			_, _ = fmt.Fprintf(env.Stderr, "%v\n", err) // skips are believed then, and not proven
		}
		c.known = known
		if settings.DistrustsMisses() {
			c.input.Distrust = misses(ctx, env, remembered)
		}
		if in.NoReuse {
			c.input.Results = planner.NoResults{}
		}
	}
	if err := c.openBundles(ctx, env, in); err != nil {
		return nil, err
	}
	own := source.Own{Files: append([]string{in.Base, in.Head}, in.Writes...), State: in.State, Cache: source.CacheFolder(env.Getenv)}
	open := in.opener(env, settings)
	c.Worlds = OpenWorlds(ctx, open, own, in.Worlds, in.Base, in.Head).WithBase(ctx, open, own, in.Worlds, in.BaseDir)
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
	c.input.MergeRequest = revisions.ReadMergeRequest(env.Getenv)
	if mr := c.input.MergeRequest; mr != nil && mr.InTrain && remembered != nil {
		c.input.Own = trains.NewStore(remembered).Last(ctx, mr.Name)
		if c.input.Own != nil {
			c.input.Others = others{ctx, settings.Checkout(), c.input.Own.Base, in.Base}
		}
	}
	c.input.Programs = Programs(ctx, open, settings, c.data(in), c.Worlds.Head, own)
	if remembered != nil {
		evidence := newFileEvidence(ctx, remembered, c.Worlds, c.input.Programs, settings.Settings)
		c.input.Files, c.input.Dependences = evidence, c.known.In(evidence.Same)
		if !in.NoReuse {
			c.input.Results = history.NewStore(remembered).Snapshot(time.Now()).In(evidence.Same)
		}
	}
	c.openMemory(ctx, open.Cache)
	return c, nil
}

// misses returns the wrong skips that audits found. If they cannot be read, nothing is believed.
func misses(ctx context.Context, env cli.Env, remembered state.Store) audits.Snapshot {
	known, err := audits.NewStore(remembered).Snapshot(ctx)
	if err != nil {
		_, _ = fmt.Fprintf(env.Stderr, "%v, so no rung counts (audit.on_miss: distrust)\n", err) // only a message
		return audits.Unknown()
	}
	return known
}

// openMemory opens what is known of base: in the cache, and in the state.
func (c *Change) openMemory(ctx context.Context, cache string) {
	var near bases.Near
	if cache != "" {
		near = bundler.OpenCache(cache)
		c.input.Memory = near
	}
	if c.State != nil && c.server == nil {
		c.memory = bases.NewMemory(ctx, c.State, c.Base.SHA256(), near)
		c.input.Memory = c.memory
	}
}

// RememberBase works out what tasks see of base, for a change from base to itself, and writes
// it to the state. It returns of how many integrations it is known, and how many parts of it the
// state did not have.
func (c *Change) RememberBase(ctx context.Context) (known, added int, err error) {
	if c.memory == nil {
		return 0, 0, cli.Usage(errors.New("there is no state to write to, or the base is that of a running server"))
	}
	if known, err = planner.RememberBase(ctx, c.input); err != nil {
		return 0, 0, c.trouble(ctx, err)
	}
	added, err = c.memory.Save(ctx)
	return known, added, err
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
		return cli.Invalid(fmt.Errorf("%s lists no datafile of schema %s, so there are no integrations to plan for", from.Server, c.Settings.DefinitionSchema()))
	}
	c.Base, c.Head, c.server = both.Base, both.Head, both
	c.input.BaseServer, c.input.HeadServer = both.BaseSide, both.HeadSide
	return nil
}

// data tells which files of the repository are parts of the change.
func (c *Change) data(in Inputs) Data {
	return Data{Settings: c.settings, Bundles: []*bundle.Bundle{c.Base, c.Head}, Refs: []string{in.Base, in.Head}, Live: c.server != nil}
}

// repositoryRoot returns the folder of the repository that base and head are of, "" if they are
// not of a checkout.
func (c *Change) repositoryRoot(in Inputs) string {
	switch root := c.settings.Root(); {
	case root != "":
		return root
	case source.IsCheckout(in.Base):
		return source.RootOf(in.Base)
	}
	return ""
}

// findEdits finds what head edits of the rules by which it is planned.
func (c *Change) findEdits(ctx context.Context, in Inputs) (rules.Edits, error) {
	base := rules.Settings{Settings: c.Settings}
	if r := c.settings.Revision; r != nil {
		base.Path, base.Commit, base.Missing = r.Path, r.Commit, r.Missing
	} else if !c.settings.IsObject {
		base.Own = c.settings.File
	}
	return rules.FindEdits(rules.Input{
		IsData:   c.data(in).In(c.repositoryRoot(in)),
		Settings: base, InJob: in.inJob, CIFile: in.ciFile,
		Words: c.commandWords(), Folder: c.startFolder(c.repositoryRoot(in)), Reads: c.reads,
		Compare: func() (*rules.Comparison, error) {
			return c.compare(ctx, in)
		},
		CanPlan: func(head *integration.Settings, readQuery func(path string) ([]byte, error)) error {
			return planner.Check(planner.Input{Base: c.Head, Head: c.Head, Settings: head, Natives: Natives(), ReadQuery: readQuery})
		},
	})
}

// Source returns the settings of the change with where they come from.
func (c *Change) Source() source.Settings { return c.settings }

// compare compares the files of base and head; nil if they are not both of one checkout.
func (c *Change) compare(ctx context.Context, in Inputs) (*rules.Comparison, error) {
	found, err := source.Compare(ctx, in.Base, in.Head, c.settings.Root())
	if err != nil || found == nil {
		return nil, err
	}
	out := &rules.Comparison{Changed: found.Changed, ReadBase: found.ReadBase, ReadHead: found.ReadHead, PathOf: found.PathOf}
	if len(out.Changed) == 0 && !strings.HasPrefix(in.Head, "dir:") {
		return out, nil
	}
	if out.Base, out.Head, err = c.Worlds.Both(); err != nil {
		return nil, err
	}
	if strings.HasPrefix(in.Head, "dir:") { // git does not tell of every edit
		out.Changed = world.Diff(out.Base, out.Head)
	}
	return out, nil
}

// commandWords returns the words of the command of an integration, as base defines it.
func (c *Change) commandWords() func(name string) []string {
	definitions := map[string]integration.Definition{}
	for _, b := range []*bundle.Bundle{c.Head, c.Base} { // base's counts
		list, err := c.Settings.List(b)
		if err != nil {
			return nil
		}
		for _, d := range list {
			if d.Check != nil {
				definitions[d.Name] = d
			}
		}
	}
	return func(name string) []string {
		words := slices.Clone(c.Settings.For(name).Exec.Argv)
		if d, ok := definitions[name]; ok {
			words = append(words, strings.Fields(d.Check.Cmd)...)
		}
		return words
	}
}

// reads returns which files the runs of an integration read.
func (c *Change) reads(name string) rules.Reads {
	b := c.known.Beyond(name)
	return rules.Reads{Paths: b.Files, All: b.AllFiles}
}

// startFolder returns the folder of a repository in which tasks start.
func (c *Change) startFolder(root string) string {
	if r := c.settings.Revision; r != nil {
		return path.Dir(r.Path)
	}
	p, _ := git.PathIn(root, c.settings.Folder())
	return p
}

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
		for _, side := range []*live.Side{c.server.BaseSide, c.server.HeadSide} {
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

// Services are what native integrations ask besides clusters and buckets. A program that only
// plans has none of them: the zero value.
type Services struct {
	Deploy     deploy.Services
	Pipelines  pipelines.Services
	Promotions promotions.Services
}

// Natives returns the integrations that are part of the programs, without services. Each runs
// only for the definitions to which the settings bind it.
func Natives() []integration.Native { return NativesWith(Services{}) }

// NativesWith returns the same integrations with services.
func NativesWith(s Services) []integration.Native {
	return []integration.Native{generic.New(), manager.New(), namespaces.New(), deploy.New(s.Deploy), pipelines.New(s.Pipelines), promotions.New(s.Promotions)}
}
