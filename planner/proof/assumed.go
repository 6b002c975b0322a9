package proof

import (
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
)

// assumed lists what a decision that leaves something out rests on without a proof. Something may
// be listed on which the decision does not rest in the end.
func (o dossier) assumed() []plan.Assumption {
	d := o.decision
	if d.Decision == plan.Run && d.Evidence.Reused == 0 || d.Rung == plan.RungDefinition && d.Evidence.Reused == 0 {
		return nil
	}
	var out []plan.Assumption
	byRuns := d.Evidence.Reused > 0 || d.Code == plan.CodeSameAnswers || d.Code == plan.CodeAllShardsProven || d.Code == plan.CodeSomeShardsProven
	hasOrder := o.seen != nil && o.seen.order == integration.OrderIgnored
	if hasOrder && d.Code != plan.CodeSameBundle && (!byRuns || d.Evidence.Reused > 0) {
		out = append(out, plan.AssumedOrder)
	}
	isUnread := o.isUnread(o.subject, o.need)
	if d.Decision == plan.Skip && d.Believed && (!isUnread || o.isByWord(o.subject, o.need)) {
		out = append(out, plan.AssumedSchemas)
	}
	if d.Decision == plan.Skip && !byRuns && isUnread {
		out = append(out, plan.AssumedReads)
	}
	if byRuns && o.unrecorded[o.name] {
		out = append(out, plan.AssumedRuns)
	}
	if byRuns && len(o.Settings.Environment()) > 0 {
		out = append(out, plan.AssumedEnvironment)
	}
	return out
}
