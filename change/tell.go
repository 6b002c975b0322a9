package change

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/crash"
	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/report/lines"
	"github.com/app-sre/prcheck/runner/effects"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
)

// Told returns what the natives that the plan runs tell of the change by the data alone. Nothing is asked, so no
// credentials are needed.
func (c *Change) Told(ctx context.Context, p *plan.Plan) []report.Told {
	var out []report.Told
	var causes *effects.Causes
	for _, d := range p.Integrations {
		it := c.Settings.For(d.Name)
		native, ok := integration.FindNative(c.input.Natives, it)
		if !ok || d.Decision == plan.Skip {
			continue
		}
		if causes == nil {
			causes = effects.NewCauses(bundle.Compare(c.Base, c.Head))
		}
		teller, can := native.(integration.Teller)
		if _, previews := native.(integration.Previewer); previews && !can {
			continue // its preview says it
		}
		if !can {
			out = append(out, report.Told{Integration: d.Name, Problem: "it cannot tell without asking its services"})
			continue
		}
		base, head, err := c.queries()
		told := report.Told{Integration: d.Name}
		if err == nil {
			told, err = Tell(ctx, teller, it, base, head, causes)
		}
		if err != nil {
			told.Problem = err.Error()
		}
		out = append(out, told)
	}
	c.locate(ctx, out)
	return out
}

// queries returns what answers queries over both sides.
func (c *Change) queries() (base, head integration.QueryFunc, err error) {
	var sides [2]affected.Answerer
	for i, b := range []*bundle.Bundle{c.Base, c.Head} {
		schema, err := gql.NewSchema(b.GraphQL())
		if err != nil {
			return nil, nil, err
		}
		sides[i] = gql.New(b, schema)
	}
	if c.server != nil {
		sides = [2]affected.Answerer{c.server.BaseSide, c.server.HeadSide}
	}
	return affected.PartialQuerier(sides[0]), affected.PartialQuerier(sides[1]), nil
}

// locate fills in the lines of what is told, if the checkout of head is at hand.
func (c *Change) locate(ctx context.Context, all []report.Told) {
	if !source.IsCheckout(c.headRef) || len(all) == 0 {
		return
	}
	open := c.open
	open.Settings = c.Settings
	texts, err := open.Texts(ctx, c.headRef)
	if err != nil || texts.Read == nil {
		return
	}
	report.LocateTold(all, lines.New(lines.Files{Checkout: c.Settings.Checkout(), Read: texts.Read}, c.Base, c.Head))
}

// Tell returns what one native tells of a change by the data alone. The causes are those of the change, nil if they
// are not known.
func Tell(ctx context.Context, of integration.Teller, it settings.Integration, base, head integration.QueryFunc,
	causes *effects.Causes) (told report.Told, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New(crash.Text(p))
		}
	}()
	told.Integration = it.Name
	found := effects.NewFinder(nil, mask.New(nil))
	var mu sync.Mutex
	err = of.Tell(ctx, integration.Environment{Integration: it.Name, Settings: it, Base: base, Query: head,
		Log: io.Discard, Now: time.Now, Report: func(r integration.Remark) {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case r.Effect != nil:
				found.Announce(*r.Effect)
			case r.Unlooked != nil:
				found.Unlook(*r.Unlooked)
			default:
				told.Findings = append(told.Findings, r.Finding)
			}
		}})
	told.Effects = found.Effects()
	told.Effects.Compared, told.Effects.Comparison = true, plan.Comparison{How: plan.ComparedByData}
	if causes != nil {
		causes.Explain(told.Effects)
	}
	slices.SortStableFunc(told.Findings, func(a, b plan.Finding) int {
		return slices.Index(plan.Severities(), a.Severity) - slices.Index(plan.Severities(), b.Severity)
	})
	return told, err
}
