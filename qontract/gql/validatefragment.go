package gql

import (
	"fmt"
	"strings"
)

// A cycleSearch is the state of the search for fragments that use themselves.
type cycleSearch struct {
	visited   map[string]bool
	path      []*spreadNode  // spreads from the first fragment to the current one
	pathIndex map[string]int // length of the path when a fragment on it was entered
}

// checkFragmentCycles reports the cycles that a fragment is part of, unless they were
// already reported for another fragment. All calls together visit every fragment once.
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

// reportCycle reports a cycle. path holds the spreads that form it.
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

// checkUnusedFragments reports the fragments that no operation uses.
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

// fragmentsUsedBy returns the fragments that an operation uses, directly or through other
// fragments.
func (v *validator) fragmentsUsedBy(op *operation) []*fragment {
	if len(v.doc.fragments) == 0 {
		return nil
	}
	var out []*fragment
	seen := map[string]bool{}
	pending := []*selectionSet{op.selectionSet}
	for len(pending) > 0 {
		last := len(pending) - 1
		next := pending[last]
		pending = pending[:last]
		for _, n := range v.spreadsIn(next) {
			if seen[n.name] {
				continue
			}
			seen[n.name] = true
			if f := v.fragments[n.name]; f != nil {
				out = append(out, f)
				pending = append(pending, f.selectionSet)
			}
		}
	}
	return out
}

// spreadsIn returns the fragment spreads in a selection set. As in graphql-js, spreads of a
// later nested set come before those of an earlier nested set.
func (v *validator) spreadsIn(set *selectionSet) []*spreadNode {
	if len(v.doc.fragments) == 0 {
		return nil
	}
	if list, known := v.spreadCache[set]; known {
		return list
	}
	var list []*spreadNode
	pending := []*selectionSet{set}
	for len(pending) > 0 {
		last := len(pending) - 1
		next := pending[last]
		pending = pending[:last]
		for _, s := range next.selections {
			switch n := s.(type) {
			case *spreadNode:
				list = append(list, n)
			case *inlineNode:
				pending = append(pending, n.selectionSet)
			case *fieldNode:
				if n.selectionSet != nil {
					pending = append(pending, n.selectionSet)
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
