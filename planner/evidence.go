package planner

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner/proof"
)

// refuteEvidence adds to a report the decisions whose facts are not those that the ladder finds
// in the same input. A proof shows that a decision is right; this shows that nobody edited what
// the plan says about it. Left out are decisions that the ladder would make in another way now,
// or by other traces and results: the state may have changed, so that the proof alone counts.
func (s starter) refuteEvidence(ctx context.Context, p *plan.Plan, r *proof.Report) error {
	refuted := func(name string) bool {
		return slices.ContainsFunc(r.Refuted, func(g proof.Gap) bool { return g.Integration == name })
	}
	add := func(name, why string) {
		if why != "" && !refuted(name) {
			r.Refuted = append(r.Refuted, proof.Gap{Integration: name, Why: why})
		}
	}
	if !isSameJSON(p.Changes, changes(s.diff)) {
		add("changes", "the plan's list of changes is not that of these bundles")
	}
	if !isSameJSON(p.Require, s.Settings.EffectPolicy().Labels) {
		add("require", "the plan asks for other labels than the settings")
	}
	train, isKnown := newTrain(s.Input), true
	for _, d := range p.Integrations {
		o, ok := s.outcomes[d.Name]
		if err := ctx.Err(); err != nil {
			return err
		}
		if !ok || refuted(d.Name) {
			isKnown = false
			continue
		}
		c := s.climb(ctx, o)
		train.note(o, c.reuse)
		now, _ := c.decision(d.Name)
		add(d.Name, otherFacts(d, now))
		isKnown = isKnown && isSameJSON(d.Evidence.Passed, now.Evidence.Passed)
	}
	if isKnown {
		add("merge_request", train.refute(p))
	}
	r.Proven = slices.DeleteFunc(r.Proven, refuted)
	r.Believed = slices.DeleteFunc(r.Believed, refuted)
	for a, names := range r.Assumed {
		r.Assumed[a] = slices.DeleteFunc(names, refuted)
	}
	return nil
}

// otherFacts tells that a decision shows other facts than a new one; "" when it does not, or
// when the new one is another decision.
func otherFacts(d, now plan.Decision) string {
	isByOther := !isSameJSON(d.Evidence.Traces, now.Evidence.Traces) || !isSameJSON(d.Evidence.Passed, now.Evidence.Passed)
	switch {
	case isByOther || now.Decision != d.Decision || now.Rung != d.Rung:
		return ""
	case !isSameJSON(d.Evidence, now.Evidence):
		return "its evidence is not what these bundles and settings give"
	case d.Reason != now.Reason, d.Code != now.Code:
		return "its reason is not what these bundles and settings give"
	}
	return ""
}

// isSameJSON tells whether two values are written in the same way. A value that cannot be
// written is like no other.
func isSameJSON(a, b any) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}
