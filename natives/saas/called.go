package saas

import "slices"

// Targets returns all targets, in the order of the data.
func (m *Model) Targets() []*Target {
	var out []*Target
	m.eachTarget(func(t *Target) { out = append(out, t) })
	return out
}

// Called returns the targets that are called by a name, see [Target.Calls]. The narrowest meaning of the name counts.
func (m *Model) Called(name string) []*Target {
	best := -1
	var out []*Target
	for _, t := range m.Targets() {
		i := slices.Index(t.Calls(), name)
		if i < 0 || best >= 0 && i > best {
			continue
		}
		if i < best || best < 0 {
			best, out = i, nil
		}
		out = append(out, t)
	}
	return out
}

// Places returns where some targets stand in the data, each place once. Targets of one selector have one place.
func (m *Model) Places(targets []*Target) []string {
	var out []string
	for _, t := range targets {
		if at := t.Place.File + "#" + t.Place.Pointer; !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out
}
