package gql

import (
	"fmt"
	"strings"
)

// cycles is the search for fragments that use themselves.
type cycleSearch struct {
	visited   map[string]bool
	path      []*spreadNode  // the uses on the way to where the search is
	pathIndex map[string]int // where on the path the fragments on the way are used
}

// findCycles reports the cycles that a fragment is part of, unless they were
// reported for another one. The search is one walk over all fragments.
func (v *validator) checkFragmentCycles(f *fragment) {
	c := &v.cycles
	if c.visited == nil {
		c.visited, c.pathIndex = map[string]bool{}, map[string]int{}
	}
	if c.visited[f.name] || v.tooManyErrors {
		return
	}
	c.visited[f.name] = true
	spreads := v.spreadsIn(f.selectionSet)
	if len(spreads) == 0 {
		return
	}
	c.pathIndex[f.name] = len(c.path)
	for _, n := range spreads {
		start, cycle := c.pathIndex[n.name]
		c.path = append(c.path, n)
		if cycle {
			v.reportCycle(c.path[start:])
		} else if next := v.fragments[n.name]; next != nil {
			v.checkFragmentCycles(next)
		}
		c.path = c.path[:len(c.path)-1]
	}
	delete(c.pathIndex, f.name)
}

func (v *validator) reportCycle(path []*spreadNode) {
	if v.tooManyErrors {
		return
	}
	last := len(path) - 1
	at := make([]int, len(path))
	via := make([]string, last)
	for i, n := range path {
		at[i] = n.pos
		if i < last {
			via[i] = `"` + n.name + `"`
		}
	}
	end := "."
	if last > 0 {
		end = " via " + strings.Join(via, ", ") + "."
	}
	v.report(fmt.Sprintf("Cannot spread fragment %q within itself", path[last].name)+end, at...)
}

// unusedFragments reports the fragments that no operation uses.
func (v *validator) checkUnusedFragments() {
	if len(v.doc.fragments) == 0 || v.tooManyErrors {
		return
	}
	used := map[string]bool{}
	for _, op := range v.doc.operations {
		for _, f := range v.fragmentsUsedBy(op) {
			used[f.name] = true
		}
	}
	for _, f := range v.doc.fragments {
		if !used[f.name] {
			v.report(fmt.Sprintf("Fragment %q is never used.", f.name), f.pos)
		}
	}
}

// reached returns the fragments that an operation uses, also through others.
func (v *validator) fragmentsUsedBy(op *operation) []*fragment {
	if len(v.doc.fragments) == 0 {
		return nil
	}
	var out []*fragment
	seen := map[string]bool{}
	todo := []*selectionSet{op.selectionSet}
	for len(todo) > 0 {
		last := len(todo) - 1
		next := todo[last]
		todo = todo[:last]
		for _, n := range v.spreadsIn(next) {
			if seen[n.name] {
				continue
			}
			seen[n.name] = true
			if f := v.fragments[n.name]; f != nil {
				out = append(out, f)
				todo = append(todo, f.selectionSet)
			}
		}
	}
	return out
}

// spreadsIn returns the fragments that a selection set uses. As in graphql-js,
// those in the last of its sets come before those in the others.
func (v *validator) spreadsIn(set *selectionSet) []*spreadNode {
	if len(v.doc.fragments) == 0 {
		return nil
	}
	if list, known := v.spreadCache[set]; known {
		return list
	}
	var list []*spreadNode
	todo := []*selectionSet{set}
	for len(todo) > 0 {
		last := len(todo) - 1
		next := todo[last]
		todo = todo[:last]
		for _, s := range next.selections {
			switch n := s.(type) {
			case *spreadNode:
				list = append(list, n)
			case *inlineNode:
				todo = append(todo, n.selectionSet)
			case *fieldNode:
				if n.selectionSet != nil {
					todo = append(todo, n.selectionSet)
				}
			}
		}
	}
	if v.spreadCache == nil {
		v.spreadCache = map[*selectionSet][]*spreadNode{}
	}
	v.spreadCache[set] = list
	return list
}
