package fields

import (
	"cmp"
	"slices"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

// A Conflict is a field that others have, and that an apply would set to another value.
type Conflict struct {
	Path, Pattern string   // as those of a plan
	Managers      []string // sorted
	// WasOurs says that we applied the field before.
	WasOurs bool
}

// Conflicts returns the fields of a body that the server would refuse to apply without force,
// sorted by path. The rules name the keys of lists, from which the paths are made.
func (m Managers) Conflicts(applied, desired, live any, r rules.Rules) []Conflict {
	found := map[string]*Conflict{}
	for _, o := range m.others {
		w := walk{rules: r, manager: o.name, found: found}
		w.field(o.fields, "", "", applied, desired, live)
	}
	out := make([]Conflict, 0, len(found))
	for _, c := range found {
		slices.Sort(c.Managers)
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b Conflict) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// isMerged reports whether two values are merged by their parts.
func (w walk) isMerged(path, pattern string, desired, live any) bool {
	rule := rules.Find(w.rules, pattern, path)
	switch desired.(type) {
	case map[string]any:
		_, isObject := live.(map[string]any)
		return isObject && !rule.Atomic
	case []any:
		_, isList := live.([]any)
		return isList && (rule.List == classes.Map || rule.List == classes.Set)
	}
	return false
}

// fits reports whether a value has parts of the kind that a manager has.
func (n *node) fits(v any) bool {
	_, isObject := v.(map[string]any)
	_, isList := v.([]any)
	return len(n.members) == 0 && len(n.items) == 0 || isObject && len(n.members) > 0 || isList && len(n.items) > 0
}

type walk struct {
	rules   rules.Rules
	manager string
	found   map[string]*Conflict
}

// field looks at a field that a manager has, or has parts of.
func (w walk) field(n *node, path, pattern string, applied, desired, live any) {
	switch {
	case n == nil || desired == nil:
		return
	case n.isWhole() && !n.isOwn && w.isMerged(path, pattern, desired, live):
		return // the manager has the empty object around what it never set
	case n.isWhole() && !n.isOwn, !n.fits(desired):
		if body.Canonical(desired) != body.Canonical(live) {
			w.note(path, pattern, applied != nil)
		}
		return
	}
	switch d := desired.(type) {
	case map[string]any:
		a, _ := applied.(map[string]any)
		l, _ := live.(map[string]any)
		for name, child := range n.members {
			if v, isThere := d[name]; isThere {
				w.field(child, jsonpointer.Append(path, name), jsonpointer.Append(pattern, name), a[name], v, l[name])
			}
		}
	case []any:
		a, _ := applied.([]any)
		l, _ := live.([]any)
		for _, it := range n.items {
			i, j := it.of(d), it.of(l)
			if i < 0 || j < 0 || it.keys == nil {
				continue
			}
			var before any
			if k := it.of(a); k >= 0 {
				before = a[k]
			}
			w.field(it.node, jsonpointer.Append(path, it.name(w.rules, path, pattern)), pattern+"/*", before, d[i], l[j])
		}
	}
}

func (w walk) note(path, pattern string, wasOurs bool) {
	c := w.found[path]
	if c == nil {
		c = &Conflict{Path: path, Pattern: pattern, WasOurs: wasOurs}
		w.found[path] = c
	}
	if !slices.Contains(c.Managers, w.manager) {
		c.Managers = append(c.Managers, w.manager)
	}
}

// name returns the name of an item in a path. The place is that of the list.
func (i item) name(r rules.Rules, path, pattern string) string {
	v := i.value
	if i.keys != nil {
		v = i.keys
	}
	return nameOf(v, r, path, pattern)
}

// nameOf returns the name of an item of a list in a path.
func nameOf(v any, r rules.Rules, path, pattern string) string {
	_, name := rules.Identify(r.At, pattern, rules.Find(r, pattern, path), v)
	return name
}

// ownersOf returns the managers beside us that have a field, or a part of it, sorted.
func (m Managers) ownersOf(path, pattern string, r rules.Rules) []string {
	var out []string
	for _, o := range m.others {
		if o.fields.find(jsonpointer.Split(path), jsonpointer.Split(pattern), "", "", r) && !slices.Contains(out, o.name) {
			out = append(out, o.name)
		}
	}
	slices.Sort(out)
	return out
}

// find reports whether there is a field at a path, or a whole value around it.
func (n *node) find(path, pattern []string, at, atPattern string, r rules.Rules) bool {
	switch {
	case n == nil:
		return false
	case len(path) == 0:
		return true
	case n.isWhole() && !n.isOwn: // an empty object around what the manager never set is nothing
		rule := rules.Find(r, atPattern, at)
		if pattern[0] == "*" {
			return rule.List != classes.Map && rule.List != classes.Set
		}
		return rule.Atomic
	}
	if pattern[0] != "*" {
		return n.members[path[0]].find(path[1:], pattern[1:], jsonpointer.Append(at, path[0]),
			jsonpointer.Append(atPattern, path[0]), r)
	}
	for _, it := range n.items {
		if it.name(r, at, atPattern) == path[0] {
			return it.node.find(path[1:], pattern[1:], jsonpointer.Append(at, path[0]), atPattern+"/*", r)
		}
	}
	return false
}
