package proof

import (
	"context"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
)

// assumed lists what a decision that leaves something out rests on without a proof. Something may
// be listed on which the decision does not rest in the end.
func (o dossier) assumed(ctx context.Context) []plan.Assumption {
	d := o.decision
	if d.Decision == plan.Run && d.Evidence.Reused == 0 || d.Rung == plan.RungDefinition && d.Evidence.Reused == 0 {
		return nil
	}
	var out []plan.Assumption
	if o.restsOnOrder(ctx) {
		out = append(out, plan.AssumedOrder)
	}
	byRuns := o.restsOnRuns()
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

// restsOnRuns reports whether the decision rests on earlier runs.
func (o dossier) restsOnRuns() bool {
	return o.decision.Evidence.Reused > 0 || o.decision.Code == plan.CodeSameAnswers ||
		o.decision.Code == plan.CodeAllShardsProven ||
		o.decision.Code == plan.CodeSomeShardsProven
}

// restsOnOrder reports whether the decision may leave less out when the order of lists counts. It
// compares the desired states once more, with their order, without the shards that run.
func (o dossier) restsOnOrder(ctx context.Context) bool {
	switch d := o.decision; {
	case d.Evidence.Reused > 0:
		return o.seen != nil && o.seen.order == settings.OrderIgnored
	case o.restsOnRuns() || o.compared == nil || o.compared.order != settings.OrderIgnored ||
		d.Code == plan.CodeSameBundle:
		return false
	}
	ordered := *o.compared
	ordered.order = settings.OrderSignificant
	lost, added, doubt := o.differences(ctx, ordered)
	w := writer{ordered.order}
	switch {
	case doubt != "":
		return true
	case o.decision.Decision == plan.Skip:
		return w.write(lost) != w.write(added)
	case o.need.action != plan.Shards:
		return true
	}
	return !sameElsewhere(lost, added, ordered.shards.By, o.need.keys, w)
}
