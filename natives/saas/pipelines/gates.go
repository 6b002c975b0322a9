package pipelines

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
	"github.com/app-sre/prcheck/natives/saas/promotion"
)

// gates asks the gates of all targets of a cell.
func (a *asker) gates(ctx context.Context, c saas.Cell) []decide.Gate {
	var out []decide.Gate
	for _, t := range c.Targets {
		if t.Delete {
			continue
		}
		if g, isClosed := a.promotionGate(ctx, t); isClosed {
			out = append(out, g)
		}
		out = append(out, a.objectives(ctx, t)...)
	}
	return out
}

// promotionGate asks whether a target may run its commit.
func (a *asker) promotionGate(ctx context.Context, t *saas.Target) (decide.Gate, bool) {
	if !subscribes(t) {
		return a.personGate(ctx, t)
	}
	out := decide.Gate{Kind: decide.PromotionGate}
	sha, unknown := a.commit(t)
	switch {
	case unknown != "":
		out.Unknown = t.Label() + ": " + unknown
		return out, true
	case sha == "":
		out.Unknown = fmt.Sprintf("%s: %s has no branch %q", t.Label(), t.Template.URL, t.Ref)
		return out, true
	case a.records == nil:
		out.Unknown = t.Label() + ": the records of promotions cannot be read"
		if a.noLogs != nil {
			out.Unknown += ": " + a.noLogs.Error()
		}
		return out, true
	}
	of := promotion.Of(a.model, t, a.settings.Settings)
	v := promotion.Ask(ctx, a.records, a.books, of, t, sha, a.env.Now())
	switch {
	case v.Open:
		return out, false
	case v.Err != nil:
		out.Unknown = t.Label() + ": " + v.Err.Error()
	default:
		out.Closed, out.Opens = fmt.Sprintf("%s: %s: %s", t.Label(), v.Code, v.Reason), v.Opens
	}
	return out, true
}

// personGate asks whether a person holds a target that follows nobody.
func (a *asker) personGate(ctx context.Context, t *saas.Target) (decide.Gate, bool) {
	if len(a.settings.Speakers(t)) == 0 {
		return decide.Gate{}, false // nobody could say so
	}
	out := decide.Gate{Kind: decide.PromotionGate}
	if a.books == nil {
		out.Unknown = fmt.Sprintf("%s: the ledger cannot be read: %v", t.Label(), a.noLogs)
		return out, true
	}
	b, err := a.books.Of(ctx, t.UID(), t.Label())
	if err != nil {
		out.Unknown = t.Label() + ": " + err.Error()
		return out, true
	}
	if hold := b.Standing().Hold; hold != nil {
		out.Closed = fmt.Sprintf("%s: %s holds the target", t.Label(), hold.Who)
		return out, true
	}
	return decide.Gate{}, false
}

// retried returns when a person wanted a target of a cell to run again last. What cannot be read is never.
func (a *asker) retried(ctx context.Context, c saas.Cell) time.Time {
	var out time.Time
	for _, t := range c.Targets {
		if a.books == nil || len(a.settings.Speakers(t)) == 0 {
			continue
		}
		b, err := a.books.Of(ctx, t.UID(), t.Label())
		if err != nil {
			continue
		}
		if e := b.Standing().Retry; e != nil && e.At.After(out) {
			out = e.At
		}
	}
	return out
}

// objectives asks whether the objectives of a target are kept in its namespace.
func (a *asker) objectives(ctx context.Context, t *saas.Target) []decide.Gate {
	var out []decide.Gate
	for _, doc := range t.SLOs {
		if doc.Broken != "" {
			out = append(out,
				decide.Gate{Kind: decide.SLOGate, Unknown: fmt.Sprintf("SLO document %s: %s", doc.Name, doc.Broken)})
			continue
		}
		for _, at := range doc.Namespaces {
			if at.Cluster != t.Namespace.Cluster.Name || at.Namespace != t.Namespace.Name {
				continue
			}
			for _, slo := range doc.SLOs {
				if g, isClosed := a.objective(ctx, doc, at, slo); isClosed {
					out = append(out, g)
				}
			}
		}
	}
	return out
}

// objective asks whether one objective is kept.
func (a *asker) objective(ctx context.Context, doc *saas.SLODocument, at saas.SLONamespace,
	slo saas.SLO) (decide.Gate, bool) {
	name := fmt.Sprintf("SLO %s of document %s in %s/%s", slo.Name, doc.Name, at.Cluster, at.Namespace)
	value, err := a.measure(ctx, at, slo.Query())
	switch {
	case err != nil:
		return decide.Gate{Kind: decide.SLOGate, Unknown: name + ": " + err.Error()}, true
	case value < slo.Target:
		return decide.Gate{Kind: decide.SLOGate, Closed: fmt.Sprintf("%s is breached: %v is below %v", name, value,
			slo.Target)}, true
	}
	return decide.Gate{}, false
}

// measure asks for a value, once.
func (a *asker) measure(ctx context.Context, at saas.SLONamespace, expression string) (float64, error) {
	a.mu.Lock()
	key := at.URL + "\x00" + at.Cluster + "\x00" + at.Namespace + "\x00" + expression
	of := a.values[key]
	if of == nil {
		of = &valueAnswer{once: sync.Once{}}
		a.values[key] = of
	}
	a.mu.Unlock()
	of.once.Do(func() { of.value, of.err = a.askValue(ctx, at, expression) })
	return of.value, of.err
}

func (a *asker) askValue(ctx context.Context, at saas.SLONamespace, expression string) (float64, error) {
	if a.Measurements == nil {
		return 0, errNoService
	}
	login, err := saas.Credentials{Settings: a.settings.Settings, Secret: a.env.Secret}.Measurement(ctx, at)
	if err != nil {
		return 0, err
	}
	return a.Measurements.Measure(ctx, at.URL, login, expression)
}
