package native

import (
	"slices"

	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// onlyTaken leaves the steps that take things of another version of the integration, those that mark
// things of the integration that the settings take over from, and the findings about both. It tells
// of things of another version that no entry names.
func (w *work) onlyTaken(u *unit) {
	isTaken := map[reconcile.Key]bool{}
	u.plan.Steps = slices.DeleteFunc(u.plan.Steps, func(s reconcile.Step) bool {
		isMarked := s.Owner == reconcile.OtherIntegration
		isMade := s.Owner == reconcile.OtherVersion && s.Action != reconcile.Replace
		isTaken[s.Key] = (isMarked || isMade) && s.Action.Writes() && s.Action != reconcile.Remove
		return !isTaken[s.Key]
	})
	for i := range u.plan.Steps {
		if s := &u.plan.Steps[i]; s.Owner == reconcile.OtherIntegration { // the next run makes it as the data want
			s.Action, s.Changes, s.Needs, s.Wave = reconcile.MarkIt, nil, nil, 1
		}
	}
	u.plan.Findings = slices.DeleteFunc(u.plan.Findings, func(f reconcile.Finding) bool {
		isAbout := func(k reconcile.Key) bool { return isTaken[k] }
		return f.Severity != plan.SeverityError && !slices.ContainsFunc(f.Keys, isAbout)
	})
	u.plan.Deletions.Keys, u.plan.Refused = nil, reconcile.Refusal{}
	for _, t := range u.input.Current {
		if _, isNamed := w.home[t.Key]; !isNamed && t.Mark.Integration == w.env.Integration && t.Mark.Version != "" {
			u.plan.Findings = append(u.plan.Findings,
				reconcile.Finding{Finding: plan.Finding{Code: codeLeftByPeer, Severity: plan.SeverityNote,
					Message: "another version of the integration made it, and no entry names it: it stays as it is"},
					Keys: []reconcile.Key{t.Key}})
		}
	}
}
