package affected

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/gql"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
)

// Judge climbs rungs 3 to 5 for one integration and completes its decision.
// selected tells that a change concerns it as far as its schemas tell; when
// nothing does, the decision that is there already, a skip at rung 2, stands
// once the queries confirm it.
func (w *World) Judge(ctx context.Context, s Subject, selected bool, d *plan.Decision) {
	j := judgement{World: w, subject: s, decision: d}
	j.compare(ctx)
	switch {
	case len(j.doubts) > 0:
		d.Evidence.Doubts = append(d.Evidence.Doubts, j.doubts...)
		j.say(plan.Run, j.rung, "it is not proven that its desired state is the same: "+j.doubts[0])
	case j.untouched && selected:
		j.say(plan.Skip, plan.RungFields, "its queries read no field that changed")
	case !j.untouched:
		j.byState(selected)
	}
}

// A judgement is the climb of one integration.
type judgement struct {
	*World
	subject   Subject
	decision  *plan.Decision
	rung      plan.Rung // at which doubts arose
	doubts    []string
	untouched bool  // nothing that the queries read changed
	base      []any // desired states, one document a query, as far as they can differ
	head      []any
	whole     bool // they are complete
}

func (j *judgement) say(v plan.Verdict, rung plan.Rung, reason string) {
	j.decision.Decision, j.decision.Rung, j.decision.Reason = v, rung, reason
}

func (j *judgement) doubt(rung plan.Rung, format string, args ...any) {
	j.rung = rung
	j.doubts = append(j.doubts, fmt.Sprintf(format, args...))
}

// digest digests both desired states, as far as they can differ.
func (j *judgement) digest() plan.State {
	return plan.State{Base: Digest(j.base, j.subject.Order), Head: Digest(j.head, j.subject.Order)}
}

// byState decides by the two desired states.
func (j *judgement) byState(selected bool) {
	d, s := j.decision, j.subject
	state := j.digest()
	same := state.Base == state.Head
	if same && !selected {
		return
	}
	d.Evidence.State = &state
	if same {
		j.say(plan.Skip, plan.RungState, j.sameReason())
		return
	}
	if !selected {
		d.Evidence.Doubts = append(d.Evidence.Doubts, "its queries read files of schemas that it is not allowed to read")
	}
	if s.Shards == nil {
		j.say(plan.Run, plan.RungState, "its desired state differs between base and head")
		return
	}
	a := Attribute(j.base, j.head, s.Shards.By, s.Order)
	switch {
	case len(a.Keys) == 0:
		d.Evidence.Doubts = append(d.Evidence.Doubts, a.Why)
		j.say(plan.Run, plan.RungShards, "its desired state differs, and not for single shards only: "+a.Why)
	case s.Shards.Max > 0 && len(a.Keys) > s.Shards.Max:
		j.say(plan.Run, plan.RungShards, fmt.Sprintf("its desired state differs for %d shards, more than the %d that are worth running singly", len(a.Keys), s.Shards.Max))
	default:
		d.Evidence.Keys = a.Keys
		j.say(plan.Shards, plan.RungShards, "its desired state differs for "+someKeys(a.Keys)+" only")
	}
}

func (j *judgement) sameReason() string {
	if !j.whole && len(j.base) == 0 && len(j.head) == 0 {
		return "what changed cannot be reached by its queries"
	}
	return "its desired state is the same on base and head"
}

func someKeys(keys []string) string {
	switch {
	case len(keys) == 1:
		return fmt.Sprintf("shard %q", keys[0])
	case len(keys) <= 3:
		return fmt.Sprintf("shards %q", keys)
	}
	return fmt.Sprintf("%d shards, %q and others", len(keys), keys[0])
}

// compare works out both desired states, as far as they can differ.
func (j *judgement) compare(ctx context.Context) {
	if j.subject.State != nil {
		j.native(ctx)
		return
	}
	for _, q := range j.subject.Queries {
		if q.Doubt != "" {
			j.doubt(plan.RungFields, "query %s: %s", q.Name, q.Doubt)
		}
	}
	if len(j.doubts) > 0 {
		return
	}
	j.whole = j.thorough || j.typesChanged() || j.subject.Order == integration.OrderSignificant || !j.mentions().Whole()
	j.untouched = !j.whole
	for _, q := range j.subject.Queries {
		if j.whole || opaque(q.base) || opaque(q.head) {
			j.untouched = false
			j.evaluate(ctx, q)
		} else {
			j.evaluateReached(ctx, q)
		}
	}
}

// opaque tells whether a query has a root that can only be answered as a whole.
func opaque(q *gql.Query) bool {
	return slices.ContainsFunc(q.Roots(), func(r *gql.Root) bool { return r.Kind == gql.RootOpaque })
}

// evaluate answers a query as a whole on both sides.
func (j *judgement) evaluate(ctx context.Context, q Query) {
	base, head, problem := j.answers(ctx, q)
	if problem != "" {
		j.doubt(plan.RungState, "query %s: %s", q.Name, problem)
	}
	j.base, j.head = append(j.base, base), append(j.head, head)
	e := j.evidence(q)
	e.Complete = true
	j.decision.Evidence.Queries = append(j.decision.Evidence.Queries, e)
}

func (w *World) answers(ctx context.Context, q Query) (base, head any, problem string) {
	e, err := w.engines()
	if err != nil {
		return nil, nil, err.Error()
	}
	b, h := e.base.Execute(ctx, q.base), e.head.Execute(ctx, q.head)
	switch {
	case w.thorough && sameErrors(b.Errors, h.Errors):
	case len(h.Errors) > 0:
		problem = "head answers with an error: " + firstLine(h.Errors[0].Message)
	case len(b.Errors) > 0:
		problem = "base answers with an error: " + firstLine(b.Errors[0].Message)
	}
	return b.Data, h.Data, problem
}

func sameErrors(a, b []gql.Error) bool {
	return slices.EqualFunc(a, b, func(a, b gql.Error) bool { return a.Message == b.Message && a.Code == b.Code })
}

func (j *judgement) evidence(q Query) plan.Query {
	return plan.Query{Name: q.Name, SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(q.Text)))}
}

// ShardKeys returns all shard keys of both desired states, and whether they
// cover everything, so that a full run can be split over them.
func (w *World) ShardKeys(ctx context.Context, s Subject) (keys []string, whole bool) {
	var documents []any
	if s.State != nil {
		base, head, err := w.nativeStates(ctx, s.State)
		if err != nil {
			return nil, false
		}
		documents = append(documents, base, head)
	}
	for _, q := range s.Queries {
		if q.Doubt != "" {
			return nil, false
		}
		base, head, problem := w.answers(ctx, q)
		if problem != "" {
			return nil, false
		}
		documents = append(documents, base, head)
	}
	return Keys(documents, s.Shards.By)
}

// firstLine is the beginning of a text that came from elsewhere.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
