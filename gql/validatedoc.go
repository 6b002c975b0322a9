package gql

import (
	"fmt"
	"strings"
)

// reach calls visit for the scope of an operation and those of all fragments
// that it uses, directly or not.
func (v *validator) reach(op *operation, visit func(*scope)) {
	v.round++
	todo := []*scope{v.scopes[op]}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if v.steps += 1 + len(s.uses) + len(s.spreads); v.steps > maxSteps {
			return
		}
		visit(s)
		for _, spread := range s.spreads {
			if f := v.fragments[spread.name]; f != nil && v.scopes[f].round != v.round {
				v.scopes[f].round = v.round
				todo = append(todo, v.scopes[f])
			}
		}
	}
}

// variablesOf checks that the variables an operation uses, also in fragments,
// are defined and fit, and that all it defines are used.
func (v *validator) variablesOf(op *operation) {
	defs := make(map[string]*variable, len(op.variables))
	for _, d := range op.variables {
		defs[d.name] = d
	}
	by, in := "", ""
	if op.name != "" {
		by, in = fmt.Sprintf(" by operation %q", op.name), fmt.Sprintf(" in operation %q", op.name)
	}
	used := map[string]bool{}
	v.reach(op, func(s *scope) {
		for _, u := range s.uses {
			d := defs[u.node.raw]
			used[u.node.raw] = true
			if d == nil {
				v.fail(fmt.Sprintf(`Variable "$%s" is not defined%s.`, u.node.raw, by), u.node.pos, op.pos)
				continue
			}
			if u.expected != nil && v.s.types[d.typ.named().name] != nil && !d.fits(u.expected) {
				v.fail(fmt.Sprintf("Variable \"$%s\" of type %q used in position expecting type %q.",
					d.name, d.typ, u.expected.typeString()), d.pos, u.node.pos)
			}
		}
	})
	for _, d := range op.variables {
		if !used[d.name] {
			v.fail(fmt.Sprintf(`Variable "$%s" is never used%s.`, d.name, in), d.pos)
		}
	}
}

// fits tells whether the variable may stand where the argument is expected.
func (d *variable) fits(expected *argDef) bool {
	if expected.required && !d.typ.nonNull {
		hasValue := d.standard != nil && d.standard.kind != valueNull
		if !hasValue && expected.standard == nil {
			return false
		}
	}
	return d.typ.elem == nil && d.typ.name == expected.typ.name
}

// unusedFragments reports fragments that no operation has reached.
func (v *validator) unusedFragments() {
	if v.steps > maxSteps {
		v.fail("The document has too many operations that use the same fragments.")
		return
	}
	for _, f := range v.doc.fragments {
		if v.scopes[f].round == 0 {
			v.fail(fmt.Sprintf("Fragment %q is never used.", f.name), f.pos)
		}
	}
}

// cycles reports fragments that contain themselves.
func (v *validator) cycles() {
	done := map[string]bool{}
	depth := map[string]int{} // of the fragments on the way, from 1
	var way []*spreadNode
	var visit func(f *fragment)
	visit = func(f *fragment) {
		done[f.name] = true
		depth[f.name] = len(way) + 1
		for _, spread := range v.scopes[f].spreads {
			way = append(way, spread)
			if first := depth[spread.name]; first > 0 {
				v.cycle(way[first-1:])
			} else if next := v.fragments[spread.name]; next != nil && !done[spread.name] {
				visit(next)
			}
			way = way[:len(way)-1]
		}
		delete(depth, f.name)
	}
	for _, f := range v.doc.fragments {
		if !done[f.name] && v.fragments[f.name] == f {
			visit(f)
		}
	}
}

func (v *validator) cycle(way []*spreadNode) {
	last := len(way) - 1
	via := make([]string, last)
	at := make([]int, len(way))
	for i, s := range way {
		at[i] = s.pos
		if i < last {
			via[i] = quoted(s.name)
		}
	}
	text := ""
	if last > 0 {
		text = " via " + strings.Join(via, ", ")
	}
	v.fail(fmt.Sprintf("Cannot spread fragment %q within itself%s.", way[last].name, text), at...)
}

// maxFields bounds the fields of a document with every fragment in the place
// of its uses. It keeps fragments that double each other from growing.
const maxFields = 100_000

// size checks the bound and tells whether it holds. There are no cycles.
func (v *validator) size() bool {
	known := map[string]int{}
	var count func(set *selectionSet) int
	count = func(set *selectionSet) int {
		n := 0
		for _, s := range set.selections {
			n++
			switch s := s.(type) {
			case *fieldNode:
				if s.set != nil {
					n += count(s.set)
				}
			case *inlineNode:
				n += count(s.set)
			case *spreadNode:
				size, ok := known[s.name]
				if !ok {
					size = count(v.fragments[s.name].set)
					known[s.name] = size
				}
				n += size
			}
			n = min(n, maxFields+1)
		}
		return n
	}
	for _, op := range v.doc.operations {
		if count(op.set) > maxFields {
			v.fail(fmt.Sprintf("The operation selects more than %d fields once its fragments are filled in.", maxFields), op.pos)
			return false
		}
	}
	return true
}

// maxLists is the number of nested lists that introspection may ask for.
const maxLists = 3

// introspectionDepth checks that introspection does not go round in circles.
func (v *validator) introspectionDepth() {
	known := map[string]int{}
	var depth func(set *selectionSet) int
	depth = func(set *selectionSet) int {
		deepest := 0
		for _, s := range set.selections {
			d := 0
			switch s := s.(type) {
			case *fieldNode:
				if s.set != nil {
					d = depth(s.set)
				}
				switch s.name {
				case "fields", "interfaces", "possibleTypes", "inputFields":
					d++
				case "__schema", "__type":
					if d >= maxLists {
						v.fail("Maximum introspection depth exceeded", s.pos)
					}
					d = 0
				}
			case *inlineNode:
				d = depth(s.set)
			case *spreadNode:
				var ok bool
				if d, ok = known[s.name]; !ok {
					d = depth(v.fragments[s.name].set)
					known[s.name] = d
				}
			}
			deepest = max(deepest, d)
		}
		return deepest
	}
	for _, op := range v.doc.operations {
		depth(op.set)
	}
}
