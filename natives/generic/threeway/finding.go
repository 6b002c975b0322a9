package threeway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

// change records a change, and whether it is allowed. The rule is that of the value; for an
// item that comes or goes it is that of the list.
func (m *maker) change(at place, rule rules.Rule, c Change) {
	c.Path, c.Pattern = at.path, at.pattern
	c.From, c.To = rules.Mask(m.in.Rules, at.pattern, at.path, c.From), rules.Mask(m.in.Rules, at.pattern, at.path, c.To)
	c.Ground, c.Place = rule.Ground, rule.Place
	isCreateOnly := m.isCreateOnly(at, rule)
	if isCreateOnly {
		c.FirstSet = m.firstSet(at, rule)
	}
	m.plan.Changes = append(m.plan.Changes, c)
	if !isCreateOnly || c.FirstSet != "" || c.Op == "remove" && m.isFreeToUnset(at, rule, c.From) {
		return
	}
	f := Objection{
		Code: CreateOnly, Message: "changing it means delete and create: restore the value, or set allowReplace: true",
		Reason: c.Reason, From: c.From, To: c.To, isForeign: c.isForeign,
	}
	isInferred := rule.CreateOnly == rules.Inferred
	if isInferred {
		f.Code = CreateOnlyInferred
		f.Message = fmt.Sprintf("changing it probably means delete and create: restore the value, set allowReplace: true, "+
			"or if you know that it can be changed, allowUpdate: [%q]", at.pattern)
	}
	if !f.isOfData() {
		f.Message = fmt.Sprintf("nothing proves that the data changed it, so the resource is never deleted for it: "+
			"write the value of the service, ignore: [%q], or give a list whose order means nothing the class list: set",
			at.pattern)
		if isInferred {
			f.Message += fmt.Sprintf("; if you know that it can be changed, allowUpdate: [%q]", at.pattern)
		}
	}
	m.violate(at, rule, f)
}

// isOfData reports whether a finding is about something that the data changed. Drift, what is different when a resource
// is taken, what others added, and a secret that cannot be compared never destroy it.
func (f Objection) isOfData() bool {
	return !f.isForeign && slices.Contains([]Reason{Desired, Removed, Cleared, Variant}, f.Reason)
}

// isCreateOnly reports whether a value must stay as it is.
func (m *maker) isCreateOnly(at place, rule rules.Rule) bool {
	if rule.FixedIf != "" && !rule.ReadOnly {
		is, _ := body.Get(m.in.Live, rule.FixedIf)
		return is == true
	}
	return rule.CreateOnly != "" && !rule.ReadOnly &&
		!(rule.CreateOnly == rules.Inferred && rules.Covers(m.in.AllowUpdate, at.pattern, at.path))
}

// firstSet returns the path of the create-only value that is not there yet and may come, "" if
// there is none. A place inside of it comes with it.
func (m *maker) firstSet(at place, rule rules.Rule) string {
	steps := strings.Split(at.path, "/")
	if !rule.FreeToSet || rule.WriteOnly || rule.Depth >= len(steps) {
		return ""
	}
	if path := strings.Join(steps[:rule.Depth+1], "/"); m.isNew[path] {
		return path
	}
	return ""
}

// isFreeToUnset reports whether a create-only value may go. A list or an object does not go by
// being sent without content.
func (m *maker) isFreeToUnset(at place, rule rules.Rule, live any) bool {
	switch live.(type) {
	case map[string]any, []any:
		return false
	}
	return rule.FreeToUnset && !rule.WriteOnly && strings.Count(at.path, "/") == rule.Depth
}

func (m *maker) violate(at place, rule rules.Rule, f Objection) {
	m.plan.Violations = append(m.plan.Violations, located(at, rule, f))
}

func located(at place, rule rules.Rule, f Objection) Objection {
	f.Path, f.Pattern, f.Ground, f.Place = at.path, at.pattern, rule.Ground, rule.Place
	return f
}

func (m *maker) warn(at place, rule rules.Rule, code string) {
	message := "it is no longer in the data, and it cannot be changed: it stays as it is"
	if code == KeptContested {
		message = "it is no longer in the data, and somebody else changed it since it was applied: it stays. " +
			"To remove it, write null"
	}
	m.note(at, rule, code, message)
}

// warnUnread tells that a value that cannot be read back stays.
func (m *maker) warnUnread(at place, rule rules.Rule) {
	if m.isCreateOnly(at, rule) {
		m.warn(at, rule, KeptCreateOnly)
		return
	}
	m.note(at, rule, KeptContested,
		"it is no longer in the data, and the service does not show it, so that nobody knows whether it is "+
			"still what was applied: it stays. To remove it, use the service's own tools")
}

func (m *maker) note(at place, rule rules.Rule, code, message string) {
	m.plan.Warnings = append(m.plan.Warnings, located(at, rule, Objection{Code: code, Message: message}))
}

// orphans is the finding of a replacement that would destroy managed children.
func orphans(children []string) Objection {
	const most = 5
	names := strings.Join(children[:min(len(children), most)], ", ")
	if len(children) > most {
		names += fmt.Sprintf(" and %d more", len(children)-most)
	}
	return Objection{Code: Orphan, Message: "replacing it would destroy what it holds: " + names +
		". Delete or move them first"}
}

// inspect finds the mistakes of the data that no other body is needed for.
func (m *maker) inspect(at place, v any) {
	rule := m.rule(at)
	switch {
	case rule.Doubt != "":
		m.violate(at, rule, Objection{Code: SpecBroken, Message: "what may be done with it cannot be read: " + rule.Doubt})
		return
	case rule.ReadOnly:
		if members, isObject := v.(map[string]any); !isObject || len(members) > 0 {
			m.violate(at, rule, Objection{Code: ReadOnlySet, Message: "the service fills it in: remove it from the data"})
		}
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for name, item := range v {
			m.inspect(at.member(name), item)
		}
	case []any:
		m.inspectItems(at, rule, v)
	}
}

func (m *maker) inspectItems(at place, rule rules.Rule, items []any) {
	seen := map[string]int{}
	rule = m.keyed(at, rule, items, nil, absent)
	for i, item := range items {
		inner := at.item(fmt.Sprint(i))
		if rule.List == classes.Map {
			id, name := m.identify(at, rule, item)
			if inner = at.item(name); seen[id] == 1 {
				m.violate(inner, rule, Objection{Code: Duplicate, Message: "two items have the same " +
					strings.Join(rule.Keys, ", ") + ": remove one, or give it another"})
			}
			seen[id]++
		}
		m.inspect(inner, item)
	}
}

// sendable returns a value of the data as a request has it: what is null is left out.
func sendable(v any) any { return body.WithoutNulls(v) }
