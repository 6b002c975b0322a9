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

	"github.com/app-sre/prcheck/ci/revisions"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/planner/rules"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/bundler"
	"github.com/app-sre/prcheck/qontract/live"
	"github.com/app-sre/prcheck/settings"
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
	Settings   *settings.Settings
	State      state.Store // nil when nothing is remembered

	Worlds Worlds

	settings source.OpenedSettings
	baseRef  string
	headRef  string
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
	c := &Change{Settings: settings.Settings, settings: settings, baseRef: in.Base, headRef: in.Head, State: remembered,
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
	base := rules.SideSettings{Settings: c.Settings}
	if r := c.settings.Revision; r != nil {
		base.Path, base.Commit, base.Missing = r.Path, r.Commit, r.Missing
	} else if !c.settings.IsObject {
		base.Own = c.settings.File
	}
	return rules.FindEdits(rules.Input{
		IsData:   c.data(in).In(c.repositoryRoot(in)),
		Settings: base, InJob: in.inJob, CIFile: in.ciFile,
		Named: c.namedFiles(ctx, in), Natives: in.Natives, Reads: c.reads,
		Compare: func() (*rules.Comparison, error) {
			return c.compare(ctx, in)
		},
		CanPlan: func(head *settings.Settings, readQuery func(path string) ([]byte, error)) error {
			return planner.Check(planner.Input{Base: c.Head, Head: c.Head, Settings: head, Natives: in.Natives,
				ReadQuery: readQuery})
		},
	})
}

// compare compares the files of base and head; nil if they are not both of one checkout. Whole
// trees are read only if they are needed.
func (c *Change) compare(ctx context.Context, in Inputs) (*rules.Comparison, error) {
	found, err := source.Compare(ctx, in.Base, in.Head, c.settings.Root())
	if err != nil || found == nil {
		return nil, err
	}
	out := &rules.Comparison{
		Changed: found.Changed, New: found.New, Gone: found.Gone, ReadBase: found.ReadBase, ReadHead: found.ReadHead,
		PathOf: found.PathOf,
		Head:   c.Worlds.Head, Behind: c.behind,
	}
	if !strings.HasPrefix(in.Head, "dir:") {
		return out, nil
	}
	base, head, err := c.Worlds.Both() // git does not tell of every edit
	if err != nil {
		return nil, err
	}
	out.Changed, out.New, out.Gone = world.Diff(base, head), map[string]bool{}, map[string]bool{}
	for _, p := range out.Changed {
		_, _, was := base.Lookup(p)
		_, _, is := head.Lookup(p)
		out.New[p], out.Gone[p] = !was, !is
	}
	return out, nil
}

// behind returns, for each file of either side, the paths that lead to it through links. What is
// found in a commit is remembered in the cache.
func (c *Change) behind() (paths map[string][]string, ok bool, err error) {
	paths, ok = map[string][]string{}, true
	for id, tree := range map[string]func() (*world.Tree, error){c.input.BaseFiles.Tree: c.Worlds.Base,
		c.input.HeadFiles.Tree: c.Worlds.Head} {
		found, isWhole, err := c.open.Behind(id, tree)
		if err != nil {
			return nil, false, err
		}
		ok = ok && isWhole
		for target, list := range found {
			paths[target] = append(paths[target], list...)
		}
	}
	return paths, ok, nil
}

// namedFiles returns the paths of files of either side that the words of the command of an
// integration name, as base defines it. All commands are looked at together.
func (c *Change) namedFiles(ctx context.Context, in Inputs) func(name string) []string {
	find := sync.OnceValue(func() map[string][]string {
		candidates := c.candidates(c.startFolder(c.repositoryRoot(in)))
		var all []string
		for _, paths := range candidates {
			all = append(all, paths...)
		}
		slices.Sort(all)
		all = slices.Compact(all)
		onHead, err := c.open.HasFiles(ctx, in.Head, all)
		if err != nil {
			return candidates // then whoever asks finds out
		}
		onBase, err := c.open.HasFiles(ctx, in.Base, all)
		if err != nil {
			return candidates
		}
		for name, paths := range candidates {
			candidates[name] = slices.DeleteFunc(paths, func(p string) bool {
				i, _ := slices.BinarySearch(all, p)
				return !onHead[i] && !onBase[i]
			})
		}
		return candidates
	})
	return func(name string) []string { return find()[name] }
}

// candidates returns, for each integration, the paths in the repository that the words of its
// command may stand for. Tasks start in a folder of the repository.
func (c *Change) candidates(folder string) map[string][]string {
	out := map[string][]string{}
	for _, b := range []*bundle.Bundle{c.Head, c.Base} { // base's counts
		list, err := integration.List(b, c.Settings)
		if err != nil {
			return nil
		}
		for _, d := range list {
			if d.Check == nil {
				continue
			}
			out[d.Name] = nil
			for _, word := range append(slices.Clone(c.Settings.For(d.Name).Exec.Argv), strings.Fields(d.Check.Cmd)...) {
				if at := path.Join(folder, word); !path.IsAbs(word) && at != "." && !strings.HasPrefix(at, "..") &&
					!strings.Contains(word, "{") {
					out[d.Name] = append(out[d.Name], at)
				}
			}
		}
	}
	return out
}

// reads returns which files the runs of an integration read.
func (c *Change) reads(name string) rules.Reads {
	b := c.seen.Beyond(name)
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

// openState opens what the state remembers, if there is one. What only adds work counts from any
// document.
func (c *Change) openState(ctx context.Context, env cli.Env, place string, noReuse bool) {
	if c.State == nil {
		return
	}
	c.input.Traces, c.input.Estimates = trace.NewStore(c.State), durations.NewStore(c.State).Snapshot()
	known, err := dependence.NewStore(c.State).Snapshot(ctx)
	if err != nil {
		_, _ = fmt.Fprintf(env.Stderr, "%v\n", err) // skips are believed then, and not proven
	}
	c.known, c.seen = known, known
	if any, err := ReadState(ctx, place); err == nil && any != nil {
		if seen, err := dependence.NewStore(any).Snapshot(ctx); err == nil {
			c.seen = seen
		}
	}
	if c.Settings.DistrustsMisses() {
		c.input.Distrust = misses(ctx, env, c.State)
	}
	if noReuse {
		c.input.Results = planner.NoResults{}
	}
}

// openEvidence opens what the state remembers of files that tasks read. Earlier runs count only
// as far as these are the same.
func (c *Change) openEvidence(ctx context.Context, in Inputs, at func() (rules.Workplace, error)) {
	if c.State == nil {
		return
	}
	evidence := newFileEvidence(ctx, c.State, c.Worlds, c.input.Programs, c.Settings)
	evidence.edits = c.input.Edits
	c.input.Files, c.input.Dependences = evidence, c.known.In(evidence.Same)
	if !in.NoReuse {
		c.input.Results = in.results(c.State, evidence.Same)
	}
	if in.HasOwnState && !in.NoReuse {
		c.input.Results = lately{c.input.Results, OwnReuse}
	}
	c.input.ProofFiles = replay{evidence, at}
	c.input.Remembered = func(same func(integration, read string) bool) (proof.Results, proof.Dependences) {
		if in.NoReuse {
			return planner.NoResults{}, c.known.In(same)
		}
		return in.results(c.State, same), c.known.In(same)
	}
}

// results returns what a state remembers of tasks.
func (in Inputs) results(remembered state.Store, same func(integration, read string) bool) planner.Results {
	out := history.NewStore(remembered).Snapshot(time.Now()).In(same)
	if in.ForMerge {
		return out.Firm()
	}
	return out
}

// openTrain opens what is known of the merge request in whose pipeline the plan is made.
func (c *Change) openTrain(ctx context.Context, env cli.Env, base string) {
	c.input.MergeRequest = revisions.ReadMergeRequest(env.Getenv)
	if mr := c.input.MergeRequest; mr != nil && mr.InTrain && c.State != nil {
		c.input.Own = trains.NewStore(c.State).Last(ctx, mr.Name)
		if c.input.Own != nil {
			c.input.Others = others{ctx, c.Settings.Checkout(), c.input.Own.Base, base}
		}
	}
}

// misses returns the wrong skips that audits found. If they cannot be read, nothing is believed.
func misses(ctx context.Context, env cli.Env, remembered state.Store) audits.AuditSnapshot {
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

// Flips finds the changes that would have decided otherwise about an integration of a plan.
func (c *Change) Flips(ctx context.Context, p *plan.Plan, name string) (plan.Flips, error) {
	if c.server != nil {
		return plan.Flips{Known: []plan.Flip{}, Why: "the bundles are on a live server, where no other change can be tried"},
			nil
	}
	flips, err := planner.Flips(ctx, c.input, p, name)
	return flips, c.trouble(ctx, err)
}
