package native

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// reportFindings reports what people must know.
func (w *work) reportFindings() {
	for _, f := range w.head.Findings {
		w.find(reconcile.Finding{Finding: f})
	}
	if len(w.head.Parts) == 0 {
		w.find(reconcile.Finding{Finding: plan.Finding{Code: codeEmpty, Severity: plan.SeverityError,
			Message: "the data name nothing to work on"}})
	}
	if w.Unconditional {
		w.find(reconcile.Finding{Finding: plan.Finding{Code: codeNoLock, Severity: plan.SeverityNote,
			Message: "the system has no conditional writes: what somebody else changes at the same moment may be overwritten"}})
	}
	for _, u := range w.units {
		if u.isLeft {
			w.reportLeft(u)
		}
		switch {
		case u.lost != nil:
		case u.err != nil:
			w.find(w.unreachable(u))
			for _, f := range w.offline(u.part) {
				w.find(f)
			}
		case u.plan != nil:
			for _, f := range u.plan.Findings {
				if !w.env.Approve.Adopt || f.Severity == plan.SeverityError {
					w.find(finished(f))
				}
			}
			for _, err := range u.input.Errors {
				severity := plan.SeverityError
				if u.isLeft && !w.head.DeleteLeft {
					severity = plan.SeverityWarning
				}
				w.find(reconcile.Finding{Finding: plan.Finding{Code: reconcile.CodeIncomplete, Severity: severity,
					Message: inPart(u.part, "not everything could be read: "+err.Error())}})
			}
		default:
			w.reportUnasked(u)
		}
	}
}

// unreachable returns the finding that a target could not be asked.
func (w *work) unreachable(u *unit) reconcile.Finding {
	f := reconcile.Finding{Finding: plan.Finding{Code: codeTarget, Severity: plan.SeverityError, Message: u.err.Error()}}
	if w.mayBeOffline() {
		f.Severity = plan.SeverityWarning
		f.Message = fmt.Sprintf("%d entries are checked by the data alone, and not compared with what is there: %v",
			len(u.part.Items), u.err)
	}
	return f
}

// mayBeOffline reports whether a target that cannot be asked fails nothing.
func (w *work) mayBeOffline() bool { return w.Offline && w.env.Base != nil }

// finished gives a code to the finding that an entry can be removed.
func finished(f reconcile.Finding) reconcile.Finding {
	if f.Code == "" && f.Severity == plan.SeverityNote {
		f.Code = codeFinished
	}
	return f
}

// reportUnasked reports what the data alone say about a part whose target is not asked.
func (w *work) reportUnasked(u *unit) {
	class := w.Class
	if u.isGone {
		class = reconcile.Blind // nobody looks at this target any more
	}
	removed := reconcile.Make(reconcile.Input{Owner: w.owner(u.part), Class: class, Prune: w.Prune, Removed: u.removed,
		Compare: w.Compare})
	for _, f := range append(w.offline(u.part), removed.Findings...) {
		w.find(f)
	}
	if len(u.part.Items)+len(u.removed) == 0 || u.isGone || w.isTold && u.part.Skip == "" {
		return
	}
	f := reconcile.Finding{Finding: plan.Finding{Code: codeUntrusted, Severity: plan.SeverityNote}}
	f.Message = fmt.Sprintf("%d entries are not compared with what is there: %v", len(u.part.Items)+len(u.removed),
		integration.ErrUntrusted)
	if u.part.Skip != "" {
		f.Code, f.Message = codeSkipped, fmt.Sprintf("%d entries are left out: %s", len(u.part.Items), u.part.Skip)
	}
	f.Message = inPart(u.part, f.Message)
	w.find(f)
}

// inPart says which part a message is about.
func inPart(p Part, message string) string {
	if p.Shard == "" {
		return message
	}
	return partName(p) + ": " + message
}

// partName returns the name of a part for people, "" if it is the whole task.
func partName(p Part) string {
	if p.Shard == "" {
		return ""
	}
	return p.Shard + atSuffix(p)
}

// reportSteps reports what a run would do, and writes it into the log.
func (w *work) reportSteps() {
	counts := map[reconcile.Action]int{}
	for _, u := range w.units {
		if u.plan == nil {
			continue
		}
		for _, s := range u.plan.Steps {
			w.reportStep(u, s)
			if s.Action.Writes() || s.Action == reconcile.Blocked {
				counts[s.Action]++
			}
		}
		if d := u.plan.Deletions; len(d.Keys) > 0 {
			w.say(fmt.Sprintf("%d deletions, digest %s", len(d.Keys), d.Digest()))
		}
	}
	w.say(describeCounts(counts, w.errors, w.reportData(counts)))
	w.reportEffects()
}

// describeCounts says in one line how many steps there are of each action, how many errors, and how many
// entries were not compared with what is there.
func describeCounts(counts map[reconcile.Action]int, errors, unlooked int) string {
	gap := ""
	if unlooked > 0 {
		gap = fmt.Sprintf("not compared with what is there: %d entries", unlooked)
	}
	if len(counts)+errors == 0 {
		return cmp.Or(gap, "nothing to do")
	}
	var words []string
	for _, a := range slices.Sorted(maps.Keys(counts)) {
		words = append(words, fmt.Sprintf("%d %s", counts[a], a))
	}
	var parts []string
	if len(words) > 0 {
		parts = append(parts, "steps: "+strings.Join(words, ", "))
	}
	if errors > 0 {
		parts = append(parts, fmt.Sprintf("errors: %d", errors))
	}
	if gap != "" {
		parts = append(parts, gap)
	}
	return strings.Join(parts, "; ")
}
