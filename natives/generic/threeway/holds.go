package threeway

import (
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

// holds reports whether a live value has all that the data say. What only live has does not count, such as an id that
// the service gives to an item, or a default; but what was applied, is gone from the data and is still there counts.
// It is how items of a list without keys are compared, whose list is sent as a whole.
func (m *maker) holds(at place, applied, desired, live side) bool {
	rule := m.rule(at)
	switch {
	case rule.ReadOnly, rule.Volatile, rule.Ignore:
		return true
	case rule.WriteOnly:
		return !rule.Changed
	case rule.Doubt != "", rule.Atomic, isTrace(applied.v):
		return m.same(at, desired.v, live.v)
	}
	switch d := desired.v.(type) {
	case map[string]any:
		if _, isObject := live.v.(map[string]any); isObject || body.IsEmpty(live.v) {
			return m.holdsMembers(at, applied, d, live)
		}
	case []any:
		if items, isList := live.v.([]any); isList {
			return m.holdsItems(at, rule, applied, d, items)
		}
	}
	return m.same(at, desired.v, live.v)
}

func (m *maker) holdsMembers(at place, applied side, desired map[string]any, live side) bool {
	for name, v := range desired {
		if !m.holds(at.member(name), applied.member(name), in(v), live.member(name)) {
			return false
		}
	}
	before, _ := applied.v.(map[string]any)
	for name, v := range before {
		inner := at.member(name)
		r, is := m.rule(inner), live.member(name)
		_, isDesired := desired[name]
		if isDesired || r.ReadOnly || r.Volatile || r.Ignore || r.WriteOnly || !is.is || body.IsEmpty(is.v) {
			continue
		}
		if m.same(inner, v, is.v) {
			return false
		}
	}
	return true
}

// holdsItems compares items by their keys, by their values, or else by their position.
func (m *maker) holdsItems(at place, rule rules.Rule, applied side, desired, live []any) bool {
	before, _ := applied.v.([]any)
	switch rule = m.keyed(at, rule, desired, live, applied); {
	case rule.List == classes.Map:
		return m.holdsKeyed(at, rule, before, desired, live)
	case rule.List == classes.Set:
		return m.holdsSet(at, rule, before, desired, live)
	case len(desired) != len(live):
		return false
	}
	for i := range desired {
		var was side
		if i < len(before) {
			was = in(before[i])
		}
		if !m.holds(at.item("*"), was, in(desired[i]), in(live[i])) {
			return false
		}
	}
	return true
}

// holdsKeyed reports whether live has each item of the data, and none that was applied and is gone from the data.
func (m *maker) holdsKeyed(at place, rule rules.Rule, applied, desired, live []any) bool {
	wanted, before, now := m.index(at, rule, desired), m.index(at, rule, applied), m.index(at, rule, live)
	for _, item := range desired {
		id, name := m.identify(at, rule, item)
		old, wasApplied := before[id]
		is, isThere := now[id]
		if !isThere || !m.holds(at.item(name), side{old, wasApplied}, in(item), in(is)) {
			return false
		}
	}
	for id := range now {
		_, wasApplied := before[id]
		if _, isWanted := wanted[id]; !isWanted && (wasApplied || rule.Exclusive) {
			return false
		}
	}
	return true
}

// holdsSet is holdsKeyed for a set, where it counts how often a value occurs.
func (m *maker) holdsSet(at place, rule rules.Rule, applied, desired, live []any) bool {
	wanted, before, now := m.count(at, rule, desired), m.count(at, rule, applied), m.count(at, rule, live)
	for id, n := range wanted {
		if now[id] < n {
			return false
		}
	}
	for id, n := range now {
		if n > wanted[id] && (before[id] > wanted[id] || rule.Exclusive) {
			return false
		}
	}
	return true
}

// holdsList reports whether a value is a list that is compared item by item, and live has all that the data say of it.
func (m *maker) holdsList(at place, rule rules.Rule, applied, desired, live side) bool {
	d, isList := desired.v.([]any)
	items, isAlso := live.v.([]any)
	isWhole := rule.Atomic || rule.Secret || rule.Doubt != "" || rule.List == classes.Map || rule.List == classes.Set ||
		isTrace(applied.v)
	return isList && isAlso && !isWhole && m.holdsItems(at, rule, applied, d, items)
}
