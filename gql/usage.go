package gql

import "fmt"

// variablesOf applies the rules that need all uses of variables of an
// operation, also those in the fragments it reaches.
func (v *validator) variablesOf(op *operation) {
	if v.over {
		return
	}
	own := v.usesIn(op.set, op.directives, v.s.root(op))
	reached := v.reached(op)
	lists := [][]use{own}
	for _, f := range reached {
		lists = append(lists, v.usesIn(f.set, f.directives, composite(v.s.types[f.on])))
	}
	defined := make(map[string]*variable, len(op.variables))
	for _, def := range op.variables {
		defined[def.name] = def
	}
	used := make(map[string]bool, len(op.variables))
	for _, list := range lists {
		for _, u := range list {
			used[u.node.raw] = true
			if defined[u.node.raw] == nil {
				v.report(fmt.Sprintf("Variable \"$%s\" is not defined%s.", u.node.raw, op.by()), u.node.pos, op.pos)
			}
		}
	}
	for _, def := range op.variables {
		if !used[def.name] {
			v.report(fmt.Sprintf("Variable \"$%s\" is never used%s.", def.name, op.in()), def.pos)
		}
	}
	for _, list := range lists {
		for _, u := range list {
			v.fits(defined[u.node.raw], u)
		}
	}
}

func (op *operation) by() string {
	if op.name == "" {
		return ""
	}
	return fmt.Sprintf(" by operation %q", op.name)
}

func (op *operation) in() string {
	if op.name == "" {
		return ""
	}
	return fmt.Sprintf(" in operation %q", op.name)
}

// usesIn returns the uses of variables in the directives and the selection set
// of a definition.
func (v *validator) usesIn(set *selectionSet, directives []*directive, on *typeDef) []use {
	if uses, known := v.uses[set]; known {
		return uses
	}
	g := gatherer{s: v.s}
	g.directives(directives, nil)
	g.set(set, on, nil)
	if v.uses == nil {
		v.uses = map[*selectionSet][]use{}
	}
	v.uses[set] = g.uses
	return g.uses
}

// fits checks that a variable may be used where it is.
func (v *validator) fits(def *variable, u use) {
	if def == nil || u.expected.named == nil || v.s.types[def.typ.named().name] == nil {
		return
	}
	typ, at := def.typ, *u.expected.typ
	if at.nonNull && !typ.nonNull && (u.standard || def.standard != nil && def.standard.kind != valueNull) {
		at.nonNull = false
	}
	if !typ.suits(&at) {
		v.report(fmt.Sprintf("Variable \"$%s\" of type %q used in position expecting type %q.", def.name, typ, u.expected.typ), def.pos, u.node.pos)
	}
}

// suits tells whether a value of a type is one of another type too.
func (t *typeNode) suits(other *typeNode) bool {
	switch {
	case other.nonNull && !t.nonNull:
		return false
	case other.elem != nil || t.elem != nil:
		return other.elem != nil && t.elem != nil && t.elem.suits(other.elem)
	}
	return t.name == other.name
}

// spreadsIn returns the fragments that a selection set uses. As in graphql-js,
// those in the last of its sets come before those in the others.
func (v *validator) spreadsIn(set *selectionSet) []*spreadNode {
	if len(v.doc.fragments) == 0 {
		return nil
	}
	if list, known := v.spreads[set]; known {
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
				todo = append(todo, n.set)
			case *fieldNode:
				if n.set != nil {
					todo = append(todo, n.set)
				}
			}
		}
	}
	if v.spreads == nil {
		v.spreads = map[*selectionSet][]*spreadNode{}
	}
	v.spreads[set] = list
	return list
}

// reached returns the fragments that an operation uses, also through others.
func (v *validator) reached(op *operation) []*fragment {
	if len(v.doc.fragments) == 0 {
		return nil
	}
	var out []*fragment
	seen := map[string]bool{}
	todo := []*selectionSet{op.set}
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
				todo = append(todo, f.set)
			}
		}
	}
	return out
}

// unusedFragments reports the fragments that no operation uses.
func (v *validator) unusedFragments() {
	if len(v.doc.fragments) == 0 || v.over {
		return
	}
	used := map[string]bool{}
	for _, op := range v.doc.operations {
		for _, f := range v.reached(op) {
			used[f.name] = true
		}
	}
	for _, f := range v.doc.fragments {
		if !used[f.name] {
			v.report(fmt.Sprintf("Fragment %q is never used.", f.name), f.pos)
		}
	}
}
