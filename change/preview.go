package change

import (
	"context"
	"errors"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/crash"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/settings"
)

// Previews returns what the merge of the change would start, as the natives say that the plan
// runs. What cannot be said is told in place of lines: a preview decides nothing.
func (c *Change) Previews(ctx context.Context, p *plan.Plan) []report.Preview {
	var out []report.Preview
	for _, d := range p.Integrations {
		it := c.Settings.For(d.Name)
		native, ok := integration.FindNative(c.input.Natives, it)
		previewer, can := native.(integration.Previewer)
		if !ok || !can || d.Decision == plan.Skip {
			continue
		}
		next := report.Preview{Integration: d.Name}
		var err error
		if next.Lines, err = c.preview(ctx, previewer, it); err != nil {
			next.Problem = err.Error()
		}
		if next.Problem != "" || len(next.Lines) > 0 {
			out = append(out, next)
		}
	}
	return out
}

// preview asks one native.
func (c *Change) preview(ctx context.Context, of integration.Previewer,
	it settings.Integration) (lines []string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New(crash.Text(p))
		}
	}()
	var sides [2]affected.Answerer
	for i, b := range []*bundle.Bundle{c.Base, c.Head} {
		schema, err := gql.NewSchema(b.GraphQL())
		if err != nil {
			return nil, err
		}
		sides[i] = gql.New(b, schema)
	}
	if c.server != nil {
		sides = [2]affected.Answerer{c.server.BaseSide, c.server.HeadSide}
	}
	return of.Preview(ctx, affected.Querier(sides[0]), affected.Querier(sides[1]), it)
}
