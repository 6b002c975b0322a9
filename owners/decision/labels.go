package decision

import (
	"slices"

	"github.com/app-sre/prcheck/owners/rules"
)

// priority returns the lowest priority of the types that cover a place. Disabled types have a say only where no other
// one covers anything. It is "" if nothing is covered.
func priority(places []*Place) string {
	used, disabled := -1, -1
	for _, p := range places {
		for _, c := range p.Covers {
			at := slices.Index(rules.Priorities, c.Context.Type.Priority)
			if c.Context.IsDisabled() {
				disabled = max(disabled, at)
			} else {
				used = max(used, at)
			}
		}
	}
	if used < 0 {
		used = disabled
	}
	if used < 0 {
		return ""
	}
	return rules.Priorities[used]
}

// labels returns the labels of the roles that cover a place, sorted.
func labels(places []*Place) []string {
	var out []string
	for _, p := range places {
		for _, c := range p.Covers {
			if c.Context.Role != nil {
				out = append(out, c.Context.Role.Labels...)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// WithLabels returns labels with those of the conditions that hold, and without those that do not. Others stay.
func WithLabels(current []string, conditions map[string]bool) []string {
	out := slices.DeleteFunc(slices.Clone(current), func(label string) bool {
		holds, isKnown := conditions[label]
		return isKnown && !holds
	})
	for label, holds := range conditions {
		if holds && !slices.Contains(out, label) {
			out = append(out, label)
		}
	}
	slices.Sort(out)
	return out
}
