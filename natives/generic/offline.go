package generic

import (
	"context"
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/check"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
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
			told[plan.Finding{Code: r.Mistake.Code,
				Place: plan.Place{File: r.File, Pointer: r.Mistake.Pointer}}] = !r.Mistake.IsZero()
		}
		for _, f := range m.Findings {
			told[plan.Finding{Code: f.Code, Place: f.Place}] = true
		}
	}
	var out []plan.Finding
	report := check.Run(base, head)
	for _, f := range append(report.Findings, notes(report.Kept)...) {
		root := roots[f.File]
		isOther := env.Shard != "" && root != "" && root != env.Shard
		if isOther || f.Code == reconcile.CodeOrphan || f.Code == reconcile.CodeDeleteWithChild ||
			told[plan.Finding{Code: f.Code, Place: plan.Place{File: f.File, Pointer: f.Pointer}}] {
			continue
		}
		out = append(out, f.Reported())
	}
	return out, nil
}

// replaces reports whether, by the data alone, the change of an entry deletes its resource and creates it
// again.
func replaces(base, head reconcile.Item) bool {
	was, isEntry := base.Body.(*entry)
	now, isToo := head.Body.(*entry)
	return isEntry && isToo && check.Replaces(was.of, now.of)
}

// notes returns those of what stays as it is that the plan does not tell.
func notes(kept []check.Finding) []check.Finding {
	return slices.DeleteFunc(slices.Clone(kept), func(f check.Finding) bool {
		return f.Code != check.CodeIgnored && f.Code != check.CodeFirstSet
	})
}
