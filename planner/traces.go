package planner

import (
	"context"
	"slices"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/schemafilter"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/trace"
)

// maxTraces bounds how many traces evidence names.
const maxTraces = 20

// A traceReader proves skips by traces, which hold the queries and answers of tasks
// that passed.
type traceReader struct {
	settings   *settings.Settings
	traces     Traces // nil: none are remembered
	files      Files  // nil: all files are the same
	comparison *affected.Comparison
	tasks      *taskBuilder
	divider    *divider
}

// traced is the result of asking the traces of an integration.
type traced struct {
	conclusion plan.Conclusion
	subject    affected.Subject // its recorded queries, when compare is set
	compare    bool             // its recorded queries count as declared: compare the answers
	unusable   []string         // traces that cannot be used, as warnings
}

// isAsked tells whether the traces of an integration are asked: it runs because of a
// file, type or resource that it may read, and for no other reason. It may also run because of
// files that its command may use: its traces show which files it does use, unless it always runs.
func (r *traceReader) isAsked(o schemafilter.Outcome) bool {
	c := o.Conclusion
	isAsked := c.Rung == plan.RungSchema || c.Rung == plan.RungDefinition && c.Reason.Code == plan.CodeRulesEdited &&
		len(r.tasks.editedRules(o)) == 0
	always := o.Use.Check == nil || o.Use.Check.AlwaysRun
	return r.traces != nil && c.Action == plan.Run && isAsked && !always && c.Evidence.Rule == "" &&
		o.Blocked.Code == "" && !r.tasks.isNative(o.Name) && r.settings.For(o.Name).Trace != settings.TraceNone
}

// ask asks the traces of an integration whether it needs to run. The conclusion has
// an action when they prove something.
func (r *traceReader) ask(ctx context.Context, o schemafilter.Outcome) traced {
	it := r.settings.For(o.Name)
	if it.Trace == settings.TraceStatic {
		if why := r.traces.Broken(ctx, o.Name); why != "" {
			broken := plan.Reason{Code: plan.CodePromiseBroken, Text: why}
			return traced{conclusion: plan.Conclusion{
				Remarks: []plan.Reason{broken}, Evidence: plan.Evidence{Doubts: []string{broken.String()}},
			}}
		}
	}
	whole := r.tasks.build(o, taskName(o.Name), part{})
	if whole.Blocked != "" {
		return traced{}
	}
	if why := r.tasks.unknownCommand(whole); why.Code != "" {
		return undecided(plan.Reason{Code: plan.CodeTracesNotAsked, Text: why.String()})
	}
	if c := o.Conclusion; c.Reason.Code == plan.CodeRulesEdited { // only answers exactly as recorded count then
		it.Trace = settings.TraceExact
	}
	p := r.proveTask(ctx, it, whole)
	if it.Shards != nil && it.Shards.Strategy != settings.StrategyNone && p.doubt.Code != "" {
		out := r.askShards(ctx, o, it)
		out.unusable = slices.Concat(p.unusable, out.unusable)
		return out
	}
	out := r.conclude(it, p)
	out.conclusion.Evidence.Traces = []plan.TraceProof{p.evidence()}
	out.unusable = p.unusable
	return out
}

// conclude returns the result for a finding by the traces of the whole integration.
func (r *traceReader) conclude(it settings.Integration, p finding) traced {
	switch {
	case p.doubt.Code == "":
		return traced{conclusion: plan.Conclusion{Action: plan.Skip, Rung: plan.RungState, Reason: p.skip}}
	case p.recorded == nil:
		return undecided(p.doubt)
	}
	queries, err := r.comparison.RecordedQueries(p.recorded)
	if err != nil || p.recorded.Doubt() != "" {
		return undecided(plan.Reason{Code: plan.CodeQueriesUnusable})
	}
	s := affected.Subject{Queries: queries, Shards: it.Shards, Order: settings.OrderSignificant}
	if it.ListOrderSet {
		s.Order = it.ListOrder
	}
	return traced{subject: s, compare: true}
}

// undecided returns a finding with a remark that decides nothing.
func undecided(why plan.Reason) traced {
	return traced{conclusion: plan.Conclusion{Remarks: []plan.Reason{why}}}
}

// A finding tells whether the traces of one task prove that it need not run.
type finding struct {
	shard    string       // the label of the task
	trace    *trace.Trace // the trace that was looked at; nil when there is none
	skip     plan.Reason  // why the task need not run; zero when that is not proven
	doubt    plan.Reason  // why it is not proven; zero when it is
	recorded *trace.Trace // the recorded queries, when they count as declared and are in doubt
	unusable []string     // traces that cannot be used, as warnings
}

// evidence writes a finding down for the plan.
func (p finding) evidence() plan.TraceProof {
	out := plan.TraceProof{Shard: p.shard, Doubt: p.doubt.String()}
	if p.trace != nil {
		out.Digest, out.Requests = p.trace.Digest, len(p.trace.Requests)
	}
	return out
}

// proveTask looks at the traces of one task.
func (r *traceReader) proveTask(ctx context.Context, it settings.Integration, t plan.Task) finding {
	out := finding{shard: t.Label()}
	if out.doubt = r.tasks.unknownCommand(t); out.doubt.Code != "" {
		return out
	}
	traces, unusable := r.traces.Load(ctx, trace.TaskKey{Integration: t.Integration, Command: t.Command, Shard: t.Label()})
	out.unusable = unusable
	if len(traces) == 0 {
		out.doubt = plan.Reason{Code: plan.CodeNoTrace}
		return out
	}
	traces, why := r.withSameFiles(traces)
	if len(traces) == 0 {
		out.doubt = plan.Reason{Code: plan.CodeTraceUnproven, Text: why}
		return out
	}
	found, doubt := r.comparison.FindProof(ctx, traces)
	if found != nil {
		out.trace, out.skip = found, plan.Reason{Code: plan.CodeSameAnswers}
		return out
	}
	out.trace, out.doubt = traces[0], plan.Reason{Code: plan.CodeTraceUnproven, Text: doubt}
	if it.Trace != settings.TraceStatic {
		return out
	}
	if doubt := r.comparison.CompareRequests(ctx, traces[0]); doubt != "" {
		out.doubt, out.recorded = plan.Reason{Code: plan.CodeQueriesDiffer, Text: doubt}, traces[0]
		return out
	}
	out.doubt, out.skip = plan.Reason{}, plan.Reason{Code: plan.CodeSameQueries}
	return out
}

// withSameFiles returns the traces of tasks whose files are the same on head, and says why the
// first of the others is left out.
func (r *traceReader) withSameFiles(traces []*trace.Trace) (same []*trace.Trace, why string) {
	for _, t := range traces {
		changed := ""
		if r.files != nil {
			changed = r.files.Changed(t.Integration, string(t.Files))
		}
		if changed == "" {
			same = append(same, t)
		} else if why == "" {
			why = changed
		}
	}
	return same, why
}

// askShards asks the traces of each shard. A shard runs unless a trace proves a skip
// for each of its static shards.
func (r *traceReader) askShards(ctx context.Context, o schemafilter.Outcome, it settings.Integration) traced {
	var out traced
	var shards, left []string
	parts := r.divider.byStrategy(o, it.Shards.Strategy).parts
	e := &out.conclusion.Evidence
	for _, p := range parts {
		found := r.provePart(ctx, o, it, p)
		out.unusable = append(out.unusable, found.unusable...)
		if !slices.Contains(shards, p.shard) {
			shards = append(shards, p.shard)
		}
		if found.doubt.Code != "" && !slices.Contains(left, p.shard) {
			left = append(left, p.shard)
		}
		if len(e.Traces) < maxTraces {
			e.Traces = append(e.Traces, found.evidence())
		}
	}
	c := &out.conclusion
	switch {
	case len(shards) == 0: // the division has the reason
	case len(left) == 0:
		c.Action, c.Rung = plan.Skip, plan.RungState
		c.Reason = plan.Reason{Code: plan.CodeAllShardsProven, Count: len(parts)}
	case len(left) == len(shards):
		c.Remarks = []plan.Reason{{Code: plan.CodeNoShardProven}}
	default:
		c.Action, c.Rung, c.Evidence.Keys = plan.Shards, plan.RungShards, left
		c.Reason = plan.Reason{Code: plan.CodeSomeShardsProven, Count: len(shards) - len(left), Of: len(shards)}
	}
	return out
}

// provePart looks at the traces of a part, and at the traces of its whole shard,
// which cover every static shard of it. The traces of the whole integration were
// looked at before.
func (r *traceReader) provePart(ctx context.Context, o schemafilter.Outcome, it settings.Integration, p part) finding {
	out := r.proveTask(ctx, it, r.tasks.build(o, taskName(o.Name), p))
	if out.doubt.Code == "" || p.shard == "" || p.static == (plan.Fraction{}) {
		return out
	}
	p.static = plan.Fraction{}
	whole := r.proveTask(ctx, it, r.tasks.build(o, taskName(o.Name), p))
	unusable := slices.Concat(out.unusable, whole.unusable)
	if whole.doubt.Code == "" {
		out = whole
	}
	out.unusable = unusable
	return out
}
