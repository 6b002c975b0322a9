package planner

import (
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/schemafilter"
)

// distrusted returns the rungs that are not believed about an integration, with the reasons.
func distrusted(d Distrust, integration string) map[plan.Rung]string {
	if d == nil {
		return nil
	}
	return d.Distrusted(integration)
}

// withDistrust returns a conclusion that runs the integration in full if the rung that
// concluded is not believed about it. Its tasks then leave nothing out themselves. A rung that
// runs the integration in full is always believed, and so is that two bundles are the same.
func (l *ladder) withDistrust(o schemafilter.Outcome, c plan.Conclusion) (schemafilter.Outcome, plan.Conclusion) {
	why, isDistrusted := distrusted(l.Distrust, o.Name)[c.Rung]
	if !isDistrusted || c.Action == plan.Run || c.Rung == plan.RungDefinition || c.Reason.Code == plan.CodeSameBundle {
		return o, c
	}
	o.Decided = false
	reason := plan.Reason{Code: plan.CodeDistrusted, Names: []string{string(c.Rung)}, Text: why}
	return o, c.Then(plan.Conclusion{
		Action: plan.Run, Rung: c.Rung, Reason: reason, Remarks: c.Reasons(),
		Evidence: plan.Evidence{Doubts: []string{reason.String()}},
	})
}
