package planner

import (
	"context"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/schemafilter"
	"github.com/app-sre/prcheck/trace"
)

// maxTraces bounds how many traces evidence names.
const maxTraces = 20

// recallable tells whether traces may say more about an integration: it runs
// because of what it is allowed to read, and nothing else tells its state.
func (m *maker) recallable(o schemafilter.Outcome) bool {
	d := o.Decision
	_, native := m.natives[o.Name]
	return m.Traces != nil && d.Decision == plan.Run && d.Rung == plan.RungSchema && d.Evidence.Rule == "" &&
		o.Blocked == "" && !native && !m.readable(o.Name) &&
		m.Settings.For(o.Name).Trace != integration.TraceNone
}

// recall asks the traces of an integration whether it needs to run. What they
// do not prove stays as it was decided. When recorded queries tell its desired
// state, it returns them.
func (m *maker) recall(ctx context.Context, o schemafilter.Outcome, d *plan.Decision) (s affected.Subject) {
	it := m.Settings.For(o.Name)
	if it.Trace == integration.TraceStatic {
		if why := m.Traces.Broken(ctx, o.Name); why != "" {
			why = "it broke its promise to ask always the same (" + why + "); planner confirm lets it count again"
			d.Reason += "; " + why
			d.Evidence.Doubts = append(d.Evidence.Doubts, why)
			return s
		}
	}
	whole := m.task(o, taskName(o.Name), part{})
	if whole.Blocked != "" {
		return s
	}
	if why := m.unknown(whole); why != "" {
		d.Reason += "; " + why + ", so no trace is asked"
		return s
	}
	r := m.remember(ctx, it, whole)
	if it.Shards != nil && it.Shards.Strategy != integration.StrategyNone && r.Doubt != "" {
		m.recallShards(ctx, o, it, d)
		return s
	}
	d.Evidence.Traces = []plan.Trace{r.Trace}
	switch {
	case r.Doubt == "":
		d.Decision, d.Rung, d.Reason = plan.Skip, plan.RungState, r.reason
	case r.static != nil:
		return m.judgeStatic(ctx, it, r.static, d)
	default:
		d.Reason += "; " + r.Doubt
	}
	return s
}

// A memory is what the traces of one task prove.
type memory struct {
	plan.Trace
	reason string       // why it is skipped, when there is no doubt
	static *trace.Trace // the recorded queries, when they count as declared
}

const (
	noTrace     = "no trace of a run that passed is there"
	sameAnswers = "head answers all that it asked when it last passed as it did then"
	sameQueries = "base and head answer all its recorded queries alike"
)

// remember looks at the traces of one task.
func (m *maker) remember(ctx context.Context, it integration.Integration, t plan.Task) memory {
	if why := m.unknown(t); why != "" {
		return memory{Trace: plan.Trace{Shard: t.Label(), Doubt: why}}
	}
	traces, ignored := m.Traces.Load(ctx, trace.Subject{Integration: t.Integration, Command: t.Command, Shard: t.Label()})
	m.ignored = append(m.ignored, ignored...)
	out := memory{Trace: plan.Trace{Shard: t.Label(), Doubt: noTrace}}
	if len(traces) == 0 {
		return out
	}
	out.Digest, out.Requests = traces[0].Digest, len(traces[0].Requests)
	proof, why := m.world.Recall(ctx, traces)
	if proof != nil {
		out.Digest, out.Requests, out.Doubt, out.reason = proof.Digest, len(proof.Requests), "", sameAnswers
		return out
	}
	out.Doubt = "its trace proves nothing: " + why
	if it.Trace != integration.TraceStatic {
		return out
	}
	if why := m.world.Unchanged(ctx, traces[0]); why != "" {
		out.Doubt, out.static = "its recorded queries do not show that nothing changed: "+why, traces[0]
		return out
	}
	out.Doubt, out.reason = "", sameQueries
	return out
}

// judgeStatic takes recorded queries as declared ones, and returns them.
func (m *maker) judgeStatic(ctx context.Context, it integration.Integration, t *trace.Trace, d *plan.Decision) affected.Subject {
	queries, err := m.world.Recorded(t)
	if err != nil || t.Doubt() != "" {
		d.Reason += "; its recorded queries cannot be compared"
		return affected.Subject{}
	}
	s := affected.Subject{Queries: queries, Shards: it.Shards, Order: integration.OrderSignificant}
	if it.ListOrderSet {
		s.Order = it.ListOrder
	}
	m.world.Judge(ctx, s, true, d)
	return s
}

// recallShards asks the trace of each shard. A shard without one runs, and so does
// one of which a static shard has none.
func (m *maker) recallShards(ctx context.Context, o schemafilter.Outcome, it integration.Integration, d *plan.Decision) {
	division := m.division(o, it.Shards.Strategy)
	if division.err != nil {
		return // the tasks say why
	}
	var keys, left []string
	for _, p := range division.parts {
		r := m.proven(ctx, o, it, p)
		if !slices.Contains(keys, p.shard) {
			keys = append(keys, p.shard)
		}
		if r.Doubt != "" && !slices.Contains(left, p.shard) {
			left = append(left, p.shard)
		}
		if len(d.Evidence.Traces) < maxTraces {
			d.Evidence.Traces = append(d.Evidence.Traces, r.Trace)
		}
	}
	switch {
	case len(keys) == 0: // the tasks say so
	case len(left) == 0:
		d.Decision, d.Rung = plan.Skip, plan.RungState
		d.Reason = fmt.Sprintf("for each of its %d shards, %s", len(division.parts), sameAnswers)
	case len(left) == len(keys):
		d.Reason += "; no trace proves that one of its shards can be left out"
	default:
		d.Decision, d.Rung, d.Evidence.Keys = plan.Shards, plan.RungShards, left
		d.Reason = fmt.Sprintf("traces prove that %d of its %d shards need not run", len(keys)-len(left), len(keys))
	}
}

// proven looks at the traces of a part, and at those of its whole shard, which
// cover every static shard of it. Those of the whole integration were asked before.
func (m *maker) proven(ctx context.Context, o schemafilter.Outcome, it integration.Integration, p part) memory {
	r := m.remember(ctx, it, m.task(o, taskName(o.Name), p))
	if r.Doubt == "" || p.shard == "" || p.static == (plan.Fraction{}) {
		return r
	}
	p.static = plan.Fraction{}
	if whole := m.remember(ctx, it, m.task(o, taskName(o.Name), p)); whole.Doubt == "" {
		return whole
	}
	return r
}
