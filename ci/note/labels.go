package note

import (
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// listActions says for each label that the effects need whether the merge request has it.
func (l Labels) listActions() []string {
	var out []string
	for _, needed := range l.Needed {
		switch {
		case !l.Asked:
			out = append(out, fmt.Sprintf("- A merge request with these effects needs the label %s: %s.", showName(needed.Label),
				needed.Why))
		case !l.Known:
			out = append(out, fmt.Sprintf("- **Needs the label %s**: %s. It is not known whether the merge request has it.",
				showName(needed.Label), needed.Why))
		case slices.Contains(l.Missing, needed):
			out = append(out, fmt.Sprintf("- **Needs the label %s**: %s. Add the label, then run this job again.",
				showName(needed.Label), needed.Why))
		default:
			out = append(out, fmt.Sprintf("- ✅ The merge request has the label %s, which it needs: %s.", showName(needed.Label),
				needed.Why))
		}
	}
	return out
}

// block reports whether a check that passed is not green, because a label is missing or is
// not known.
func (l Labels) block() bool { return l.Asked && len(l.Needed) > 0 && (!l.Known || len(l.Missing) > 0) }

// verdict returns the verdict of the check and its labels together.
func (n Note) verdict(rep *report.Report) plan.Verdict {
	if rep.Verdict == plan.VerdictPassed && n.Labels.block() {
		return plan.VerdictFailed
	}
	return rep.Verdict
}
