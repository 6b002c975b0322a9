package planner

import (
	"context"
	"slices"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/schemafilter"
	"github.com/app-sre/prcheck/settings"
)

// Skipped returns the units of work that a plan leaves out, as tasks of full runs, in plan
// order. The input must be that of the plan. It leaves out what cannot run on both sides:
// integrations that are disabled or have no pr_check, that one side does not define, whose
// tasks cannot be started, or whose settings say that they never run on base. Shards that
// nobody can list are left out as well.
func Skipped(ctx context.Context, in Input, p *plan.Plan) ([]plan.Skipped, error) {
	if err := CheckInput(in, p); err != nil {
		return nil, err
	}
	l, err := newLadder(in)
	if err != nil {
		return nil, err
	}
	var out []plan.Skipped
	for _, o := range l.outcomes() {
		d, ok := p.Decision(o.Name)
		if !ok || d.Decision == plan.Skip && d.Rung == plan.RungDefinition || d.Code == plan.CodeSameBundle ||
			o.Use.Check == nil || o.FromHead() || o.Head == nil || in.Settings.For(o.Name).NoBaseline {
			continue
		}
		out = append(out, l.skipped(ctx, o, d)...)
	}
	return out, ctx.Err()
}

// skipped returns the units that a decision about an integration leaves out. They do all
// their work: whatever its conditions say, they do not end early.
func (l *ladder) skipped(ctx context.Context, o schemafilter.Outcome, d plan.Decision) []plan.Skipped {
	var out []plan.Skipped
	o.Decided = false
	add := func(w work, rung plan.Rung) {
		for _, u := range l.tasks.units(o, w) {
			if u.task.Blocked == "" && !slices.Contains(d.Tasks, u.task.ID) {
				out = append(out, plan.Skipped{Task: u.task, Rung: rung, Passed: rung == plan.RungResult || isByTrace(d.Code)})
			}
		}
	}
	keys := d.Evidence.Keys
	switch {
	case d.Decision == plan.Skip && d.Rung != plan.RungResult:
		add(l.divider.fullRun(ctx, o), d.Rung)
		return out
	case len(keys) > 0 && d.Decision != plan.Run: // these shards are left, and the others are proven
		add(work{prefix: taskName(o.Name), parts: l.divider.shards(o, keys)}, plan.RungResult)
		add(work{prefix: taskName(o.Name), parts: l.otherShards(ctx, o, keys)}, plan.RungShards)
		return out
	}
	add(l.divider.fullRun(ctx, o), plan.RungResult)
	return out
}

// isByTrace tells whether a decision leaves out what traces of earlier runs prove.
func isByTrace(c plan.Code) bool {
	return c == plan.CodeSameAnswers || c == plan.CodeAllShardsProven || c == plan.CodeSomeShardsProven
}

// otherShards returns the parts of all shards but some; none if the shards are not known.
func (l *ladder) otherShards(ctx context.Context, o schemafilter.Outcome, keys []string) []part {
	var all []part
	subject, hasState := l.subjects[o.Name]
	shards := l.Settings.For(o.Name).Shards
	switch {
	case shards != nil && shards.Strategy != settings.StrategyNone:
		all = l.divider.byStrategy(o, shards.Strategy).parts
	case hasState && subject.Shards != nil:
		known, _ := l.comparison.ShardKeys(ctx, subject)
		all = partsOf(known)
	}
	return slices.DeleteFunc(slices.Clone(all), func(p part) bool {
		return p.shard == "" || slices.Contains(keys, p.shard)
	})
}
