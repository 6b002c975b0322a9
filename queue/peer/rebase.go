package peer

import "slices"

// RebaseAll does what one loop of the peer does to rebase.
func RebaseAll(s Snapshot) Round {
	l := begin(s)
	var all []*Listed
	for _, w := range l.line(nil, true) {
		if !w.isError {
			all = append(all, w.Listed)
		}
	}
	if s.Strategy == ActiveCap || s.Strategy == ActiveCapGroups {
		l.rebaseWithinCap(all)
	} else {
		l.rebaseInBursts(all)
	}
	return l.round
}

// waits reports whether a merge request is not rebased since it has a pipeline under way, or none at all.
func (l *loop) waits(pipelines []Pipeline) bool {
	return l.Wait && (len(pipelines) == 0 || slices.ContainsFunc(pipelines, isRunning))
}

// rebase rebases a merge request, and reports whether the forge took it.
func (l *loop) rebase(m *Listed) bool {
	if m.RefusesRebase {
		return false
	}
	l.act(Rebase, m.Number)
	return true
}

// rebaseInBursts rebases up to the limit in every loop.
func (l *loop) rebaseInBursts(all []*Listed) {
	rebased := 0
	for _, m := range all {
		if m.IsRebased {
			continue
		}
		pipelines := m.newest(isNone)
		l.cancelLate(pipelines)
		if !l.waits(pipelines) && rebased < l.RebaseLimit && l.rebase(m) {
			rebased++
		}
	}
}

// rebaseWithinCap rebases so many that the limit counts those that are rebased and under way or green.
func (l *loop) rebaseWithinCap(all []*Listed) {
	active := 0
	var behind []*Listed
	for _, m := range all {
		pipelines := m.newest(isSkipped)
		switch {
		case m.IsRebased:
			if len(pipelines) > 0 && isActive(pipelines[0]) {
				active++
			}
		case !m.has(Pending):
			l.cancelLate(pipelines)
			if !l.waits(pipelines) {
				behind = append(behind, m)
			}
		}
	}
	for _, m := range behind {
		if active >= l.RebaseLimit {
			return
		}
		if l.rebase(m) {
			active++
		}
	}
}
