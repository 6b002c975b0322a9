package promotions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/ledger"
	"github.com/app-sre/prcheck/natives/saas/promotion"
)

// An asker asks each source once.
type asker struct {
	Services
	env      integration.Environment
	settings ownSettings
	model    *saas.Model

	records *promotion.Records // nil if there are none
	books   *ledger.Books      // nil if there are no records
	noLogs  error              // why there are no records

	mu    sync.Mutex
	heads map[saas.Source]*heads
	logs  map[commitOf]*commitLog
}

// A commitOf is a commit of a repository.
type commitOf struct {
	saas.Source
	commit string
}

// Heads are what a repository says about its branches.
type heads struct {
	of       *saas.Template // one of those that have the address
	branches map[string]bool
	is       map[string]string
	err      error
}

// A commitLog is the commits of a branch, newest first.
type commitLog struct {
	once    sync.Once
	commits []string
	err     error
}

// errNoService says that this program cannot ask a kind of source.
var errNoService = errors.New("this program cannot ask it")

// newAsker returns an asker that knows what is needed for some subscribers.
func newAsker(ctx context.Context, of Services, env integration.Environment, s ownSettings, m *saas.Model,
	all []*subscriber) *asker {
	a := &asker{Services: of, env: env, settings: s, model: m, heads: map[saas.Source]*heads{},
		logs: map[commitOf]*commitLog{}}
	switch {
	case s.Records == "":
		a.noLogs = errors.New("the settings do not say where the records of promotions are: records")
	case env.Bucket == nil:
		a.noLogs = errors.New("there are no buckets")
	default:
		bucket, err := env.Bucket(ctx, s.Records)
		if a.noLogs = err; err == nil {
			a.records, a.books = promotion.NewRecords(bucket, env.Workers), ledger.NewBooks(bucket)
		}
	}
	for _, sub := range all {
		for _, p := range a.publishers(sub.target()) {
			from := s.RepositorySource(p.Template)
			at := a.heads[from]
			if at == nil {
				at = &heads{of: p.Template, branches: map[string]bool{}}
				a.heads[from] = at
			}
			if !saas.IsCommit(p.Ref) {
				at.branches[p.Ref] = true
			}
		}
	}
	return a
}

// publishers returns the publishers of all channels of a target, each once.
func (a *asker) publishers(t *saas.Target) []*saas.Target {
	var out []*saas.Target
	for _, c := range t.Promotion.Subscribe {
		for _, p := range a.model.Publishers(c) {
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// askHeads asks all repositories for their branches, several at once and each with one request.
func (a *asker) askHeads(ctx context.Context) {
	var all []*heads
	for _, h := range a.heads {
		if len(h.branches) > 0 {
			all = append(all, h)
			h.err = errors.New("it was not asked")
		}
	}
	if len(all) == 0 {
		return
	}
	numbers := make([]string, len(all))
	for i := range all {
		numbers[i] = strconv.Itoa(i)
	}
	errs, _ := reconcile.Each(ctx, numbers, max(a.env.Workers, 1), 0,
		func(ctx context.Context, number string, _ int) error {
			i, err := strconv.Atoi(number)
			if err == nil {
				all[i].is, all[i].err = a.headsOf(ctx, all[i])
			}
			return err
		})
	for i, err := range errs {
		if err != nil {
			all[i].err = err
		}
	}
}

func (a *asker) headsOf(ctx context.Context, h *heads) (map[string]string, error) {
	if a.Repositories == nil {
		return nil, errNoService
	}
	repository, err := a.repository(ctx, h.of)
	if err != nil {
		return nil, err
	}
	var branches []string
	for b := range h.branches {
		branches = append(branches, b)
	}
	slices.Sort(branches)
	return a.Repositories.Heads(ctx, repository, branches)
}

func (a *asker) repository(ctx context.Context, of *saas.Template) (services.Repository, error) {
	return saas.Credentials{Settings: a.settings.Settings, Secret: a.env.Secret}.Repository(ctx, of)
}

// head returns the commit that a publisher deploys.
func (a *asker) head(p *saas.Target) (string, error) {
	if saas.IsCommit(p.Ref) {
		return p.Ref, nil
	}
	h := a.heads[a.settings.RepositorySource(p.Template)]
	if h.err != nil {
		return "", fmt.Errorf("the branches of %s: %w", p.Template.URL, h.err)
	}
	head := h.is[p.Ref]
	if !saas.IsCommit(head) {
		return "", fmt.Errorf("%s has no branch %.80q", p.Template.URL, p.Ref)
	}
	return head, nil
}

// log returns the commits that lead to a commit, newest first.
func (a *asker) log(ctx context.Context, of *saas.Template, commit string) ([]string, error) {
	a.mu.Lock()
	key := commitOf{a.settings.RepositorySource(of), commit}
	l := a.logs[key]
	if l == nil {
		l = &commitLog{}
		a.logs[key] = l
	}
	a.mu.Unlock()
	l.once.Do(func() {
		l.err = errors.New("it was not asked")
		repository, err := a.repository(ctx, of)
		if a.Repositories == nil {
			err = errNoService
		}
		if err == nil {
			l.commits, err = a.Repositories.Log(ctx, repository, commit, promotion.MaxCommits)
		}
		if err == nil && (len(l.commits) == 0 || l.commits[0] != commit) {
			err = errors.New("the log does not begin with the commit that was asked for")
		}
		if l.err = err; err != nil {
			l.err = fmt.Errorf("the commits of %s before %.12s: %w", of.URL, commit, err)
		}
	})
	return l.commits, l.err
}

// health asks whether the service of some targets meets its objectives.
func (a *asker) health(ctx context.Context, targets []*saas.Target) promotion.Health {
	var out promotion.Health
	for _, t := range targets {
		for _, doc := range t.SLOs {
			if doc.Broken != "" {
				out.Err = errors.Join(out.Err, fmt.Errorf("the SLO document %s: %s", doc.Name, doc.Broken))
			}
			for _, at := range doc.Namespaces {
				if doc.Broken != "" || at.Cluster != t.Namespace.Cluster.Name || at.Namespace != t.Namespace.Name {
					continue
				}
				for _, slo := range doc.SLOs {
					value, err := a.measure(ctx, at, slo)
					name := fmt.Sprintf("%s of %s in %s/%s", slo.Name, doc.Name, at.Cluster, at.Namespace)
					switch {
					case err != nil:
						out.Err = errors.Join(out.Err, fmt.Errorf("%s: %w", name, err))
					case value < slo.Target && out.Breached == "":
						out.Breached = fmt.Sprintf("%s is %v, below %v", name, value, slo.Target)
					}
				}
			}
		}
	}
	return out
}

// measure asks for the value of an objective.
func (a *asker) measure(ctx context.Context, at saas.SLONamespace, slo saas.SLO) (float64, error) {
	if a.Measurements == nil {
		return 0, errNoService
	}
	login, err := saas.Credentials{Settings: a.settings.Settings, Secret: a.env.Secret}.Measurement(ctx, at)
	if err != nil {
		return 0, err
	}
	return a.Measurements.Measure(ctx, at.URL, login, slo.Query())
}
