package native

import "slices"

// An Identified target has parts that tell neither where it is nor who asks, such as a list of
// requests that only read. In the dry run of a change, a target of base with the same identity
// takes its place: it is asked as base says, and what is found at its things was there without
// the change.
type Identified interface {
	// Identity returns the target without these parts. It is compared as JSON.
	Identity() any
}

// reachedBy returns the data with the targets of base in the place of those with the same
// identity.
func (d Desired) reachedBy(base Desired) Desired {
	known := map[string]any{}
	note := func(target any) {
		if is, ok := target.(Identified); ok {
			known[text(is.Identity())] = target
		}
	}
	for _, p := range base.Parts {
		note(p.Target)
	}
	for _, target := range base.Targets {
		note(target)
	}
	if len(known) == 0 {
		return d
	}
	d.Parts = slices.Clone(d.Parts)
	for i := range d.Parts {
		is, ok := d.Parts[i].Target.(Identified)
		if !ok {
			continue
		}
		if target, ok := known[text(is.Identity())]; ok {
			d.Parts[i].Target = target
		}
	}
	return d
}
