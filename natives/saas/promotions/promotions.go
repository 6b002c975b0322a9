package promotions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/promotion"
	"github.com/app-sre/prcheck/settings"
)

// Name is the name of the native.
const Name = "saas-promotions"

// Services are what the integration asks. A service that is nil answers nothing: what it would
// tell is unknown.
type Services struct {
	Repositories services.Repositories
	Measurements services.Measurements
	Notices      services.Notifier // nil tells nobody
	// Forge connects with a project of a forge. It sends no request.
	Forge func(at Project) (services.ForgeWriter, error)
}

// A Project is a project of a forge, by the settings of base.
type Project struct {
	URL   string // of the forge, such as https://gitlab.example.com
	Path  string // such as group/project
	Token string
}

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

// DryRun implements [integration.Native]: it decides as Run does, and writes nothing. In a merge
// request it asks nobody.
func (n native) DryRun(ctx context.Context, env integration.Environment) error {
	if env.Approve.Word != nil {
		return n.obey(ctx, env, nil)
	}
	w, err := n.read(ctx, env)
	if err != nil {
		return nothingDone(err)
	}
	if env.Base != nil {
		w.say(fmt.Sprintf("%d targets are promoted automatically; what the merge would do to them is said by the report of "+
			"the plan", len(w.all)))
		return nil
	}
	if err := w.begin(ctx); err != nil {
		return nothingDone(err)
	}
	if err := w.decide(ctx); err != nil {
		return nothingDone(err)
	}
	if w.forge, err = n.connect(ctx, w); err != nil {
		w.say("how the files would change is not known: " + err.Error())
	} else {
		w.showFiles(ctx)
	}
	return w.report(nil)
}

// Run implements [integration.Native].
func (n native) Run(ctx context.Context, env integration.Environment, act integration.Actors) error {
	if env.Approve.Word != nil {
		return n.obey(ctx, env, &act)
	}
	w, err := n.read(ctx, env)
	if err != nil {
		return nothingDone(err)
	}
	if act.State == nil {
		return nothingDone(integration.Failure(integration.FailureOfConfig, errNoState))
	}
	if w.forge, err = n.connect(ctx, w); err != nil {
		return nothingDone(err)
	}
	w.act = &act
	if err := w.begin(ctx); err != nil {
		return nothingDone(err)
	}
	if err := w.readForge(ctx); err != nil {
		return w.withoutForge(ctx, integration.Failure(integration.FailureTransient, err))
	}
	w.hear(ctx)
	var errs []error
	if err := w.verify(ctx); err != nil {
		errs = append(errs, err)
	}
	if err := w.decide(ctx); err != nil {
		return nothingDone(err)
	}
	for _, s := range w.all {
		if err := w.note(ctx, s); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.label(), err))
		}
	}
	if err := rememberTargets(ctx, act.State, w.seen, w.all); err != nil {
		return nothingDone(integration.Failure(integration.FailureTransient, err))
	}
	errs = append(errs, w.keep(ctx)...)
	w.tellPeople(ctx)
	err = w.report(errs)
	w.tellFlows(ctx)
	return err
}

// withoutForge tells what waits because the forge does not answer. Nothing is done.
func (w *work) withoutForge(ctx context.Context, why error) error {
	w.open, w.act = nil, &integration.Actors{}
	if err := w.decide(ctx); err != nil {
		return nothingDone(err)
	}
	for _, s := range w.all {
		if s.differs(s.d) {
			s.lately, s.unknown = s.d.Ref, why
		}
	}
	if err := w.report(nil); err != nil {
		why = err
	}
	return nothingDone(why)
}

// errNoState says that there is no memory.
var errNoState = errors.New("it needs a state, which says what was promoted: name the place with --state")

// nothingDone returns the error of a run that did nothing.
func nothingDone(err error) error { return fmt.Errorf("%w: %w", integration.ErrNothingDone, err) }

// A work is one loop.
type work struct {
	services Services
	env      integration.Environment
	settings ownSettings
	model    *saas.Model
	all      []*subscriber
	asker    *asker
	act      *integration.Actors // nil in a dry run

	seen       map[string]seen
	remembered map[string]memory // by branch
	now        time.Time

	bucket   integration.BucketWriter // of the ledger; nil until something is noted
	forge    services.ForgeWriter
	byPlace  map[[4]string][]*subscriber        // by the place of their entries; nil until it is asked
	deaf     map[string]error                   // by branch: why it is not known what people did with its merge request
	past     map[string][]services.MergeRequest // by branch, as far as they were asked
	heads    map[string]string                  // of our branches
	open     map[string]*services.MergeRequest
	mainHead string

	components []*component
}

// read reads settings and data.
func (n native) read(ctx context.Context, env integration.Environment) (*work, error) {
	env = env.WithDefaults()
	s, err := readSettings(env.Settings.Own)
	if err != nil {
		return nil, integration.Failure(integration.FailureOfConfig, err)
	}
	model, err := saas.Read(ctx, env.Query, s.Settings)
	if err != nil {
		return nil, fmt.Errorf("reading the saas files: %w", err)
	}
	return &work{services: n.services, env: env, settings: s, model: model, all: subscribers(model), now: env.Now()}, nil
}

// say writes a line into the log.
func (w *work) say(line string) { _, _ = fmt.Fprintln(w.env.Log, sanitize.Line(line)) }

// connect connects with the forge. The settings of base say where it is and what it gets.
func (n native) connect(ctx context.Context, w *work) (services.ForgeWriter, error) {
	f := w.settings.Forge
	if f.URL == "" || f.Project == "" || f.Token.Path == "" || f.Token.Field == "" {
		return nil, integration.Failure(integration.FailureOfConfig,
			errors.New("the settings do not say where merge requests are opened: forge needs url, project and token with path "+
				"and field"))
	}
	if n.services.Forge == nil {
		return nil, errNoService
	}
	token, err := w.env.Secret(ctx, f.token())
	if err != nil {
		return nil, fmt.Errorf("the token of the forge: %w", err)
	}
	return n.services.Forge(Project{URL: f.URL, Path: f.Project, Token: token})
}

// begin reads what is remembered, and divides the subscribers into components.
func (w *work) begin(ctx context.Context) error {
	if w.env.State == nil {
		return integration.Failure(integration.FailureOfConfig, errNoState)
	}
	var err error
	if w.seen, err = readDocument[seen](ctx, w.env.State, targetsKey); err != nil {
		return integration.Failure(integration.FailureTransient, err)
	}
	if w.remembered, err = readDocument[memory](ctx, w.env.State, componentsKey); err != nil {
		return integration.Failure(integration.FailureTransient, err)
	}
	w.asker = newAsker(ctx, w.services, w.env, w.settings, w.model, w.all)
	w.findComponents()
	return nil
}

// decide decides about all subscribers.
func (w *work) decide(ctx context.Context) error {
	w.asker.askHeads(ctx)
	branch := map[*subscriber]string{}
	for _, c := range w.components {
		for _, s := range c.subscribers {
			branch[s] = c.branch
		}
	}
	numbers := make([]string, len(w.all))
	for i, s := range w.all {
		numbers[i] = strconv.Itoa(i)
		s.unknown = errors.New("it was not asked")
	}
	if len(numbers) == 0 {
		return nil
	}
	errs, err := reconcile.Each(ctx, numbers, max(w.env.Workers, 1), 0,
		func(ctx context.Context, number string, _ int) error {
			i, err := strconv.Atoi(number)
			if err != nil {
				return err
			}
			s := w.all[i]
			s.unknown = nil
			m := w.remembered[branch[s]]
			_, began := find(m.Begun, s.entry(w.settings, s.d))
			w.asker.decide(ctx, s, w.seen[s.key], m.window(w.now), began, w.isShown(branch[s], s))
			return nil
		})
	for i, err := range errs {
		if err != nil {
			w.all[i].unknown = err
		}
	}
	w.joinFreight()
	return err
}

// isShown reports whether an open merge request changes the target of a subscriber.
func (w *work) isShown(branch string, s *subscriber) bool {
	m := w.open[branch]
	if m == nil {
		return false
	}
	b, _ := readBlock(m.Description)
	_, shown := find(b.Entries, s.entry(w.settings, s.d))
	return shown
}

// joinFreight decides about the targets that move together.
func (w *work) joinFreight() {
	sets := map[string][]*subscriber{}
	for _, s := range w.all {
		if name := w.settings.FreightOf(s.target()); name != "" {
			sets[name] = append(sets[name], s)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		var qs []promotion.Question
		var ds []promotion.Decision
		for _, s := range sets[name] {
			if s.unknown != nil {
				s.d = promotion.Decision{Ref: s.q.Ref}
			}
			qs, ds = append(qs, s.q), append(ds, s.d)
		}
		for i, d := range promotion.Together(name, qs, ds) {
			sets[name][i].d = d
		}
	}
}

// DesiredState implements [integration.Stater]: what the data say about the targets that are
// promoted and their publishers.
func (native) DesiredState(ctx context.Context, query integration.QueryFunc, of settings.Integration) (any, error) {
	s, err := readSettings(of.Own)
	if err != nil {
		return nil, err
	}
	m, err := saas.Read(ctx, query, s.Settings)
	if err != nil {
		return nil, err
	}
	type publisher struct {
		UID, URL, Ref string
		Code          *integration.SecretRef
	}
	type target struct {
		Key, File  string
		State      any
		Publishers []publisher
		SLOs       []*saas.SLODocument
	}
	out := struct {
		Targets []target `json:"targets"`
	}{Targets: []target{}}
	a := &asker{model: m}
	for _, sub := range subscribers(m) {
		for _, t := range sub.targets {
			item := target{Key: sub.key, File: t.Place.File, SLOs: t.SLOs,
				State: m.CellState(saas.Cell{File: t.Template.File, Environment: t.Env(), Targets: []*saas.Target{t}})}
			for _, p := range a.publishers(t) {
				item.Publishers = append(item.Publishers, publisher{p.UID(), p.Template.URL, p.Ref, p.Template.File.Code})
			}
			out.Targets = append(out.Targets, item)
		}
	}
	slices.SortStableFunc(out.Targets, func(x, y target) int { return compareText(x.Key, y.Key) })
	return out, nil
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

// Watches implements [integration.Watcher].
func (native) Watches(ctx context.Context, query integration.QueryFunc, it settings.Integration) ([]string, error) {
	s, err := readSettings(it.Own)
	if err != nil {
		return nil, err
	}
	out, err := saas.Watches(ctx, query, s.Settings)
	if err == nil && s.Forge.URL != "" {
		out = append(out, strings.TrimSuffix(s.Forge.URL, "/")+"/"+s.Forge.Project) // its merge requests
	}
	return out, err
}
