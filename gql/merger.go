package gql

import "fmt"

// maxSteps bounds the work of looking for fields that conflict.
const maxSteps = 1_000_000

// A group holds the occurrences that have the same key in the answer.
type group struct {
	key  string
	list []occurrence
}

// A merger looks for fields with one key that cannot be merged, where comparing
// all pairs would take too long: it compares every occurrence with the first
// one of its group, which is enough, since what is compared is an equivalence.
// It needs a document that is otherwise valid.
type merger struct {
	*validator
	steps int
	done  bool // the bound was met, or a conflict found
}

// merge reports the first conflict of each operation.
func (v *validator) merge() {
	for _, op := range v.doc.operations {
		m := &merger{validator: v}
		top := m.below([]occurrence{{node: &fieldNode{set: op.set}, def: &fieldDef{typ: v.s.root(op)}}})
		m.shapes(top)
		m.same(top)
	}
}

// below groups the fields that the occurrences select by their key.
func (m *merger) below(list []occurrence) []*group {
	g := gathering{m: m, index: map[string]*group{}, seen: map[string]bool{}}
	for _, o := range list {
		if o.node.set == nil {
			continue
		}
		var on *typeDef
		if o.def != nil {
			on = o.def.typ
		}
		g.set(o.node.set, on)
	}
	return g.groups
}

// A gathering collects occurrences; a fragment counts once.
type gathering struct {
	m      *merger
	groups []*group
	index  map[string]*group
	seen   map[string]bool
}

func (g *gathering) set(set *selectionSet, parent *typeDef) {
	for _, s := range set.selections {
		if g.m.step(1); g.m.done {
			return
		}
		switch n := s.(type) {
		case *fieldNode:
			g.field(n, parent)
		case *inlineNode:
			on := parent
			if n.on != "" {
				on = g.m.s.types[n.on]
			}
			g.set(n.set, on)
		case *spreadNode:
			if !g.seen[n.name] {
				g.seen[n.name] = true
				f := g.m.fragments[n.name]
				g.set(f.set, g.m.s.types[f.on])
			}
		}
	}
}

func (g *gathering) field(n *fieldNode, parent *typeDef) {
	key := n.key()
	if g.index[key] == nil {
		g.index[key] = &group{key: key}
		g.groups = append(g.groups, g.index[key])
	}
	o := occurrence{node: n, parent: parent}
	if parent != nil {
		o.def = parent.field(n.name)
	}
	g.index[key].list = append(g.index[key].list, o)
}

// step counts work, and ends it when there is too much.
func (m *merger) step(n int) {
	if m.steps += n; m.steps > maxSteps && !m.done {
		m.done = true
		m.report("The query is too complex to be checked for fields that conflict.")
	}
}

func (m *merger) conflict(key, reason string, a, b occurrence) {
	m.done = true
	m.report(fmt.Sprintf("Fields %q conflict because %s. Use different aliases on the fields to fetch both if this was intentional.",
		key, reason), a.node.pos, b.node.pos)
}

// shapes checks that fields with one key have results of one shape, also when
// they are selected on different object types.
func (m *merger) shapes(groups []*group) {
	for _, g := range groups {
		first := g.list[0]
		for _, o := range g.list {
			if first.def == nil {
				first = o
			}
			if o.def != nil && first.def != nil && !first.def.shaped(o.def) && !m.done {
				m.conflict(g.key, fmt.Sprintf("they return conflicting types %q and %q", first.def.typeString(), o.def.typeString()), first, o)
			}
		}
		if m.done {
			return
		}
		m.shapes(m.below(g.list))
	}
}

// same checks that fields with one key are the same field with the same
// arguments, unless they are selected on different object types.
func (m *merger) same(groups []*group) {
	for _, g := range groups {
		for _, list := range m.together(g.list) {
			if m.done {
				return
			}
			first := list[0]
			for _, o := range list[1:] {
				if reason := m.difference(first.node, o.node); reason != "" {
					m.conflict(g.key, reason, first, o)
					return
				}
			}
			m.same(m.below(list))
		}
	}
}

// together splits occurrences into lists of which all may be read from one
// object: one list for each object type, with all that are on interfaces.
func (m *merger) together(list []occurrence) [][]occurrence {
	var objects []*typeDef
	seen := map[*typeDef]bool{}
	for _, o := range list {
		if o.isObject() && !seen[o.parent] {
			seen[o.parent] = true
			objects = append(objects, o.parent)
		}
	}
	if len(objects) < 2 {
		return [][]occurrence{list}
	}
	out := make([][]occurrence, 0, len(objects))
	for _, t := range objects {
		if m.step(len(list)); m.done {
			break
		}
		var with []occurrence
		for _, o := range list {
			if o.parent == t || !o.isObject() {
				with = append(with, o)
			}
		}
		out = append(out, with)
	}
	return out
}
