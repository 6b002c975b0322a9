package generic

import (
	"context"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integrations/generic/check"
	"github.com/app-sre/prcheck/integrations/generic/cloud"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/reconcile"
)

// check returns what a change would do to resources, by the data alone. A dry run of one shard
// tells of the resources of this shard. Mistakes of entries, and entries that are gone, are told
// by the plan.
func (g *generic) check(ctx context.Context, env integration.Environment) ([]plan.Finding, error) {
	base, err := g.read(ctx, env.Base)
	if err != nil {
		return nil, nil //nolint:nilerr // the plan tells that base cannot be read
	}
	head, err := g.read(ctx, env.Query)
	if err != nil {
		return nil, err
	}
	roots, told := map[string]string{}, map[plan.Finding]bool{}
	for _, m := range []*cloud.Model{base, head} {
		for _, r := range m.Resources {
			roots[r.File] = r.Root
			told[plan.Finding{Code: string(r.Mistake.Code), File: r.File, Pointer: r.Mistake.Pointer}] = !r.Mistake.IsZero()
		}
		for _, f := range m.Findings {
			told[plan.Finding{Code: string(f.Code), File: f.Place.File, Pointer: f.Place.Pointer}] = true
		}
	}
	var out []plan.Finding
	for _, f := range check.Run(base, head).Findings {
		root := roots[f.File]
		isOther := env.Shard != "" && root != "" && root != env.Shard
		if isOther || f.Code == reconcile.CodeOrphan || told[plan.Finding{Code: string(f.Code), File: f.File, Pointer: f.Pointer}] {
			continue
		}
		out = append(out, f.Reported())
	}
	return out, nil
}
