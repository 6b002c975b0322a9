package threeway

import (
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

// mergeList plans a list whose items have keys, or are a set.
func (m *maker) mergeList(at place, rule rules.Rule, applied side, desired []any, live side) side {
	before, _ := applied.v.([]any)
	now, isList := live.v.([]any)
	merge := m.mergeKeyed
	if rule.List == classes.Set {
		merge = m.mergeSet
	}
	out := merge(at, rule, before, desired, now)
	if len(out) == 0 && !isList {
		return live
	}
	return in(out)
}

// An index finds items of a list by their identity.
type index map[string]any

// mergeKeyed plans the items of a list by their keys. The order of live stays, new items come
// at the end.
func (m *maker) mergeKeyed(at place, rule rules.Rule, applied, desired, live []any) []any {
	wanted, before := m.index(at, rule, desired), m.index(at, rule, applied)
	out := make([]any, 0, len(live)+len(desired))
	seen := map[string]bool{}
	for _, item := range live {
		id, name := m.identify(at, rule, item)
		inner := at.item(name)
		want, isWanted := wanted[id]
		old, wasApplied := before[id]
		switch {
		case id == "" || isWanted && seen[id]:
			out = append(out, m.strip(inner, item))
		case isWanted:
			out = append(out, m.merge(inner, side{old, wasApplied}, in(want), in(item)).v)
		case (wasApplied || rule.Exclusive) && m.dropItem(inner, rule, item, wasApplied):
		default:
			out = append(out, m.strip(inner, item))
		}
		seen[id] = true
	}
	for _, item := range desired {
		id, name := m.identify(at, rule, item)
		if id == "" || seen[id] {
			continue
		}
		seen[id] = true
		inner := at.item(name)
		old, wasApplied := before[id]
		to := sendable(item)
		m.change(inner, rule, Change{Op: "add", Reason: m.reason(inner, side{old, wasApplied}, in(item)), To: to})
		out = append(out, to)
	}
	return out
}

// dropItem plans that an item goes, and reports whether it does.
func (m *maker) dropItem(at place, list rules.Rule, item any, wasApplied bool) bool {
	if m.rule(at).Ignore {
		return false
	}
	if wasApplied && m.isCreateOnly(at, list) && !list.Exclusive {
		m.warn(at, list, KeptCreateOnly)
		return false
	}
	m.change(at, list, Change{Op: "remove", Reason: Removed, From: item, isForeign: !wasApplied})
	return true
}

func (m *maker) index(at place, rule rules.Rule, items []any) index {
	out := index{}
	for _, item := range items {
		id, _ := m.identify(at, rule, item)
		if _, isThere := out[id]; id != "" && !isThere {
			out[id] = item
		}
	}
	return out
}

// identify returns the id of an item of a list, and its name in paths.
func (m *maker) identify(at place, rule rules.Rule, item any) (id, name string) {
	return rules.Identify(m.ruleOf, at.pattern, rule, item)
}

// mergeSet plans a list by the values of its items. How often a value occurs counts.
func (m *maker) mergeSet(at place, rule rules.Rule, applied, desired, live []any) []any {
	wanted, before, now := m.count(at, rule, desired), m.count(at, rule, applied), m.count(at, rule, live)
	surplus := map[string]int{} // of ours that go
	for id, n := range now {
		ours := min(n, before[id])
		if rule.Exclusive {
			ours = n
		}
		surplus[id] = max(0, ours-wanted[id])
	}
	out := make([]any, 0, len(live)+len(desired))
	for i := len(live) - 1; i >= 0; i-- {
		id, name := m.identify(at, rule, live[i])
		if surplus[id] > 0 && m.dropItem(at.item(name), rule, live[i], before[id] > 0) {
			surplus[id]--
			continue
		}
		out = append(out, m.strip(at.item(name), live[i]))
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	for _, item := range desired {
		id, name := m.identify(at, rule, item)
		if now[id] > 0 {
			now[id]--
			continue
		}
		reason := Desired
		switch {
		case !m.in.WasApplied:
			reason = Adopt
		case before[id] >= wanted[id]:
			reason = Drift
		}
		m.change(at.item(name), rule, Change{Op: "add", Reason: reason, To: sendable(item)})
		out = append(out, sendable(item))
	}
	return out
}

func (m *maker) count(at place, rule rules.Rule, items []any) map[string]int {
	out := map[string]int{}
	for _, item := range items {
		id, _ := m.identify(at, rule, item)
		out[id]++
	}
	return out
}
