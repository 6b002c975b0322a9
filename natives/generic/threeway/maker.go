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
