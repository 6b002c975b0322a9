package proof

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/trace"
)

// byTraces asks whether traces show that an integration, which may read what changed, need
// not run. lifts tells for a task whether its traces do. recorded is the desired state that
// recorded queries tell, when they count as declared.
func (c *prover) byTraces(ctx context.Context, i *subject,
	below need) (n need, lifts func(plan.Task) bool, recorded *desired) {
	it := i.settings
	whole := c.Tasks.Task(i.name, "")
	if !below.traced || !c.mayTrace(ctx, i) || whole.Blocked != "" || c.Tasks.Unknown(whole) != "" {
		return below, nil, nil
	}
	lifts = func(t plan.Task) bool {
		return slices.ContainsFunc(c.load(ctx, t), func(tr *trace.Trace) bool {
			return c.shows(ctx, i, tr, len(i.edits) > 0)
		})
	}
	traces := c.load(ctx, whole)
	switch {
	case lifts(whole):
		n = skip(plan.RungState, plan.CodeSameAnswers)
		return n, lifts, nil
	case len(i.edits) > 0, it.Shards != nil && it.Shards.Strategy != settings.StrategyNone,
		it.Trace != settings.TraceStatic, len(traces) == 0:
		return below, lifts, nil
	}
	if recorded = recordedState(it, traces[0]); recorded == nil {
		return below, lifts, nil
	}
	n = c.byState(ctx, *recorded)
	n.endsEarly = below.endsEarly
	return n, lifts, recorded
}

// mayTrace tells whether traces of an integration may show anything.
func (c *prover) mayTrace(ctx context.Context, i *subject) bool {
	if c.Traces == nil || i.native || i.settings.Trace == settings.TraceNone {
		return false
	}
	return i.settings.Trace != settings.TraceStatic || c.Traces.Broken(ctx, i.name) == ""
}

// load returns the traces of a task.
func (c *prover) load(ctx context.Context, t plan.Task) []*trace.Trace {
	if c.Tasks.Unknown(t) != "" {
		return nil
	}
	traces, _ := c.Traces.Load(ctx, trace.TaskKey{Integration: t.Integration, Command: t.Command, Shard: t.Label()})
	return slices.DeleteFunc(slices.Clone(traces), func(tr *trace.Trace) bool {
		return !c.sameFiles(t.Integration, string(tr.Files))
	})
}

// shows tells whether a trace shows that its task need not run: the bundles answer as they
// did then, or, for an integration that always asks the same, both sides answer alike.
func (c *prover) shows(ctx context.Context, i *subject, t *trace.Trace, exactly bool) bool {
	if t.Unprovable != "" || len(t.Requests) == 0 && !strings.HasPrefix(string(t.Files), readOf) {
		return false
	}
	asThen := func(r trace.RecordedRequest) bool {
		head := r.Side == trace.Base || c.digest(ctx, c.head, r) == r.Answer
		base := r.Side == trace.Head || c.digest(ctx, c.base, r) == r.Answer
		return head && base
	}
	alike := func(r trace.RecordedRequest) bool {
		base := c.digest(ctx, c.base, r)
		return base != "" && base == c.digest(ctx, c.head, r)
	}
	return every(t.Requests, asThen) || !exactly && i.settings.Trace == settings.TraceStatic && every(t.Requests, alike)
}

func every[T any](items []T, ok func(T) bool) bool {
	return !slices.ContainsFunc(items, func(item T) bool { return !ok(item) })
}

// digest returns the digest of the whole answer of a side to a recorded request; "" when it
// cannot be asked.
func (c *prover) digest(ctx context.Context, s *side, r trace.RecordedRequest) string {
	req, err := r.GraphQL()
	if err != nil || s.server == nil && s.engine == nil {
		return ""
	}
	c.asked.note(c.nameOf(s), r.Name(), req, false)
	key := fmt.Sprintf("%v %s", s == c.head, req.JSON())
	known, ok := c.digests[key]
	if !ok {
		res := s.answer(ctx, req)
		known = trace.Answer(res.Status, res.JSON())
		if ctx.Err() != nil {
			return ""
		}
		c.digests[key] = known
	}
	return known
}

// recordedState returns the desired state that the queries of a trace tell; nil when they
// cannot be used.
func recordedState(it settings.Integration, t *trace.Trace) *desired {
	d := &desired{shards: it.Shards, order: settings.OrderSignificant}
	if it.ListOrderSet {
		d.order = it.ListOrder
	}
	asked := map[string]bool{}
	for _, r := range t.Requests {
		req, err := r.GraphQL()
		if err != nil {
			return nil
		}
		if key := requestText(req); !asked[key] {
			asked[key] = true
			d.queries = append(d.queries, query{r.Name(), req})
		}
	}
	if t.Unprovable != "" || len(d.queries) == 0 {
		return nil
	}
	return d
}

// requestText returns a text of a request. The order of keys in its variables counts: a filter is judged in it.
func requestText(r gql.Request) string {
	variables := ""
	if r.Variables != nil {
		variables = string(bundle.AppendOrdered(nil, r.Variables))
	}
	return fmt.Sprintf("%q %q %v %s", r.Query, r.Operation, r.EmptyName, variables)
}
