package report

// maxApprovals is how many places the page names.
const maxApprovals = 200

// An approvalsView is the section about who must approve the change.
type approvalsView struct {
	Summary string
	Places  []Approval
	More    int
	Advice  []string
}

func newApprovalsView(a *Approvals) *approvalsView {
	if a == nil {
		return nil
	}
	v := &approvalsView{Summary: cleanLine(a.Summary), More: max(0, len(a.Places)-maxApprovals),
		Advice: cleanLines(a.Advice)}
	for _, p := range a.Places[:len(a.Places)-v.More] {
		v.Places = append(v.Places, Approval{cleanLine(p.File), cleanLine(p.Place), cleanLine(p.Change), cleanLine(p.Who)})
	}
	return v
}
