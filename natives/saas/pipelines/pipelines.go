package pipelines

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/integration/sharding"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/natives/saas"
	words "github.com/app-sre/prcheck/natives/saas/ledger"
	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
	"github.com/app-sre/prcheck/natives/saas/pipelines/executor"
	"github.com/app-sre/prcheck/natives/saas/pipelines/ledger"
	"github.com/app-sre/prcheck/natives/saas/pipelines/loop"
	"github.com/app-sre/prcheck/natives/saas/promotion"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
)

// Name is the name of the native.
const Name = "saas-pipelines"

// A native is the integration.
type native struct{ services Services }

// New returns the native integration. Without services it can compute its desired state.
func New(of Services) integration.Native { return native{of} }

// Name implements [integration.Native].
func (native) Name() string { return Name }

// Close implements [io.Closer]: it removes the files of its repositories.
func (n native) Close() error { return services.Close(n.services.Repositories) }

// CheckSettings implements [integration.Checker].
func (native) CheckSettings(own settings.Own) error {
	_, err := readSettings(own)
	return err
}

// Shards implements [integration.Sharder]: a shard is a saas file.
func (native) Shards() settings.Shards {
	by, err := settings.ParseSelector("files[*].name")
	if err != nil {
		panic(err) // the text is a constant
	}
	return settings.Shards{By: []settings.Selector{by}}
}

// DryRun implements [integration.Native]. In a merge request it says what the merge would start,
// by the data alone; else it decides as Run does.
func (n native) DryRun(ctx context.Context, env integration.Environment) error {
	if env.Base != nil {
		return n.preview(ctx, env)
	}
	return n.iterate(ctx, env, nil)
}

// Run implements [integration.Native].
func (n native) Run(ctx context.Context, env integration.Environment, act integration.Actors) error {
	return n.iterate(ctx, env, &act)
}

// nothingDone returns the error of a run that did nothing.
func nothingDone(err error) error { return fmt.Errorf("%w: %w", integration.ErrNothingDone, err) }

// errNoState says that the loop has no memory.
var errNoState = errors.New("it needs a state, which says what was deployed: name the place with --state")

// iterate makes one iteration of the loop. The actors are nil in a dry run.
func (n native) iterate(ctx context.Context, env integration.Environment, act *integration.Actors) error {
	env = env.WithDefaults()
	s, err := readSettings(env.Settings.Own)
	if err != nil {
		return nothingDone(integration.Failure(integration.FailureOfConfig, err))
	}
	if env.State == nil || act != nil && act.State == nil {
		return nothingDone(integration.Failure(integration.FailureOfConfig, errNoState))
	}
	model, err := saas.Read(ctx, env.Query, s.Settings)
	if err != nil {
		return nothingDone(fmt.Errorf("reading the saas files: %w", err))
	}
	files, cells, err := choose(env, model)
	if err != nil {
		return nothingDone(integration.Failure(integration.FailureOfConfig, err))
	}
	a := newAsker(n.services, env, s, model, cells)
	a.openRecords(ctx)
	a.ask(ctx)
	at := n.newScene(a, files, cells, newExecutor(env, act, s))
	l := n.newLoop(env, act, s, a, at)
	out, err := l.Run(ctx, at.files)
	if err != nil {
		return nothingDone(integration.Failure(integration.FailureTransient, err))
	}
	failed := report(env, act, model, at, out, env.Now())
	if act != nil {
		failed = append(failed, a.noteRuns(ctx, act, at, out)...)
	}
	if act != nil && env.Shard == "" && env.Static == (plan.Fraction{}) {
		if err := n.forget(ctx, env, act, model); err != nil {
			failed = append(failed, fmt.Errorf("forgetting saas files that are gone: %w", err))
		}
	}
	return reconcile.Join(failed...)
}

// choose returns the saas files and the cells of the shard to work on.
func choose(env integration.Environment, m *saas.Model) ([]*saas.File, []saas.Cell, error) {
	of, id := env.Static.Numbers()
	isMine := func(f *saas.File) bool {
		return (env.Shard == "" || f.Name == env.Shard) &&
			(env.Static == (plan.Fraction{}) || sharding.Index(f.Name, of) == id)
	}
	var files []*saas.File
	known := map[string]bool{}
	for _, f := range m.Files {
		if isMine(f) && !known[f.Name] {
			files = append(files, f)
		}
		known[f.Name] = true
	}
	if env.Shard != "" && len(files) == 0 {
		return nil, nil, fmt.Errorf("there is no saas file %q", env.Shard)
	}
	cells := slices.DeleteFunc(m.Cells(), func(c saas.Cell) bool { return !slices.Contains(files, c.File) })
	return files, cells, nil
}

// newExecutor returns what runs cells.
func newExecutor(env integration.Environment, act *integration.Actors, s ownSettings) executor.Executor {
	clusters := executor.Clusters{Reader: env.Cluster}
	if act != nil {
		clusters.Writer = act.Cluster
	}
	if s.Executor == jobs {
		return executor.Jobs{Clusters: clusters, JobSettings: s.Native}
	}
	return executor.Tekton{Clusters: clusters, Trace: s.Trace}
}

// newLoop returns the iteration.
func (n native) newLoop(env integration.Environment, act *integration.Actors, s ownSettings, a *asker,
	at *scene) *loop.Loop {
	writer := rand.Text()
	var mu sync.Mutex
	ids := 0
	l := &loop.Loop{
		State: env.State, Now: env.Now, Writer: writer, Workers: env.Workers,
		Policy: decide.Policy{Max: s.max, Backoff: s.backoff, Again: s.again, Name: ledger.RunName,
			NewID: func(cell, fp string) string {
				mu.Lock()
				defer mu.Unlock()
				ids++
				return state.Name(cell, fp, writer, fmt.Sprint(ids))
			}},
		Gates: func(ctx context.Context, c loop.RunnableCell) []decide.Gate { return a.gates(ctx, at.cells[c.Key]) },
		Recorded: func(ctx context.Context, c loop.RunnableCell, it *decide.Intent) *decide.RunPhase {
			return a.recorded(ctx, at.cells[c.Key], it)
		},
	}
	if len(s.May) > 0 {
		l.Retried = func(ctx context.Context, c loop.RunnableCell) time.Time { return a.retried(ctx, at.cells[c.Key]) }
	}
	if act != nil {
		l.Writes = act.State
	}
	if s.takesOver() {
		t := &takeover{bucket: a.bucket, err: a.noLogs, now: env.Now(), targets: map[string][]*saas.Target{}}
		for _, f := range a.model.Files {
			for _, template := range f.Templates {
				t.targets[f.Name] = append(t.targets[f.Name], template.Targets...)
			}
		}
		l.Begin = t.begin
	}
	return l
}

// openRecords opens the bucket with records of promotions.
func (a *asker) openRecords(ctx context.Context) {
	switch {
	case a.settings.Records == "":
		a.noLogs = errors.New("the settings do not say where they are: records")
	case a.env.Bucket == nil:
		a.noLogs = errors.New("there are no buckets")
	default:
		a.bucket, a.noLogs = a.env.Bucket(ctx, a.settings.Records)
	}
	if a.noLogs == nil {
		a.records, a.books = promotion.NewRecords(a.bucket, a.env.Workers), words.NewBooks(a.bucket)
	}
}

// recorded says how a run ended that is gone, as the records of promotions tell: it succeeded if
// each publisher of the cell has a new record of success. Nil is that nobody knows.
func (a *asker) recorded(ctx context.Context, c saas.Cell, it *decide.Intent) *decide.RunPhase {
	if a.records == nil {
		return nil
	}
	out, found := decide.Succeeded, false
	for _, t := range c.Targets {
		if t.Promotion == nil || t.Delete {
			continue
		}
		sha, _ := a.commit(t)
		for _, channel := range t.Promotion.Publish {
			r, ok := a.records.Log(ctx, promotion.RecordPlace{Channel: channel, UID: t.UID()}).Records[sha]
			since, isKnown := r.Since()
			if !ok || !isKnown || since.Before(it.Since) {
				return nil
			}
			found = true
			if !r.Success {
				out = decide.Errored
			}
		}
	}
	if !found {
		return nil
	}
	return &out
}

// forget forgets the documents of saas files that the data no longer have.
func (n native) forget(ctx context.Context, env integration.Environment, act *integration.Actors, m *saas.Model) error {
	if w := newWholeness(m); w.isShared || slices.Contains(slices.Collect(maps.Values(w.wrong)), true) {
		return nil // a saas file may be among what cannot be read, or have a wrong name
	}
	named := map[string]bool{}
	for _, f := range m.Files {
		named[ledger.Key(f.Name)] = true
	}
	entries, err := ledger.All(ctx, act.State)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if !named[e.Key] {
			errs = append(errs, ledger.Forget(ctx, act.State, e, env.Now(), rand.Text()))
		}
	}
	return errors.Join(errs...)
}

// UsesHosts implements [integration.HostUser].
func (native) UsesHosts(ctx context.Context, query integration.QueryFunc,
	it settings.Integration) ([]integration.HostUse, error) {
	s, err := readSettings(it.Own)
	if err != nil {
		return nil, err
	}
	return saas.UsesHosts(ctx, query, s.Settings, true)
}

// codeBase says that the data of base cannot be read.
const codeBase = "BASE_UNREADABLE"

// Preview implements [integration.Previewer].
func (n native) Preview(ctx context.Context, base, head integration.QueryFunc,
	it settings.Integration) ([]string, error) {
	s, err := readSettings(it.Own)
	if err != nil {
		return nil, err
	}
	after, err := saas.Read(ctx, head, s.Settings)
	if err != nil {
		return nil, fmt.Errorf("reading the saas files: %w", err)
	}
	before, err := saas.Read(ctx, base, s.Settings)
	if err != nil {
		return nil, fmt.Errorf("reading the saas files of base: %w", err)
	}
	p := saas.NewPreview(before, after)
	var out []string
	for _, l := range p.Runs {
		out = append(out, l.String())
	}
	for _, l := range p.Promotions {
		out = append(out, "promotion: "+l.String())
	}
	for _, l := range p.Unknown {
		out = append(out, "not known: "+l.String())
	}
	return out, nil
}

// preview reports, in a merge request, which runs the merge would start. It asks nobody: what
// branches, registries and records say does not change by a merge.
func (n native) preview(ctx context.Context, env integration.Environment) error {
	env = env.WithDefaults()
	s, err := readSettings(env.Settings.Own)
	if err != nil {
		return nothingDone(integration.Failure(integration.FailureOfConfig, err))
	}
	head, err := saas.Read(ctx, env.Query, s.Settings)
	if err != nil {
		return nothingDone(fmt.Errorf("reading the saas files: %w", err))
	}
	files, _, err := choose(env, head)
	if err != nil {
		return nothingDone(integration.Failure(integration.FailureOfConfig, err))
	}
	base, err := saas.Read(ctx, env.Base, s.Settings)
	if err != nil {
		env.Report(finding(codeBase, plan.SeverityWarning, plan.Place{},
			"the saas files of base cannot be read, so it is not known what the merge starts: "+err.Error()))
		env.Report(integration.Remark{Unlooked: &plan.Unlooked{What: plan.UnlookedAll, Entries: len(files), Code: codeBase,
			Why: "the saas files of base cannot be read"}})
		return nil
	}
	isMine := func(l saas.PreviewLine) bool {
		name, _, _ := strings.Cut(l.Subject, "/")
		return slices.ContainsFunc(files, func(f *saas.File) bool { return f.Name == name })
	}
	p := saas.NewPreview(base, head)
	for _, lines := range []*[]saas.PreviewLine{&p.Runs, &p.Promotions, &p.Unknown} {
		*lines = slices.DeleteFunc(*lines, func(l saas.PreviewLine) bool { return !isMine(l) })
		for _, l := range *lines {
			say(env, l.String())
		}
	}
	for _, f := range p.Findings() {
		env.Report(f)
	}
	return nil
}

// Watches implements [integration.Watcher].
func (native) Watches(ctx context.Context, query integration.QueryFunc, it settings.Integration) ([]string, error) {
	s, err := readSettings(it.Own)
	if err != nil {
		return nil, err
	}
	return saas.Watches(ctx, query, s.Settings)
}
