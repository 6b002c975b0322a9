package manifests

import (
	"fmt"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/natives/reconcile"
)

// hasMark reports whether an object has a mark, and its label.
func (l *Live) hasMark(m reconcile.Mark) bool {
	labels := texts(at(l.Object, "metadata", "labels"))
	for name, value := range m.Labels() {
		if labels[name] != value {
			return false
		}
	}
	return l.Mark() == m
}

// isApplied reports whether we have applied the object before.
func (l *Live) isApplied(o Options) bool {
	return slices.ContainsFunc(l.managed, func(m managed) bool { return o.isOurs(m) && m.Operation == "Apply" })
}

// Takes returns the managers whose fields are to become ours by the next update. A server that
// tries an apply before that may report conflicts that the update will not have.
func (o Options) Takes(is *Live) []string { return (&comparison{live: is, options: o}).taken() }

// updateFirst returns the merge patch that comes before an apply, nil if there is none:
//
//   - It sets the fields of managers that are overridden.
//   - It removes what the server refuses beside the strategy Recreate, and what an apply cannot
//     remove because nobody owns it.
//   - It removes the digest if fields of others are to be taken, since they may be more than the
//     manifest has. Otherwise nobody would notice that an apply is missing after they were taken.
func (c *comparison) updateFirst(found []difference) (Object, error) {
	live, _ := copyOf(c.live.Object).(map[string]any)
	patch := Object{}
	for _, f := range c.overridden(found) {
		top, err := setValue(live, f.at, f.want)
		if err != nil {
			return nil, err
		}
		value, _ := valueAt(live, top)
		patch = with(patch, value, names(top)...)
	}
	isRecreated := text(at(c.want, "spec", "strategy", "type")) == "Recreate"
	if c.live.Kind == Deployment && isRecreated && at(c.live.Object, "spec", "strategy", "rollingUpdate") != nil {
		patch = with(patch, map[string]any{"type": "Recreate", "rollingUpdate": nil}, "spec", "strategy")
	}
	takesOthers := slices.ContainsFunc(c.taken(), func(manager string) bool { return manager != c.options.Manager })
	if takesOthers && c.live.Digest() == c.digest {
		patch = with(patch, nil, "metadata", "annotations", DigestAnnotation)
	}
	if len(patch) == 0 {
		return nil, nil
	}
	return patch, nil
}

// names returns the names of a place that has no items.
func names(p place) []string {
	var out []string
	for _, s := range p {
		out = append(out, s.name)
	}
	return out
}

// setValue changes an object: it sets the value at a place. It returns the place of the first
// list on the way, or else the place itself: a merge patch replaces whole lists.
func setValue(object Object, p place, value any) (place, error) {
	top := p
	var v any = object
	for i, s := range p {
		if s.name == "" && len(top) == len(p) {
			top = p[:i]
		}
		isLast := i == len(p)-1
		switch at := v.(type) {
		case map[string]any:
			if isLast {
				at[s.name] = value
			} else if at[s.name] == nil {
				at[s.name] = map[string]any{}
			}
			v = at[s.name]
		case []any:
			index := s.index
			if s.keys != nil {
				_, index = findItem(at, s.keys)
			}
			if index < 0 || index >= len(at) {
				return nil, fmt.Errorf("%s: there is no such item", p.pointer())
			}
			if isLast {
				at[index] = value
			}
			v = at[index]
		default:
			return nil, fmt.Errorf("%s: there is no such place", p.pointer())
		}
	}
	return top, nil
}

// copyOf returns a copy of a value.
func copyOf(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		for name := range out {
			out[name] = copyOf(out[name])
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = copyOf(out[i])
		}
		return out
	}
	return v
}
