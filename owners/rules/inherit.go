package rules

import (
	"maps"
	"slices"
	"strings"
)

// inherit gives heirs what their ancestors may change, and ancestors the expansions of their heirs. It goes by what
// each type declares itself, so the order of the types says nothing.
func (c *compiler) inherit() {
	own := map[*Type]*Type{}
	for _, t := range c.rules.Types {
		own[t] = &Type{detectors: slices.Clone(t.detectors), selectors: maps.Clone(t.selectors),
			expansions: slices.Clone(t.expansions)}
	}
	for _, t := range c.rules.Types {
		ancestors, isCircle := c.ancestors(t)
		if isCircle {
			c.fault(Circle, t.File, "/inherit", "the change type %q inherits from itself", t.Name)
			return
		}
		for _, a := range ancestors {
			if t.ContextType != a.ContextType || t.ContextSchema != a.ContextSchema {
				c.fault(BadInheritance, t.File, "/inherit", "the change type %q inherits from %q, which is for other files", t.Name,
					a.Name)
				continue
			}
			t.detectors = append(t.detectors, own[a].detectors...)
			for _, to := range slices.SortedFunc(maps.Keys(own[a].selectors), func(x, y target) int {
				return strings.Compare(x.schema, y.schema)
			}) {
				for _, s := range own[a].selectors[to] {
					t.add(to, s)
				}
			}
			a.heirs[t.Name] = true
			a.expansions = append(a.expansions, own[t].expansions...)
		}
	}
}

// ancestors returns the types from which a type inherits, over any number of steps.
func (c *compiler) ancestors(t *Type) (all []*Type, isCircle bool) {
	seen := map[string]bool{}
	next := []*Type{t}
	for len(next) > 0 {
		of := next[0]
		next = next[1:]
		for _, name := range of.Inherit {
			a := c.rules.byName[name]
			switch {
			case a == nil:
				c.fault(BadReference, of.File, "/inherit", "there is no change type %q", name)
			case a == t:
				return nil, true
			case !seen[name]:
				seen[name] = true
				all, next = append(all, a), append(next, a)
			}
		}
	}
	return all, false
}
