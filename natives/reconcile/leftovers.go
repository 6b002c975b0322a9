package reconcile

import (
	"fmt"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/plan"
)

// planUnnamed adds steps for things that no entry names.
func (m *maker) planUnnamed() {
	named := m.named
	if m.in.FoldCase {
		named = map[Key]bool{}
		for k := range m.named {
			named[m.fold(k)] = true
		}
	}
	var left []Key
	for k, thing := range m.current {
		if !named[m.fold(k)] && !thing.SoftDeleted {
			left = append(left, k)
		}
	}
	slices.Sort(left)
	for _, k := range left {
		m.planLeftover(*m.current[k])
		m.keepLeftover(k)
	}
	for _, k := range slices.Sorted(maps.Keys(m.in.Known)) {
		_, isThere := m.current[k]
		_, kept := m.in.Kept[k]
		if isThere || kept || named[m.fold(k)] || m.in.Unread[k] != nil || len(m.in.Errors) > 0 {
			continue
		}
		m.step(Step{Key: k, Action: Forget, Reason: "it is gone, and no entry names it"})
	}
}

// planLeftover adds the step for a thing that no entry names.
func (m *maker) planLeftover(thing Thing) {
	last, known := m.in.Known[thing.Key]
	wish := Wish{Known: known}
	v := m.judge(m.markOf(thing), wish)
	switch {
	case m.in.Class == Blind || m.in.Class == Knowing && !known:
	case v.Owner == RetiredCaller:
		m.leave(thing, v, fmt.Sprintf("no entry names it, and its caller %q is gone", m.markOf(thing).Caller))
	case !v.Act || last.Policy == Observe:
	case last.Policy == Detach:
		m.step(Step{Key: thing.Key, Action: Forget, Owner: v.Owner, Reason: "its policy leaves the thing alone",
			Thing: &thing})
	case last.Unmarked && m.markOf(thing) == (Mark{}):
		m.leave(thing, v, "it was imported, and no entry names it; it stays")
	case m.in.Class == Knowing && !m.in.Prune && !last.Deleting:
		m.leave(thing, v, "no entry names it any more; it stays")
	case thing.Protected:
		m.step(Step{Key: thing.Key, Action: Blocked, Code: CodeProtected, Owner: v.Owner, Reason: thing.protection(),
			Thing: &thing})
		m.find(Finding{Finding: plan.Finding{Code: CodeProtected, Severity: plan.SeverityError,
			Message: "no entry names it, but " + thing.protection()}, Keys: []Key{thing.Key}})
	default:
		m.step(Step{Key: thing.Key, Action: Remove, Owner: v.Owner, Reason: "no entry names it", Thing: &thing, wish: wish})
	}
}

// keepLeftover takes back what was planned for a thing that stays as it is, and tells of it if
// the thing would have been deleted.
func (m *maker) keepLeftover(k Key) {
	reason, kept := m.in.Kept[k]
	s, planned := m.steps[k]
	if !kept || !planned || s.Action == None {
		return
	}
	if s.Action != Forget {
		m.findings = slices.DeleteFunc(m.findings, func(f Finding) bool { return slices.Equal(f.Keys, []Key{k}) })
		m.find(Finding{Finding: plan.Finding{Code: CodeKept, Severity: plan.SeverityNote,
			Message: "no entry names it, and it is kept: " + reason}, Keys: []Key{k}})
	}
	s.Action, s.Code, s.Reason = None, CodeKept, reason
}

// leave adds a step for a thing that stays although no entry names it.
func (m *maker) leave(thing Thing, v Verdict, reason string) {
	m.step(Step{Key: thing.Key, Action: None, Owner: v.Owner, Code: CodeOrphan, Reason: reason, Thing: &thing})
	m.find(Finding{Finding: plan.Finding{Code: CodeOrphan, Severity: plan.SeverityWarning, Message: reason},
		Keys: []Key{thing.Key}})
}

// passGate asks the gate about all deletions, and blocks those that it refuses.
func (m *maker) passGate() {
	m.gate = Deletions{Desired: len(m.in.Desired), Incomplete: len(m.in.Errors) > 0 || len(m.in.Unread) > 0}
	for _, t := range m.in.Current {
		_, known := m.in.Known[t.Key]
		if m.judge(m.markOf(t), Wish{Known: known}).Owner == Us {
			m.gate.Managed++
		}
	}
	m.gate.Keys = m.keysOf(func(s *Step) bool { return s.Action == Remove || s.Action == Replace })
	m.refused = m.in.rulesOrDefault().decide(m.in.Gate, m.gate)
	if m.refused.Code == "" {
		return
	}
	for _, k := range m.refused.Keys {
		s := m.steps[k]
		s.Action, s.Code, s.Reason = Blocked, m.refused.Code, m.refused.Reason
	}
	m.find(Finding{Finding: plan.Finding{Code: m.refused.Code, Severity: plan.SeverityError, Message: m.refused.Reason},
		Keys: m.refused.Keys})
}

// keysOf returns the keys of some steps, sorted.
func (m *maker) keysOf(want func(*Step) bool) []Key {
	var out []Key
	for k, s := range m.steps {
		if want(s) {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// warnOfRemoved warns of entries that this change removes although their things would be
// forgotten.
func (m *maker) warnOfRemoved() {
	for _, it := range m.in.Removed {
		if m.named[it.Key] || it.Policy != Manage {
			continue
		}
		warn := func(text string) {
			m.find(Finding{Finding: plan.Finding{Code: CodeOrphan, Severity: plan.SeverityWarning, Place: it.Place,
				Message: text}, Keys: []Key{it.Key}})
		}
		switch forgets := m.in.Class == Blind || m.in.Class == Knowing && !m.in.Prune; {
		case !it.Delete && forgets:
			warn("this change removes its entry, and then nobody deletes it: say delete: true first")
		case it.Delete && m.isThere(it.Key) && m.in.Class == Blind:
			warn("this change removes its entry before it was deleted, and then nobody deletes it")
		}
	}
}
