package decision

import (
	"slices"
	"strings"

	"github.com/app-sre/prcheck/owners/rules"
)

// priority returns the lowest priority of the types that cover a place. Disabled types have a say only where no other
// one covers anything. It is "" if nothing is covered.
func priority(places []*DecidedPlace) string {
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
func labels(places []*DecidedPlace) []string {
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

// The labels of a merge request, with the names that qontract-reconcile gives them.
const (
	selfServiceable    = "self-serviceable"
	notSelfServiceable = "not-self-serviceable"
	held               = "bot/hold"
	restricted         = "restricted"
	approvedPrefix     = "bot/approved: "
	ownerPrefix        = "change-owner/"
)

// LetsThrough reports whether a label lets a change through.
func LetsThrough(label string) bool {
	return label == selfServiceable || strings.HasPrefix(label, approvedPrefix) ||
		label == strings.TrimSuffix(approvedPrefix, ": ")
}

// IsApproval reports whether a label says that a change is approved.
func IsApproval(label string) bool { return strings.HasPrefix(label, approvedPrefix) }

// LettingThrough returns the labels of this package that let a change through.
func LettingThrough() []string {
	out := []string{selfServiceable, strings.TrimSuffix(approvedPrefix, ": ")}
	for _, p := range rules.Priorities {
		out = append(out, approvedPrefix+p)
	}
	return out
}

// IsSelfServiceable reports whether people whom base names may approve all of a change. One that also touches files
// outside of the bundle is limited, and never self-serviceable.
func (d *Decision) IsSelfServiceable(isLimited bool) bool {
	return !isLimited && d.IsCovered && len(d.Unknown) == 0 &&
		!slices.ContainsFunc(d.Places, func(p *DecidedPlace) bool { return !p.IsApproved && len(p.People()) == 0 })
}

// LetsThrough reports whether a change may be merged.
func (d *Decision) LetsThrough(isLimited bool) bool {
	return d.IsSelfServiceable(isLimited) && d.IsApproved && !d.IsHeld && d.IsAdmitted
}

// WithLabels returns labels of a merge request as a decision makes them; labels that it knows nothing of stay.
func (d *Decision) WithLabels(current []string, isLimited bool) []string {
	conditions := map[string]bool{selfServiceable: d.IsSelfServiceable(isLimited),
		notSelfServiceable: !d.IsSelfServiceable(isLimited),
		held:               d.IsHeld, restricted: !d.IsAdmitted}
	for _, p := range rules.Priorities {
		conditions[approvedPrefix+p] = d.LetsThrough(isLimited) && p == d.Priority
	}
	for _, label := range current {
		if strings.HasPrefix(label, ownerPrefix) {
			conditions[label] = false
		}
	}
	for _, label := range d.Labels {
		conditions[ownerPrefix+label] = true
	}
	return WithLabels(current, conditions)
}

// People returns who may approve a place, in the order of names.
func (p *DecidedPlace) People() []string {
	var out []string
	for _, c := range p.Covers {
		if !c.Context.IsDisabled() {
			for _, person := range c.Context.People {
				out = append(out, person.Name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
