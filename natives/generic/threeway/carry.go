package threeway

import (
	"maps"
	"slices"

	"github.com/app-sre/prcheck/natives/openapi/classes"
)

// carry returns a body for PUT with the values that the data have and the service does not answer, changed or not, each
// at its place: a service that replaces what it is sent would lose them. Items of lists are found by their keys, or by
// their position in a list that has as many.
func (m *maker) carry(at place, desired any, out side) side {
	rule := m.rule(at)
	if desired == nil || rule.Doubt != "" || rule.Ignore || rule.ReadOnly || rule.Volatile {
		return out
	}
	if m.isUnreadable(at, rule, desired) {
		if rule.CreateOnly != "" && !m.in.WasApplied {
			return out // who made the resource sent it, perhaps another value
		}
		return in(sendable(desired))
	}
	switch desired := desired.(type) {
	case map[string]any:
		return m.carryMembers(at, desired, out)
	case []any:
		if items, isList := out.v.([]any); isList {
			return in(m.carryItems(at, desired, items))
		}
	}
	return out
}

// carryMembers carries values into an object, which is made if it is not there.
func (m *maker) carryMembers(at place, desired map[string]any, out side) side {
	members, isObject := out.v.(map[string]any)
	if out.is && !isObject && out.v != nil {
		return out
	}
	made := maps.Clone(members)
	for _, name := range slices.Sorted(maps.Keys(desired)) {
		is, isThere := members[name]
		carried := m.carry(at.member(name), desired[name], side{is, isThere})
		if !carried.is {
			continue
		}
		if made == nil {
			made = map[string]any{}
		}
		made[name] = carried.v
	}
	if made == nil {
		return out
	}
	return in(made)
}

// carryLists carries values into the lists of a merge patch, which are replaced as a whole.
func (m *maker) carryLists(at place, desired any, patch map[string]any) {
	for name, v := range patch {
		inner, want := at.member(name), in(desired).member(name)
		switch v := v.(type) {
		case map[string]any:
			m.carryLists(inner, want.v, v)
		case []any:
			if want.is {
				patch[name] = m.carry(inner, want.v, in(v)).v
			}
		}
	}
}

// carryItems carries values into the items of a list.
func (m *maker) carryItems(at place, desired, items []any) []any {
	rule := m.keyed(at, m.rule(at), desired, items, absent)
	out := slices.Clone(items)
	if rule.List == classes.Set {
		return out // an item that misses a value is another one
	}
	if len(rule.Keys) == 0 {
		for i := range out {
			if len(desired) == len(out) {
				out[i] = m.carry(at.item("*"), desired[i], in(out[i])).v
			}
		}
		return out
	}
	wanted := m.index(at, rule, desired)
	for i, item := range out {
		id, name := m.identify(at, rule, item)
		if want, isWanted := wanted[id]; isWanted && id != "" {
			out[i] = m.carry(at.item(name), want, in(item)).v
		}
	}
	return out
}
