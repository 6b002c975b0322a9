package affected

import (
	"context"
	"fmt"
	"strings"

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
	case j.touched:
		j.byState(selected)
	case selected:
		j.say(plan.Skip, plan.RungFields, "its queries read no field that changed")
	}
}

// A judgement is the climb of one integration.
type judgement struct {
	*World
	subject    Subject
	decision   *plan.Decision
	rung       plan.Rung // at which doubts arose
	doubts     []string
	touched    bool  // something that the queries read changed, or may have
	base, head []any // desired states, one document a query, as far as they can differ
	whole      bool  // they are complete
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
		j.say(plan.Skip, plan.RungState, "its desired state is the same on base and head")
		return
	}
	if !selected {
		d.Evidence.Doubts = append(d.Evidence.Doubts, "its queries read files of schemas that it is not allowed to read")
	}
	if s.Shards == nil || len(s.Shards.By) == 0 {
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
	j.whole = j.thorough || j.typesChanged() || j.subject.Order == integration.OrderSignificant || !j.mentions().IsComplete()
	for _, q := range j.subject.Queries {
		c := j.World.compare(ctx, q, j.whole)
		if c.doubt != "" {
			j.doubt(plan.RungState, "query %s: %s", q.Name, c.doubt)
		}
		j.touched = j.touched || c.touched
		if c.compared {
			j.base, j.head = append(j.base, c.base), append(j.head, c.head)
		}
		evidence := c.evidence
		evidence.Name = q.Name
		j.decision.Evidence.Queries = append(j.decision.Evidence.Queries, evidence)
	}
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
		base, head, err := w.responses(ctx, q)
		if err != nil || len(base.Errors)+len(head.Errors) > 0 {
			return nil, false // an error may hide a key, also when both sides have it
		}
		documents = append(documents, base.Data, head.Data)
	}
	return Keys(documents, s.Shards.By)
}

// firstLine is the beginning of a text that came from elsewhere.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
