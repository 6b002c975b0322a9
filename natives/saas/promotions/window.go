package promotions

import (
	"slices"

	"github.com/app-sre/prcheck/natives/saas/promotion"
	"github.com/app-sre/prcheck/natives/saas/schedule"
)

// A window says when a promotion may begin, not when it must be through. What began may not be in a
// merge request yet: the open one of its component is left alone for some time, or half of it is
// tried, or the checks failed. So it is remembered until the data have it, it may not be any more,
// or another one begins.

// hasWindow reports whether a subscriber may be promoted at some times alone.
func (s *subscriber) hasWindow() bool {
	return s.q.Schedule != "" && s.q.Schedule != schedule.Always
}

// begins notes the promotions of a component that began in a window.
func (m *memory) begins(in ownSettings, c *component) {
	var out []entry
	for _, s := range c.subscribers {
		if !s.hasWindow() {
			continue
		}
		old, has := find(m.Begun, s.entry(in, s.d))
		still, ok, err := s.goesOn(in, old)
		switch {
		case has && (s.isUnknown() || err != nil):
			out = append(out, old)
		case s.differs(s.d):
			out = append(out, s.entry(in, s.d))
		case ok:
			out = append(out, still)
		}
	}
	m.Begun = out
}

// goesOn returns a promotion that began in a window as it is now, and whether it may go on. With
// an error it is not known.
func (s *subscriber) goesOn(in ownSettings, begun entry) (entry, bool, error) {
	if begun.Ref == "" || s.isUnknown() || s.q.Rule == promotion.Head && begun.Ref != s.d.Candidate &&
		begun.Ref != s.q.Ref {
		return entry{}, false, nil
	}
	still, ok := promotion.Still(s.q, begun.Ref)
	return s.entry(in, still), ok, still.Err
}

// closedByPerson forgets what began and was shown by a merge request that a person closed: it may
// begin again in the next window.
func (k *keeper) closedByPerson(description string) {
	b, _ := readBlock(description)
	isClosed := func(e entry) bool {
		is, shown := find(b.Entries, e)
		began, has := find(k.memory.Begun, e)
		return shown && has && is.Ref == e.Ref && began.Ref == e.Ref
	}
	k.wants = slices.DeleteFunc(slices.Clone(k.wants), isClosed)
	k.memory.Begun = slices.DeleteFunc(slices.Clone(k.memory.Begun), isClosed)
}

// find returns the entry about the same target.
func find(list []entry, of entry) (entry, bool) {
	i := slices.IndexFunc(list, of.isSame)
	if i < 0 {
		return entry{}, false
	}
	return list[i], true
}

// isUnknown reports whether nobody knows what a subscriber may be promoted to.
func (s *subscriber) isUnknown() bool {
	return s.unknown != nil || s.d.Err != nil && !s.differs(s.d)
}
