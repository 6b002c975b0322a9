package threeway

import (
	"slices"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

// same reports whether two values at a place mean the same. Inside of them, what the service
// fills in or changes by itself does not count, and a value that cannot be read back is
// unchanged unless its version changed.
func (m *maker) same(at place, a, b any) bool {
	rule := m.rule(at)
	isEmpty := body.IsEmpty(a) || body.IsEmpty(b)
	switch {
	case isTrace(a):
		return m.sameAsTraced(at, a, b)
	case rule.Doubt != "":
		return body.Equal(a, b, rule.Format)
	case isEmpty && body.IsEmpty(a) && body.IsEmpty(b):
		return true
	case isEmpty && rule.Applies:
		return body.Equal(orDefault(a, rule), orDefault(b, rule), rule.Format)
	}
	x, isObject := a.(map[string]any)
	y, isOther := b.(map[string]any)
	if (isObject || body.IsEmpty(a)) && (isOther || body.IsEmpty(b)) && (isObject || isOther) {
		return m.sameMembers(at, x, y)
	}
	if items, isList := a.([]any); isList {
		others, isList := b.([]any)
		return isList && m.sameItems(at, rule, items, others)
	}
	return body.Equal(a, b, rule.Format)
}

func orDefault(v any, rule rules.Rule) any {
	if body.IsEmpty(v) {
		return rule.Default
	}
	return v
}

func (m *maker) sameMembers(at place, a, b map[string]any) bool {
	for _, members := range []map[string]any{a, b} {
		for name := range members {
			inner := at.member(name)
			r := m.rule(inner)
			switch {
			case r.ReadOnly, r.Volatile, r.Ignore:
			case r.WriteOnly:
				if r.Changed {
					return false
				}
			case !m.same(inner, a[name], b[name]):
				return false
			}
		}
	}
	return true
}

// sameItems compares two lists. The order counts unless the items have keys or are a set.
func (m *maker) sameItems(at place, rule rules.Rule, a, b []any) bool {
	switch {
	case len(a) != len(b):
		return false
	case rule.List == classes.Map:
		return m.sameKeyed(at, m.keyed(at, rule, a, b, absent), a, b)
	case rule.List == classes.Set:
		left := m.count(at, rule, b)
		for _, item := range a {
			id, _ := m.identify(at, rule, item)
			left[id]--
		}
		for _, n := range left {
			if n != 0 {
				return false
			}
		}
		return true
	}
	return slices.EqualFunc(a, b, func(x, y any) bool { return m.same(at.item("*"), x, y) })
}

func (m *maker) sameKeyed(at place, rule rules.Rule, a, b []any) bool {
	left, others := m.index(at, rule, a), m.index(at, rule, b)
	if rule.List != classes.Map || len(left) != len(a) { // keys are missing or occur twice
		return slices.EqualFunc(a, b, func(x, y any) bool { return m.same(at.item("*"), x, y) })
	}
	for _, item := range a {
		id, name := m.identify(at, rule, item)
		other, isThere := others[id]
		if !isThere || !m.same(at.item(name), item, other) {
			return false
		}
	}
	return true
}

// stripped returns what is sent of a live value that does not change.
func (m *maker) stripped(at place, live side) side {
	if !live.is || m.isUnsent(m.rule(at)) {
		return absent
	}
	return in(m.strip(at, live.v))
}

// strip returns a live value without what a request must not have, and without what only the
// data know: a service may answer stars in the place of a password.
func (m *maker) strip(at place, v any) any {
	if m.rule(at).Doubt != "" {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			if inner := at.member(name); !m.isUnsent(m.rule(inner)) {
				out[name] = m.strip(inner, item)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = m.strip(at.item("*"), item)
		}
		return out
	}
	return v
}

func (m *maker) isUnsent(r rules.Rule) bool { return r.ReadOnly || r.Volatile || r.WriteOnly }
