package affected

import (
	"context"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
)

// Decide asks the rungs fields, state and shards about one integration. selected
// tells that a change concerns the integration as far as its schemas tell. When it
// is not selected, and its desired state is the same, the conclusion has no
// action: the skip that the schemas suggested is confirmed.
func (c *Comparison) Decide(ctx context.Context, s Subject, selected bool) plan.Conclusion {
	d := c.desiredStates(ctx, s)
	out := plan.Conclusion{Evidence: plan.Evidence{Queries: d.queries}}
	if len(d.doubts) > 0 {
		out.Evidence.Doubts = d.doubts
		return out.Then(conclude(plan.Run, d.rung, plan.Reason{Code: plan.CodeStateUnproven, Text: d.doubts[0]}))
	}
	state := plan.State{Base: Digest(d.base, s.Order), Head: Digest(d.head, s.Order)}
	same := !d.touched || state.Base == state.Head
	switch {
	case same && !selected:
		return out
	case !d.touched:
		return out.Then(conclude(plan.Skip, plan.RungFields, plan.Reason{Code: plan.CodeNoReadField}))
	}
	out.Evidence.State = &state
	if same {
		return out.Then(conclude(plan.Skip, plan.RungState, plan.Reason{Code: plan.CodeSameState}))
	}
	if !selected {
		out.Evidence.Doubts = []string{plan.Reason{Code: plan.CodeForbiddenReads}.String()}
	}
	return out.Then(d.byShard(s))
}

// conclude returns the conclusion of one rung.
func conclude(action plan.Action, rung plan.Rung, why plan.Reason) plan.Conclusion {
	return plan.Conclusion{Action: action, Rung: rung, Reason: why}
}

// byShard decides about an integration whose desired state differs.
func (d desiredStates) byShard(s Subject) plan.Conclusion {
	if s.Shards == nil || len(s.Shards.By) == 0 {
		return conclude(plan.Run, plan.RungState, plan.Reason{Code: plan.CodeStateDiffers})
	}
	a := Attribute(d.base, d.head, s.Shards.By, s.Order)
	switch n := len(a.Keys); {
	case n == 0:
		out := conclude(plan.Run, plan.RungShards, plan.Reason{Code: plan.CodeNotByShard, Text: a.Why})
		out.Evidence.Doubts = []string{a.Why}
		return out
	case s.Shards.Max > 0 && n > s.Shards.Max:
		return conclude(plan.Run, plan.RungShards, plan.Reason{Code: plan.CodeTooManyShards, Count: n, Of: s.Shards.Max})
	}
	out := conclude(plan.Shards, plan.RungShards, plan.Reason{Code: plan.CodeShardsDiffer, Names: a.Keys})
	out.Evidence.Keys = a.Keys
	return out
}

// desiredStates are the desired states of one integration on both sides, as far as
// they can differ.
type desiredStates struct {
	rung       plan.Rung // where the doubts arose
	doubts     []string  // why the states prove nothing
	touched    bool      // something that the queries read changed, or may have
	base, head []any     // one document for each query whose answers can differ
	queries    []plan.QueryDifference
}

// desiredStates evaluates the desired states of an integration.
func (c *Comparison) desiredStates(ctx context.Context, s Subject) desiredStates {
	if s.State != nil {
		base, head, err := c.nativeStates(ctx, s.State)
		if err != nil {
			return desiredStates{rung: plan.RungState, doubts: []string{firstLine(err.Error())}}
		}
		return desiredStates{touched: true, base: []any{base}, head: []any{head}}
	}
	var out desiredStates
	for _, q := range s.Queries {
		if q.Doubt != "" {
			out.rung, out.doubts = plan.RungFields, append(out.doubts, fmt.Sprintf("query %s: %s", q.Name, q.Doubt))
		}
	}
	if len(out.doubts) > 0 {
		return out
	}
	whole := c.typesChanged() || s.Order == settings.OrderSignificant || !c.mentions().IsComplete()
	for _, q := range s.Queries {
		d := c.compareAnswers(ctx, q, whole)
		if d.doubt != "" {
			out.rung, out.doubts = plan.RungState, append(out.doubts, fmt.Sprintf("query %s: %s", q.Name, d.doubt))
		}
		out.touched = out.touched || d.touched
		if d.compared {
			out.base, out.head = append(out.base, d.base), append(out.head, d.head)
		}
		evidence := d.evidence
		evidence.Name = q.Name
		out.queries = append(out.queries, evidence)
	}
	return out
}

// ShardKeys returns all shard keys of both desired states, and whether they
// cover everything, so that a full run can be split over them.
func (c *Comparison) ShardKeys(ctx context.Context, s Subject) (keys []string, whole bool) {
	var documents []any
	if s.State != nil {
		base, head, err := c.nativeStates(ctx, s.State)
		if err != nil {
			return nil, false
		}
		documents = append(documents, base, head)
	}
	for _, q := range s.Queries {
		if q.Doubt != "" {
			return nil, false
		}
		base, head, err := c.responses(ctx, q)
		if err != nil || len(base.Errors)+len(head.Errors) > 0 {
			return nil, false // an error may hide a key, also when both sides have it
		}
		documents = append(documents, base.Data, head.Data)
	}
	return Keys(documents, s.Shards.By)
}

// firstLine returns the first line of a text that came from elsewhere.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
