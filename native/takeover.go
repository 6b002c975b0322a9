package native

import (
	"slices"

	"github.com/app-sre/prcheck/reconcile"
)

// onlyTaken leaves the steps that take things of another version of the integration, and the
// findings about them. It tells of such things that no entry names.
func (w *work) onlyTaken(u *unit) {
	isTaken := map[reconcile.Key]bool{}
	u.plan.Steps = slices.DeleteFunc(u.plan.Steps, func(s reconcile.Step) bool {
		isTaken[s.Key] = s.Owner == reconcile.OtherVersion && s.Action.Writes() && s.Action != reconcile.Remove && s.Action != reconcile.Replace
		return !isTaken[s.Key]
	})
	u.plan.Findings = slices.DeleteFunc(u.plan.Findings, func(f reconcile.Finding) bool {
		isAbout := func(k reconcile.Key) bool { return isTaken[k] }
		return f.Severity != reconcile.Error && !slices.ContainsFunc(f.Keys, isAbout)
	})
	u.plan.Deletions.Keys, u.plan.Refused = nil, reconcile.Refusal{}
	for _, t := range u.input.Current {
		if _, isNamed := w.home[t.Key]; !isNamed && t.Mark.Integration == w.env.Integration && t.Mark.Version != "" {
			u.plan.Findings = append(u.plan.Findings, reconcile.Finding{Code: codeLeftByPeer, Severity: reconcile.Note, Keys: []reconcile.Key{t.Key},
				Message: "another version of the integration made it, and no entry names it: it stays as it is"})
		}
	}
}
