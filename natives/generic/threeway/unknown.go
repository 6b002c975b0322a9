package threeway

import (
	"maps"
	"slices"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
)

// A found is a value of the data, or none: then the value around it is of somebody else.
type found struct {
	v      any
	isOurs bool
}

// unknown tells the values that a body for PUT lacks because nobody knows them: the service does not answer them, and
// the data do not have them. It has one if it shows stars in its place; it may have one in an item of somebody else,
// and in a resource that was never applied.
func (m *maker) unknown(at place, desired found, live, put any) {
	if rule := m.rule(at); rule.Doubt != "" || rule.Ignore || rule.ReadOnly || rule.Volatile {
		return
	}
	switch put := put.(type) {
	case map[string]any:
		m.unknownMembers(at, desired, live, put)
	case []any:
		items, _ := live.([]any)
		wanted, _ := desired.v.([]any)
		rule := m.keyed(at, m.rule(at), wanted, items, absent)
		if len(rule.Keys) == 0 {
			return // it is compared and sent as a whole
		}
		ours, now := m.index(at, rule, wanted), m.index(at, rule, items)
		for _, item := range put {
			id, name := m.identify(at, rule, item)
			want, isOurs := ours[id]
			m.unknown(at.item(name), found{want, isOurs}, now[id], item)
		}
	}
}

// Unknown returns the values that a body for PUT of the data would lack because nobody knows them, if the resource was
// made by somebody else.
func Unknown(r rules.Rules, desired any) []Objection {
	m := &maker{in: Input{Rules: r}, plan: &Plan{}, known: map[place]rules.Rule{}}
	m.unknown(place{}, found{desired, true}, nil, desired)
	return m.plan.Warnings
}

func (m *maker) unknownMembers(at place, desired found, live any, put map[string]any) {
	answered, _ := live.(map[string]any)
	mayHave := !m.in.WasApplied || !desired.isOurs
	names := slices.Collect(maps.Keys(answered))
	if mayHave {
		names = append(names, rules.Members(m.in.Rules, at.pattern)...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		inner := at.member(name)
		rule := m.rule(inner)
		_, isSent := put[name]
		if isSent || !rule.WriteOnly || rule.ReadOnly || rule.Ignore || body.IsEmpty(answered[name]) && !mayHave {
			continue
		}
		m.note(inner, rule, UnknownValue,
			"the service does not show it, and nobody here knows it: a request that replaces the resource lacks it, "+
				"and may take it away. Write it into the data, or name a secret for it")
	}
	for _, name := range slices.Sorted(maps.Keys(put)) {
		want := in(desired.v).member(name)
		m.unknown(at.member(name), found{want.v, desired.isOurs && want.is}, answered[name], put[name])
	}
}
