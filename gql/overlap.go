package gql

import "fmt"

// maxSteps bounds the work of looking for fields that conflict.
const maxSteps = 1_000_000

// An occurrence is a field of the query with the type it is selected on.
type occurrence struct {
	node   *fieldNode
	parent *typeDef
	def    *fieldDef
}

// A group holds the occurrences that have the same key in the answer.
type group struct {
	key  string
	list []occurrence
}

// A merger looks for fields with one key that cannot be merged. Instead of
// comparing all pairs it compares every occurrence with the first one of its
// group, which is enough, since what is compared is an equivalence.
type merger struct {
	*validator
	steps int
	over  bool // the bound was met, or a conflict found
}

// overlaps reports the first conflict of each operation.
func (v *validator) overlaps() {
	for _, op := range v.doc.operations {
		if op.kind != "query" {
			continue
		}
		m := &merger{validator: v}
		top := m.collect(nil, op.set, v.s.query)
		m.shapes(top)
		m.same(top)
	}
}

// collect groups the fields of selection sets by their key.
func (m *merger) collect(groups []*group, set *selectionSet, parent *typeDef) []*group {
	g := gathering{m: m, groups: groups, index: map[string]*group{}, seen: map[string]bool{}}
	g.set(set, parent)
	return g.groups
}

// below groups the fields that the occurrences select.
func (m *merger) below(list []occurrence) []*group {
	g := gathering{m: m, index: map[string]*group{}, seen: map[string]bool{}}
	for _, o := range list {
		if o.node.set != nil {
			g.set(o.node.set, o.def.typ)
		}
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
		g.m.step()
		if g.m.over {
			return
		}
		switch n := s.(type) {
		case *fieldNode:
			key := n.key()
			if g.index[key] == nil {
				g.index[key] = &group{key: key}
				g.groups = append(g.groups, g.index[key])
			}
			g.index[key].list = append(g.index[key].list, occurrence{n, parent, g.m.s.find(parent, n.name)})
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

func (m *merger) step() {
	if m.steps++; m.steps > maxSteps && !m.over {
		m.over = true
		m.fail("The query is too complex to be checked for fields that conflict.")
	}
}

func (m *merger) conflict(key, reason string, a, b occurrence) {
	m.over = true
	m.fail(fmt.Sprintf("Fields %q conflict because %s. Use different aliases on the fields to fetch both if this was intentional.",
		key, reason), a.node.pos, b.node.pos)
}

// shapes checks that fields with one key have results of one shape, also when
// they are selected on different object types.
func (m *merger) shapes(groups []*group) {
	for _, g := range groups {
		if m.over {
			return
		}
		first := g.list[0]
		for _, o := range g.list[1:] {
			if !sameShape(first.def, o.def) {
				m.conflict(g.key, fmt.Sprintf("they return conflicting types %q and %q", first.def.typeString(), o.def.typeString()), first, o)
			}
			if m.over {
				return
			}
		}
		if first.node.set != nil {
			m.shapes(m.below(g.list))
		}
	}
}

func sameShape(a, b *fieldDef) bool {
	if a.list != b.list || a.required != b.required {
		return false
	}
	return a.typ == b.typ || !a.typ.leaf() && !b.typ.leaf()
}

// same checks that fields with one key are the same field with the same
// arguments, unless they are selected on different object types.
func (m *merger) same(groups []*group) {
	for _, g := range groups {
		for _, list := range m.together(g.list) {
			if m.over {
				return
			}
			first := list[0]
			for _, o := range list[1:] {
				if reason := difference(first.node, o.node); reason != "" {
					m.conflict(g.key, reason, first, o)
				}
				if m.over {
					return
				}
			}
			if first.node.set != nil {
				m.same(m.below(list))
			}
		}
	}
}

// together splits occurrences into lists of which all may be read from one
// object: one list for each object type, with all that are on interfaces.
func (m *merger) together(list []occurrence) [][]occurrence {
	var objects []*typeDef
	byType := map[*typeDef][]occurrence{}
	for _, o := range list {
		if o.parent.kind == kindObject {
			if byType[o.parent] == nil {
				objects = append(objects, o.parent)
			}
			byType[o.parent] = append(byType[o.parent], o)
		}
	}
	if len(objects) < 2 {
		return [][]occurrence{list}
	}
	out := make([][]occurrence, 0, len(objects))
	for _, t := range objects {
		var with []occurrence
		if m.steps += len(list); m.steps > maxSteps {
			break // the next step says so
		}
		for _, o := range list {
			if o.parent == t || o.parent.kind == kindInterface {
				with = append(with, o)
			}
		}
		out = append(out, with)
	}
	return out
}

// difference says why two fields cannot be merged, or returns "".
func difference(a, b *fieldNode) string {
	if a.name != b.name {
		return fmt.Sprintf("%q and %q are different fields", a.name, b.name)
	}
	if len(a.arguments) != len(b.arguments) {
		return "they have differing arguments"
	}
	for _, x := range a.arguments {
		found := false
		for _, y := range b.arguments {
			found = found || x.name == y.name && (x.value.canonical() == y.value.canonical())
		}
		if !found {
			return "they have differing arguments"
		}
	}
	return ""
}
