package manifests

import (
	"reflect"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// owns reports whether a set of fields has a path, or a whole value that the path is a part of.
func owns(fields *fieldpath.Set, path fieldpath.Path) bool {
	for i, element := range path {
		below := fields.WithPrefix(element)
		isMember := fields.Members.Has(element)
		if i == len(path)-1 || isMember && below.Empty() {
			return isMember
		}
		fields = below
	}
	return false
}

// isOurs reports whether the server says that the field at a place is ours.
func (c *comparison) isOurs(p place) bool {
	return len(c.owners(p, c.options.isOurs)) > 0
}

// owners returns the managers of a kind that own the field at a place.
func (c *comparison) owners(p place, of func(managed) bool) []string {
	var out []string
	path := p.path()
	for _, m := range c.live.managed {
		if !of(m) {
			continue
		}
		fields, err := m.fields()
		if err != nil {
			c.err = err
			continue
		}
		if owns(fields, path) && !slices.Contains(out, m.Manager) {
			out = append(out, m.Manager)
		}
	}
	slices.Sort(out)
	return out
}

// contenders returns the managers that keep us from changing the field at a place.
func (c *comparison) contenders(p place) []string {
	return c.owners(p, func(m managed) bool {
		return !c.options.isOurs(m) && !c.options.takes(m)
	})
}

// taken returns the managers whose fields are to become ours.
func (c *comparison) taken() []string {
	var out []string
	for _, m := range c.live.managed {
		if c.options.takes(m) && !slices.Contains(out, m.Manager) {
			out = append(out, m.Manager)
		}
	}
	slices.Sort(out)
	return out
}

// removed returns the values that are ours or become ours, and that the manifest does not have.
// An apply removes them.
func (c *comparison) removed() []difference {
	var out []difference
	seen := map[string]bool{}
	want := withNotes(c.want, c.live.Object)
	for _, m := range c.live.managed {
		if !c.options.isOurs(m) && !c.options.takes(m) {
			continue
		}
		fields, err := m.fields()
		if err != nil {
			c.err = err
			continue
		}
		for path := range fields.Leaves().All() {
			p, missing := missingPart(want, c.live.Object, path)
			if !missing || isAddress(p) || p.name(0) == "metadata" && isNoted(p.name(2)) || seen[p.pointer()] {
				continue
			}
			is, isThere := valueAt(c.live.Object, p)
			if !isThere || len(c.contenders(p)) > 0 {
				continue
			}
			seen[p.pointer()] = true
			out = append(out, difference{at: p, is: is})
		}
	}
	return out
}

// withNotes returns a manifest with the notes about it that a live object has.
func withNotes(want, live Object) Object {
	for _, kind := range []string{"annotations", "labels"} {
		for name, value := range texts(at(live, "metadata", kind)) {
			if isNoted(name) {
				want = with(want, value, "metadata", kind, name)
			}
		}
	}
	return want
}

// missingPart returns the first place on a path that a manifest does not have. The indexes of
// the place are those of the live object.
func missingPart(want, live any, path fieldpath.Path) (place, bool) {
	var p place
	for _, element := range path {
		s, next, isThere, isWhole := step(want, element)
		if isWhole {
			return p, false
		}
		inLive, liveNext, _, _ := step(live, element)
		s.index = inLive.index
		p = append(p, s)
		if !isThere {
			return p, true
		}
		want, live = next, liveNext
	}
	return p, false
}

// step follows one element of a path. The value is whole if it has no such parts.
func step(v any, element fieldpath.PathElement) (s segment, next any, isThere, isWhole bool) {
	switch {
	case element.FieldName != nil:
		members, ok := v.(map[string]any)
		s = segment{name: *element.FieldName}
		next = members[s.name]
		return s, next, next != nil, !ok && v != nil
	case element.Key != nil:
		for _, f := range *element.Key {
			s.keys = append(s.keys, key{f.Name, f.Value.Unstructured()})
		}
		items, ok := v.([]any)
		next, s.index = findItem(items, s.keys)
		return s, next, s.index >= 0, !ok && v != nil
	case element.Value != nil:
		items, ok := v.([]any)
		s.item = (*element.Value).Unstructured()
		s.index = slices.IndexFunc(items, func(item any) bool { return reflect.DeepEqual(plain(item), plain(s.item)) })
		return s, s.item, s.index >= 0, !ok && v != nil
	default:
		items, ok := v.([]any)
		if element.Index != nil {
			s.index = *element.Index
		}
		if s.index < 0 || s.index >= len(items) {
			return s, nil, false, !ok && v != nil
		}
		return s, items[s.index], true, false
	}
}

// valueAt returns the value at a place of an object.
func valueAt(v any, p place) (any, bool) {
	for _, s := range p {
		switch {
		case s.name != "":
			members, _ := v.(map[string]any)
			v = members[s.name]
			if v == nil {
				return nil, false
			}
		default:
			items, _ := v.([]any)
			if s.index < 0 || s.index >= len(items) {
				return nil, false
			}
			v = items[s.index]
		}
	}
	return v, true
}
