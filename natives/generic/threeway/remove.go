package threeway

import (
	"maps"
	"slices"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
)

// remove plans a value about which the data have no opinion, or no longer have one.
func (m *maker) remove(at place, rule rules.Rule, applied, live side) side {
	if body.IsEmpty(live.v) && isOfStore(applied.v) {
		m.warnUnread(at, rule)
		return m.stripped(at, live)
	}
	if !applied.is || body.IsEmpty(applied.v) || body.IsEmpty(live.v) || m.isDefault(at, rule, live.v) {
		return m.stripped(at, live)
	}
	if m.isCreateOnly(at, rule) && !m.isFreeToUnset(at, rule, live.v) {
		m.warn(at, rule, KeptCreateOnly)
		return m.stripped(at, live)
	}
	switch before := applied.v.(type) {
	case map[string]any:
		members, isObject := live.v.(map[string]any)
		if !rule.Atomic && isObject && !isTrace(before) {
			return m.removeMembers(at, before, members)
		}
	case []any:
		now, isList := live.v.([]any)
		if rule = m.keyed(at, rule, nil, now, applied); isList && m.isMerged(at, rule) {
			rule.Exclusive = false
			return m.mergeList(at, rule, applied, nil, live)
		}
	}
	if !m.same(at, applied.v, live.v) {
		m.warn(at, rule, KeptContested)
		return m.stripped(at, live)
	}
	m.change(at, rule, Change{Op: "remove", Reason: Removed, From: live.v})
	return emptied(live.v)
}

// removeMembers plans the members of an object that were applied. Those of others stay.
func (m *maker) removeMembers(at place, applied, live map[string]any) side {
	out := make(map[string]any, len(live))
	for name, v := range live {
		if _, wasApplied := applied[name]; wasApplied {
			continue
		}
		if kept := m.stripped(at.member(name), in(v)); kept.is {
			out[name] = kept.v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(applied)) {
		if result := m.merge(at.member(name), in(applied[name]), absent, in(live).member(name)); result.is {
			out[name] = result.v
		}
	}
	return in(out)
}

// clear plans a value that the data say is not to be there. If they said so before, somebody else set it.
func (m *maker) clear(at place, rule rules.Rule, applied, live side) side {
	stripped := m.stripped(at, live)
	if body.IsEmpty(stripped.v) || m.isDefault(at, rule, live.v) {
		return stripped
	}
	m.change(at, rule, Change{Op: "remove", Reason: Cleared, From: live.v,
		isForeign: !m.in.WasApplied || applied.is && applied.v == nil})
	return emptied(live.v)
}

// isDefault reports whether a live value is what the service sets when nothing is sent, so
// that removing it would bring it back.
func (m *maker) isDefault(at place, rule rules.Rule, live any) bool {
	return rule.Applies && body.Equal(rule.Default, live, rule.Format)
}

// emptied returns what is sent for a value that is removed. A service that merges what is put
// would keep a list or an object that is left out.
func emptied(v any) side {
	switch v.(type) {
	case []any:
		return in([]any{})
	case map[string]any:
		return in(map[string]any{})
	}
	return absent
}

// mergeVolatile plans a value that the service changes by itself: live proves nothing about
// it, so it is sent only when the data change.
func (m *maker) mergeVolatile(at place, rule rules.Rule, applied, desired, live side) side {
	if !applied.is || !desired.is || body.IsEmpty(desired.v) || m.same(at, applied.v, desired.v) {
		return absent
	}
	to := sendable(desired.v)
	m.change(at, rule, Change{Op: "replace", Reason: Desired, From: live.v, To: to})
	return in(to)
}

// mergeUnreadable plans a value that the service does not answer.
func (m *maker) mergeUnreadable(at place, rule rules.Rule, applied, desired, live side) side {
	isGone := !desired.is || body.IsEmpty(desired.v)
	if isGone && applied.is && !body.IsEmpty(applied.v) {
		m.warnUnread(at, rule)
	}
	if isGone || !m.isResent(at, rule, applied, desired) {
		return absent
	}
	op := "replace"
	if body.IsEmpty(live.v) {
		op, live = "add", absent
	}
	to := sendable(desired.v)
	m.change(at, rule, Change{Op: op, Reason: Secret, From: live.v, To: to})
	return in(to)
}

// isResent reports whether a value that cannot be read back has to be sent again.
func (m *maker) isResent(at place, rule rules.Rule, applied, desired side) bool {
	switch {
	case rule.Changed:
		return true
	case rule.Version != "":
		before, _ := applied.v.(map[string]any)
		return before[versionName] != any(rule.Version)
	case applied.is:
		return !m.sameAsTraced(at, applied.v, desired.v)
	case rule.CreateOnly != "" && !m.in.WasApplied:
		return false // who made the resource sent it, and it cannot be sent again
	}
	return m.in.Key != nil
}
