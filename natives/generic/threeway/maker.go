package threeway

import (
	"fmt"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

// A place is where a value stands.
type place struct{ pattern, path string }

func (p place) member(name string) place {
	return place{jsonpointer.Append(p.pattern, name), jsonpointer.Append(p.path, name)}
}

// item returns the place of a list item, whose name is made of its keys or its value.
func (p place) item(name string) place {
	return place{p.pattern + "/*", jsonpointer.Append(p.path, name)}
}

// A side is a value that may be missing, which differs from null.
type side struct {
	v  any
	is bool
}

func in(v any) side { return side{v, true} }

var absent side

// memberOf returns the member of an object, absent if the side is no object.
func (s side) member(name string) side {
	members, _ := s.v.(map[string]any)
	v, ok := members[name]
	return side{v, ok}
}

// A maker makes one plan.
type maker struct {
	in    Input
	plan  *Plan
	known map[place]rules.Rule
	isNew map[string]bool // the paths at which live has nothing

	asked     int  // how often a rule was asked for
	isStopped bool // there is no more time
}

// maxPath is the length in bytes of the longest path of which something is known. Each part of a
// value has its whole path, so a long one costs as much as the value is wide.
const maxPath = 8 << 10

// maxKnown is how many rules a maker remembers: those that it needs again, it needs soon.
const maxKnown = 4096

func (m *maker) rule(at place) rules.Rule {
	if len(at.path) > maxPath || len(at.pattern) > maxPath {
		return rules.Rule{Doubt: fmt.Sprintf("its path has more than %d bytes", maxPath)}
	}
	const often = 256
	if m.asked++; m.asked%often == 0 && m.in.Stop != nil {
		m.isStopped = m.isStopped || m.in.Stop()
	}
	if m.isStopped {
		return rules.Rule{Doubt: "there was no time"}
	}
	r, ok := m.known[at]
	if !ok {
		if len(m.known) == maxKnown {
			clear(m.known)
		}
		r = rules.Find(m.in.Rules, at.pattern, at.path)
		m.known[at] = r
	}
	return r
}

// merge plans the value at a place, and returns what is to be sent there.
func (m *maker) merge(at place, applied, desired, live side) side {
	rule := m.rule(at)
	if rule.FreeToSet && !live.is {
		m.isNew[at.path] = true
	}
	switch {
	case rule.Doubt != "", rule.Ignore:
		return m.stripped(at, live)
	case rule.ReadOnly:
		return absent
	case m.isUnreadable(at, rule, desired.v):
		return m.mergeUnreadable(at, rule, applied, desired, live)
	case rule.Volatile:
		return m.mergeVolatile(at, rule, applied, desired, live)
	case !desired.is:
		return m.remove(at, rule, applied, live)
	case desired.v == nil:
		return m.clear(at, rule, applied, live)
	}
	switch d := desired.v.(type) {
	case map[string]any:
		if _, isObject := live.v.(map[string]any); !rule.Atomic && (isObject || body.IsEmpty(live.v)) {
			return m.mergeObject(at, rule, applied, d, live)
		}
	case []any:
		now, isList := live.v.([]any)
		if rule = m.keyed(at, rule, d, now, applied); m.isMerged(at, rule) && (isList || body.IsEmpty(live.v)) {
			return m.mergeList(at, rule, applied, d, live)
		}
	}
	return m.mergeLeaf(at, rule, applied, desired, live)
}

// isMerged reports whether a list is merged item by item. A list of secrets is one value: only
// one keyed hash is kept of it.
func (m *maker) isMerged(at place, rule rules.Rule) bool {
	return (rule.List == classes.Map || rule.List == classes.Set) && !rule.Secret && !m.rule(at.item("*")).Secret
}

// keyed returns the rule of a list with the keys that count for its items.
func (m *maker) keyed(at place, rule rules.Rule, own, live []any, applied side) rules.Rule {
	before, _ := applied.v.([]any)
	return rule.Keyed(m.ruleOf, at.pattern, own, live, before)
}

// ruleOf returns the rule of a pattern.
func (m *maker) ruleOf(pattern string) rules.Rule { return m.rule(place{pattern, pattern}) }

// isUnreadable reports whether the service does not answer a value, or any item of a list.
func (m *maker) isUnreadable(at place, rule rules.Rule, v any) bool {
	_, isList := v.([]any)
	return rule.WriteOnly || isList && m.rule(at.item("*")).WriteOnly
}

// mergeLeaf plans a value that is compared as a whole.
func (m *maker) mergeLeaf(at place, rule rules.Rule, applied, desired, live side) side {
	if m.holdsList(at, rule, applied, desired, live) || m.same(at, desired.v, live.v) {
		return m.stripped(at, live)
	}
	op := "replace"
	if body.IsEmpty(live.v) {
		op, live = "add", absent
	}
	to := sendable(desired.v)
	m.change(at, rule, Change{Op: op, Reason: m.reason(at, applied, desired), From: live.v, To: to})
	return in(to)
}

// reason says why a value has to become the desired one.
func (m *maker) reason(at place, applied, desired side) Reason {
	switch {
	case !m.in.WasApplied:
		return Adopt
	case applied.is && m.same(at, applied.v, desired.v):
		return Drift
	}
	return Desired
}

// mergeObject plans the members of an object.
func (m *maker) mergeObject(at place, rule rules.Rule, applied side, desired map[string]any, live side) side {
	members, isObject := live.v.(map[string]any)
	out := make(map[string]any, len(members)+len(desired))
	names := map[string]bool{}
	for name := range desired {
		names[name] = true
	}
	if before, ok := applied.v.(map[string]any); ok {
		for name := range before {
			names[name] = true
		}
	}
	gone := m.dropVariant(at, rule, applied, desired, members)
	for name, v := range members {
		if !names[name] && !gone[name] {
			if kept := m.stripped(at.member(name), in(v)); kept.is {
				out[name] = kept.v
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if gone[name] {
			continue
		}
		result := m.merge(at.member(name), applied.member(name), in(desired).member(name), live.member(name))
		if result.is {
			out[name] = result.v
		}
	}
	if len(out) == 0 && !isObject {
		return live
	}
	return in(out)
}

// dropVariant plans the removal of what only the old variant of an object has, and returns
// the names.
func (m *maker) dropVariant(at place, rule rules.Rule, applied side, desired, live map[string]any) map[string]bool {
	to, from := desired[rule.Discriminator], live[rule.Discriminator]
	if rule.Discriminator == "" || body.IsEmpty(to) || body.IsEmpty(from) ||
		m.same(at.member(rule.Discriminator), to, from) {
		return nil
	}
	was := applied.member(rule.Discriminator)
	isForeign := !m.in.WasApplied || was.is && m.same(at.member(rule.Discriminator), was.v, to)
	out := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(live)) {
		inner := at.member(name)
		r := m.rule(inner)
		_, isDesired := desired[name]
		if isDesired || r.ReadOnly || r.Volatile || r.Ignore || r.WriteOnly || r.Doubt != "" || body.IsEmpty(live[name]) ||
			!isOnlyOf(rule.Variants, name, from, to) {
			continue
		}
		out[name] = true
		m.change(inner, r, Change{Op: "remove", Reason: Variant, From: live[name], isForeign: isForeign})
	}
	return out
}

// isOnlyOf reports whether only the old variant has a member. If the variants are not known,
// no member is known to be of the new one.
func isOnlyOf(variants map[string][]string, name string, from, to any) bool {
	if variants == nil {
		return true
	}
	old, _ := from.(string)
	now, _ := to.(string)
	return slices.Contains(variants[old], name) && !slices.Contains(variants[now], name)
}

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
