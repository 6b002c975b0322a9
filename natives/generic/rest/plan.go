package rest

import (
	"slices"

	"github.com/app-sre/prcheck/natives/generic/threeway"
)

// ChangeOf returns what a plan is to do, nil if that is nothing. A plan that is blocked, or
// that replaces, is none of these: the caller deals with both before. Desired is the body with
// its secrets, applied the one that was applied last, nil if there was none.
func ChangeOf(p *threeway.Plan, desired, applied any) *Change {
	switch p.Action {
	case threeway.Create:
		return &Change{Paths: []string{""}, Desired: p.Body, Put: p.Body}
	case threeway.Update:
	default:
		return nil
	}
	c := &Change{Desired: desired, Merge: p.MergePatch, Put: p.PutBody, Applied: applied}
	for _, one := range p.Changes {
		c.Paths = append(c.Paths, one.Pattern)
		switch one.Reason {
		case threeway.Removed, threeway.Cleared, threeway.Variant:
			c.Removed = append(c.Removed, one.Path)
		}
	}
	slices.Sort(c.Paths)
	return c
}

// LeftOf returns the differences that a plan over what was read back still finds. Values that
// cannot be read back are none.
func LeftOf(p *threeway.Plan) []Difference {
	var out []Difference
	for _, one := range p.Changes {
		if one.Reason != threeway.Secret {
			out = append(out, Difference{Path: one.Path, Pattern: one.Pattern, Sent: one.To, Back: one.From})
		}
	}
	return out
}
