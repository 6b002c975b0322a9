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
	case rule.Doubt != "", rule.Atomic, m.isTrace(at, applied.v):
		return m.same(at, desired.v, live.v)
	}
	switch d := desired.v.(type) {
	case map[string]any:
		if _, isObject := live.v.(map[string]any); isObject || body.IsEmpty(live.v) {
			return m.holdsMembers(at, applied, d, live)
		}
	case []any:
		if items, isList := live.v.([]any); isList && rule.List != classes.Map && rule.List != classes.Set {
			return m.holdsItems(at, applied, d, items)
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

// holdsItems compares items by their position.
func (m *maker) holdsItems(at place, applied side, desired, live []any) bool {
	if len(desired) != len(live) {
		return false
	}
	before, _ := applied.v.([]any)
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

// holdsList reports whether a value is a list that is compared item by item, and live has all that the data say of it.
func (m *maker) holdsList(at place, rule rules.Rule, applied, desired, live side) bool {
	d, isList := desired.v.([]any)
	items, isAlso := live.v.([]any)
	isWhole := rule.Atomic || rule.Secret || rule.Doubt != "" || rule.List == classes.Map || rule.List == classes.Set || m.isTrace(at, applied.v)
	return isList && isAlso && !isWhole && m.holdsItems(at, applied, d, items)
}
