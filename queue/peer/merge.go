package peer

import (
	"slices"

	"github.com/app-sre/prcheck/queue"
)

// MergeAll does what one loop of the peer does to merge: a group if there is one, else one after the other.
func MergeAll(s Snapshot) Round {
	l := begin(s)
	line := l.line(s.MustPass, false)
	lead := l.lead()
	switch {
	case l.Rebase && l.Groups && lead != nil:
		l.group(lead)
		return l.round
	case l.Rebase && !l.Groups && lead != nil:
		l.endGroup(lead, l.in("opened", Pending))
	case l.Rebase && l.Groups:
		if members := l.in("opened", Pending); len(members) > 0 {
			l.endGroup(nil, members)
		}
	}
	l.serial(line)
	return l.round
}

// serial merges those of a queue that can be merged: one, if the project rebases.
func (l *loop) serial(line []waiting) {
	merges := 0
	for _, w := range line {
		switch {
		case w.isError:
			continue
		case l.IsCareful && w.isMoved():
			l.hold(w.Listed, queue.Moved)
			continue
		case l.Rebase && (!w.IsRebased || w.isMoved()):
			continue
		}
		l.cancelLate(w.newest(isNone))
		pipelines := w.newest(isSkipped)
		if len(pipelines) == 0 {
			continue
		}
		if l.Wait && slices.ContainsFunc(pipelines, isRunning) {
			if l.Insist && (merges == 0 || !l.Rebase) {
				l.round.Insists = true
				return
			}
			continue
		}
		if pipelines[0].Status != success || merges >= l.MergeLimit {
			continue
		}
		if l.IsCareful && pipelines[0].SHA != w.Head {
			l.hold(w.Listed, queue.NotProven)
			continue
		}
		if !l.merge(w.Listed) {
			continue
		}
		if merges++; l.Rebase {
			l.beginGroup(w.Listed, line)
			return
		}
	}
}

// isMoved reports whether a merge request has another head than the list says.
func (m *Listed) isMoved() bool { return m.ListedHead != "" && m.ListedHead != m.Head }

// beginGroup makes a group of those in the queue that share no label of a tenant with the lead or each other.
func (l *loop) beginGroup(lead *Listed, line []waiting) {
	taken := lead.tenants()
	if !l.Groups || len(taken) == 0 {
		return
	}
	var members []*Listed
	for _, w := range line {
		own := w.tenants()
		isOverlapping := slices.ContainsFunc(own, func(label string) bool { return slices.Contains(taken, label) })
		pipelines := w.newest(isSkipped)
		if w.isError || len(own) == 0 || isOverlapping || len(pipelines) == 0 || !isActive(pipelines[0]) {
			continue
		}
		members = append(members, w.Listed)
		taken = append(taken, own...)
	}
	if len(members) == 0 {
		return
	}
	l.add(lead, GroupLead)
	for _, m := range members {
		l.add(m, Pending)
		if m.RefusesRebase {
			l.remove(m, Pending)
			l.add(m, RebaseError)
			continue
		}
		l.act(RebaseQuiet, m.Number)
	}
}

// lead returns the lead of the group, nil if there is none: what was updated last of those merged with the label.
func (l *loop) lead() *Listed {
	var out *Listed
	for _, m := range l.in("merged", GroupLead) {
		if out == nil || m.UpdatedAt.After(out.UpdatedAt) {
			out = m
		}
	}
	return out
}

// endGroup takes the labels of a group away.
func (l *loop) endGroup(lead *Listed, members []*Listed) {
	if lead != nil {
		l.remove(lead, GroupLead)
	}
	for _, m := range members {
		l.remove(m, Pending)
	}
	for _, state := range []string{"closed", "merged"} {
		for _, m := range l.in(state, Pending) {
			l.remove(m, Pending)
		}
	}
}

// group does one round of a group.
func (l *loop) group(lead *Listed) {
	switch {
	case l.Now.Sub(lead.MergedAt) >= l.Window, !l.isTargetHealthy(lead):
		l.endGroup(lead, l.in("opened", Pending))
		return
	case lead.MergeCommit == "" && lead.SquashCommit == "":
		return
	case !l.goesOn(lead):
		l.endGroup(lead, l.in("opened", Pending))
		return
	}
	members := l.in("opened", Pending)
	merges, isActive := 0, false
	for _, m := range members {
		isMerged, stays := l.member(m)
		if isMerged {
			if merges++; merges >= l.MergeLimit {
				l.endGroup(lead, members)
				return
			}
		}
		isActive = isActive || stays
	}
	if !isActive {
		l.endGroup(lead, l.in("opened", Pending))
	}
}

// isTargetHealthy reports whether the newest pipeline of the target since the lead did not fail.
func (l *loop) isTargetHealthy(lead *Listed) bool {
	if len(l.TargetPipeline) == 0 || l.TargetPipeline[0].CreatedAt.Before(lead.MergedAt) {
		return true
	}
	return l.TargetPipeline[0].Status != failed
}

// member does one round of a member of a group, and says whether it was merged, and whether the group waits for it.
func (l *loop) member(m *Listed) (isMerged, stays bool) {
	if m.isError() || m.hasAny(queue.HoldLabels) {
		l.remove(m, Pending)
		return false, false
	}
	l.cancelLate(m.newest(isNone))
	pipelines := m.newest(func(p Pipeline) bool { return isSkipped(p) || p.Source == "push" })
	if len(pipelines) == 0 {
		return false, m.IsRebased
	}
	switch newest := pipelines[0]; {
	case newest.Status == failed || newest.Status == canceled:
		l.remove(m, Pending)
		return false, false
	case newest.Status == running || newest.Status == pending:
		return false, true
	case newest.Status != success:
		return false, m.IsRebased
	case !m.IsRebased && m.RefusesRebase:
		l.remove(m, Pending)
		return false, false
	case !m.IsRebased:
		l.act(RebaseQuiet, m.Number)
		return false, true
	case l.IsCareful && l.isDoubtful(m, newest):
		return false, true
	}
	return l.merge(m), false
}

// isDoubtful holds a member of a group that the peer would merge without evidence.
func (l *loop) isDoubtful(m *Listed, newest Pipeline) bool {
	switch {
	case !m.hasAny(queue.Classes):
		l.hold(m, queue.NotApproved)
	case m.IsDraft:
		l.hold(m, queue.IsDraft)
	case newest.SHA != m.Head:
		l.hold(m, queue.NotProven)
	default:
		return false
	}
	return true
}

// GoesOn reports whether a group may go on: its lead is in the target, and nobody else merged since. A careful loop
// walks the first-parent line from the lead; the peer compares the head of the target alone.
func GoesOn(s Snapshot) bool {
	l := begin(s)
	lead := l.lead()
	return lead != nil && l.goesOn(lead)
}

func (l *loop) goesOn(lead *Listed) bool {
	first := lead.MergeCommit
	if first == "" {
		first = lead.SquashCommit
	}
	if l.Target == first {
		return true
	}
	if l.Contains == nil || !l.Contains(l.Target, first) {
		return false
	}
	own := []string{first}
	for _, m := range l.in("merged", Pending) {
		own = append(own, m.MergeCommit, m.SquashCommit)
	}
	if !l.IsCareful {
		return slices.Contains(own, l.Target)
	}
	for _, commit := range l.History {
		if commit == first {
			return true
		}
		if !slices.Contains(own, commit) {
			return false
		}
	}
	return false
}
