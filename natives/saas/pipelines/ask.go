package pipelines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/ledger"
	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
	"github.com/app-sre/prcheck/natives/saas/promotion"
)

// Services are what the loop asks. A service that is nil answers nothing: what it would tell is
// unknown.
type Services struct {
	Repositories services.Repositories
	Registry     services.Registry
	Builds       services.Builds
	Measurements services.Measurements
}

// An asker asks each source once.
type asker struct {
	Services
	env      integration.Environment
	settings ownSettings
	model    *saas.Model

	heads   map[saas.Source]*headsAnswer
	builds  map[saas.Source]*buildsAnswer
	bucket  integration.BucketReader
	records *promotion.Records // nil if there are none
	books   *ledger.Books      // nil if there are no records
	noLogs  error              // why there are no records

	mu     sync.Mutex
	images map[saas.Source]*imageAnswer
	values map[string]*valueAnswer
}

// A headsAnswer is what a repository says about its branches.
type headsAnswer struct {
	branches map[string]bool
	of       *saas.Template
	heads    map[string]string
	err      error
}

// A buildsAnswer is what a build server says about its jobs.
type buildsAnswer struct {
	jobs   map[string]bool
	builds map[string][]services.Build
	err    error
}

type imageAnswer struct {
	once    sync.Once
	isThere bool
	err     error
}

type valueAnswer struct {
	once  sync.Once
	value float64
	err   error
}

// errNoService says that this program cannot ask a kind of source.
var errNoService = errors.New("this program cannot ask it")

// newAsker returns an asker that knows what the cells need.
func newAsker(of Services, env integration.Environment, s ownSettings, m *saas.Model, cells []saas.Cell) *asker {
	a := &asker{Services: of, env: env, settings: s, model: m, heads: map[saas.Source]*headsAnswer{},
		builds: map[saas.Source]*buildsAnswer{},
		images: map[saas.Source]*imageAnswer{}, values: map[string]*valueAnswer{}}
	for _, c := range cells {
		if c.File.Deprecated || c.File.Broken != "" {
			continue
		}
		for _, t := range c.Targets {
			if t.Broken == "" && !t.Delete {
				a.need(t)
			}
		}
	}
	return a
}

// need notes what a target needs.
func (a *asker) need(t *saas.Target) {
	if up := t.Upstream; up != nil {
		at := saas.Source{Address: up.ServerURL, Secret: up.Token}
		of := a.builds[at]
		if of == nil {
			of = &buildsAnswer{jobs: map[string]bool{}}
			a.builds[at] = of
		}
		of.jobs[up.Job] = true
	}
	if saas.IsCommit(t.Ref) || t.Upstream != nil && !subscribes(t) {
		return
	}
	at := a.settings.RepositorySource(t.Template)
	of := a.heads[at]
	if of == nil {
		of = &headsAnswer{branches: map[string]bool{}, of: t.Template}
		a.heads[at] = of
	}
	of.branches[t.Ref] = true
}

func subscribes(t *saas.Target) bool { return t.Promotion != nil && len(t.Promotion.Subscribe) > 0 }

// ask asks repositories and build servers, several at once.
func (a *asker) ask(ctx context.Context) {
	var does []func(ctx context.Context)
	for at, of := range a.heads {
		does = append(does, func(ctx context.Context) { of.heads, of.err = a.askHeads(ctx, at.Address, of) })
	}
	for at, of := range a.builds {
		does = append(does, func(ctx context.Context) { of.builds, of.err = a.askBuilds(ctx, at, of) })
	}
	numbers := make([]string, len(does))
	for i := range numbers {
		numbers[i] = strconv.Itoa(i)
	}
	done := make([]bool, len(does))
	_, _ = reconcile.Each(ctx, numbers, max(a.env.Workers, 1), 0, func(ctx context.Context, number string, _ int) error {
		i, err := strconv.Atoi(number)
		if err == nil {
			does[i](ctx)
			done[i] = true
		}
		return err
	})
	if slices.Contains(done, false) {
		a.giveUp(ctx)
	}
}

// giveUp makes unknown what was not asked because the time was over.
func (a *asker) giveUp(ctx context.Context) {
	why := context.Cause(ctx)
	if why == nil {
		why = errors.New("it was not asked")
	}
	for _, of := range a.heads {
		if of.heads == nil && of.err == nil {
			of.err = why
		}
	}
	for _, of := range a.builds {
		if of.builds == nil && of.err == nil {
			of.err = why
		}
	}
}

// askHeads asks a repository for its branches.
func (a *asker) askHeads(ctx context.Context, at string, of *headsAnswer) (map[string]string, error) {
	if a.Repositories == nil {
		return nil, fmt.Errorf("%s: %w", at, errNoService)
	}
	repository, err := saas.Credentials{Settings: a.settings.Settings, Secret: a.env.Secret}.Repository(ctx, of.of)
	if err != nil {
		return nil, fmt.Errorf("branches of %s: %w", at, err)
	}
	branches := make([]string, 0, len(of.branches))
	for b := range of.branches {
		branches = append(branches, b)
	}
	slices.Sort(branches)
	heads, err := a.Repositories.Heads(ctx, repository, branches)
	if err != nil {
		return nil, fmt.Errorf("branches of %s: %w", at, err)
	}
	for branch, head := range heads {
		if !saas.IsCommit(head) {
			return nil, fmt.Errorf("branches of %s: %.60q of %q is no commit", at, head, branch)
		}
	}
	return heads, nil
}

// askBuilds asks a build server for its jobs.
func (a *asker) askBuilds(ctx context.Context, from saas.Source,
	of *buildsAnswer) (map[string][]services.Build, error) {
	at := from.Address
	if a.Builds == nil {
		return nil, fmt.Errorf("%s: %w", at, errNoService)
	}
	login := services.Login{}
	if a.settings.MayGetAt(at) && from.Secret.Path != "" {
		secret, err := a.env.Secret(ctx, from.Secret)
		if err != nil {
			return nil, fmt.Errorf("the token for %s: %w", at, err)
		}
		if login, err = buildLogin(secret, at); err != nil {
			return nil, err
		}
	}
	jobs := make([]string, 0, len(of.jobs))
	for j := range of.jobs {
		jobs = append(jobs, j)
	}
	slices.Sort(jobs)
	builds, err := a.Builds.Jobs(ctx, at, login, jobs)
	if err != nil {
		return nil, fmt.Errorf("builds of %s: %w", at, err)
	}
	return builds, nil
}

// buildLogin reads the login of a build server: TOML with a table jenkins that has url, user and
// password, as qontract-reconcile has it, or else a token alone. A login of another host is not
// used.
func buildLogin(secret, address string) (services.Login, error) {
	found := map[string]string{}
	for line := range strings.Lines(secret) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		value = strings.TrimSpace(value)
		if ok && len(value) >= 2 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
			found[strings.TrimSpace(key)] = value[1 : len(value)-1]
		}
	}
	if !strings.Contains(secret, "[jenkins]") {
		return services.Login{Password: strings.TrimSpace(secret)}, nil
	}
	own, err := url.Parse(found["url"])
	asked, errAsked := url.Parse(address)
	if err != nil || errAsked != nil || found["url"] != "" && !strings.EqualFold(own.Host, asked.Host) {
		return services.Login{}, fmt.Errorf("the login in the secret is not for %s", address)
	}
	return services.Login{User: found["user"], Password: found["password"]}, nil
}

// exists reports whether an image is there. Each image is asked once with each secret.
func (a *asker) exists(ctx context.Context, image string, file *saas.File) (isThere bool, unknown string) {
	a.mu.Lock()
	at := a.settings.ImageSource(image, file)
	of := a.images[at]
	if of == nil {
		of = &imageAnswer{}
		a.images[at] = of
	}
	a.mu.Unlock()
	of.once.Do(func() { of.isThere, of.err = a.askImage(ctx, image, file) })
	if of.err != nil {
		return false, fmt.Sprintf("image %s: %v", image, of.err)
	}
	return of.isThere, ""
}

func (a *asker) askImage(ctx context.Context, name string, of *saas.File) (bool, error) {
	if a.Registry == nil {
		return false, errNoService
	}
	image, err := saas.Credentials{Settings: a.settings.Settings, Secret: a.env.Secret}.Image(ctx, of, name)
	if err != nil {
		return false, err
	}
	_, err = a.Registry.Digest(ctx, image)
	if errors.Is(err, services.ErrNotThere) {
		return false, nil
	}
	return err == nil, err
}

// target returns a target for the decision, with the signal of the data alone.
func (a *asker) target(t *saas.Target) (decide.WatchedTarget, error) {
	content, err := json.Marshal(t.Content())
	if err != nil {
		return decide.WatchedTarget{}, err
	}
	of := decide.ConfigSource{Hash: t.Hash(), Content: content, Ref: t.Ref, Auto: t.Promotion != nil && t.Promotion.Auto}
	if a.settings.Trace {
		of.Repository, of.Commit = a.settings.Repository, a.env.Commit
	}
	return decide.WatchedTarget{
		UID: t.UID(), Key: t.StateKey(saas.SignalConfig), Label: t.Label(), Delete: t.Delete, Hotfix: a.isHotfix(t),
		Signals: []decide.Signal{of.Signal()}, File: t.Place.File, Pointer: t.Place.Pointer,
	}, nil
}

// commit returns the commit that a target deploys, or why nobody knows it.
func (a *asker) commit(t *saas.Target) (sha, unknown string) {
	if saas.IsCommit(t.Ref) {
		return t.Ref, ""
	}
	of := a.heads[a.settings.RepositorySource(t.Template)]
	switch {
	case of == nil:
		return "", t.Template.URL + " was not asked"
	case of.err != nil:
		return "", of.err.Error()
	}
	return of.heads[t.Ref], ""
}

// isHotfix reports whether what a target deploys is a hotfix of its repository.
func (a *asker) isHotfix(t *saas.Target) bool {
	sha, _ := a.commit(t)
	for _, version := range a.model.Component(t).Hotfix {
		if version == t.Ref || version == sha && sha != "" {
			return true
		}
	}
	return false
}

// look returns the other signals of a target. What is applied saves requests: images whose tag is
// applied are not asked for.
func (a *asker) look(ctx context.Context, t *saas.Target, applied decide.Values) []decide.Signal {
	if t.Delete {
		return nil
	}
	switch {
	case t.Upstream != nil:
		return []decide.Signal{a.upstream(t)}
	case len(t.Images) > 0:
		return []decide.Signal{a.image(ctx, t, applied[decide.Image])}
	case !saas.IsCommit(t.Ref):
		head, unknown := a.commit(t)
		return []decide.Signal{decide.CommitSource{URL: t.Template.URL, Branch: t.Ref, Head: head, Unknown: unknown}.Signal()}
	}
	return nil
}

// upstream returns the signal of the job of a target.
func (a *asker) upstream(t *saas.Target) decide.Signal {
	up := t.Upstream
	out := decide.UpstreamSource{URL: t.Template.URL, Ref: t.Ref, Server: up.ServerURL, Job: up.Job}
	if of := a.builds[saas.Source{Address: up.ServerURL, Secret: up.Token}]; of == nil {
		out.Unknown = up.ServerURL + " was not asked"
	} else if of.err != nil {
		out.Unknown = of.err.Error()
	} else {
		var isThere bool
		out.Builds, isThere = of.builds[up.Job]
		out.NotThere = !isThere
	}
	return out.Signal()
}

// image returns the signal of the images of a target.
func (a *asker) image(ctx context.Context, t *saas.Target, applied string) decide.Signal {
	out := decide.ImageSource{URL: t.Template.URL, Branch: t.Ref, HashLength: t.Template.HashLength,
		Patterns: t.Template.File.ImagePatterns}
	if out.HashLength == 0 {
		out.HashLength = a.model.HashLength
	}
	out.Head, out.Unknown = a.commit(t)
	for _, i := range t.Images {
		out.Images = append(out.Images, i.Address())
	}
	out.Exists = func(image string) (bool, string) {
		if out.Tag() == applied {
			return true, ""
		}
		return a.exists(ctx, image, t.Template.File)
	}
	return out.Signal()
}
