package gql

import "fmt"

// maxSteps bounds the work of looking for fields that conflict.
const maxSteps = 1_000_000

// An occurrence is a field of the query with the type it is selected on. Both
// the type and the definition are nil below a mutation, which has no type.
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

// A merger looks for fields with one key that cannot be merged. It takes the
// place of gqlparser's rule, whose cost grows with the square of the fields:
// instead of all pairs it compares every occurrence with the first one of its
// group, which is enough, since what is compared is an equivalence.
type merger struct {
	*compiler
	fragments map[string]*fragment
	texts     map[*valueNode]string // the canonical form of literals
	steps     int
	over      bool // the bound was met, or a conflict found
}

// overlaps reports the first conflict of each operation.
func (c *compiler) overlaps() {
	fragments := make(map[string]*fragment, len(c.doc.fragments))
	for _, f := range c.doc.fragments {
		fragments[f.name] = f
	}
	for _, op := range c.doc.operations {
		root := c.s.query
		if op.kind != "query" {
			root = nil
		}
		m := &merger{compiler: c, fragments: fragments, texts: map[*valueNode]string{}}
		top := m.below([]occurrence{{node: &fieldNode{set: op.set}, def: &fieldDef{typ: root}}})
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
		if g.m.step(1); g.m.over {
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
		o.def = g.m.s.find(parent, n.name)
	}
	g.index[key].list = append(g.index[key].list, o)
}

// step counts work, and ends it when there is too much.
func (m *merger) step(n int) {
	if m.steps += n; m.steps > maxSteps && !m.over {
		m.over = true
		m.fail(CodeValidation, "The query is too complex to be checked for fields that conflict.")
	}
}

func (m *merger) conflict(key, reason string, a, b occurrence) {
	m.over = true
	m.fail(CodeValidation, fmt.Sprintf("Fields %q conflict because %s. Use different aliases on the fields to fetch both if this was intentional.",
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
			if o.def != nil && first.def != nil && !first.def.shaped(o.def) && !m.over {
				m.conflict(g.key, fmt.Sprintf("they return conflicting types %q and %q", first.def.typeString(), o.def.typeString()), first, o)
			}
		}
		if m.over {
			return
		}
		m.shapes(m.below(g.list))
	}
}

// shaped tells whether results of two fields have one shape.
func (f *fieldDef) shaped(other *fieldDef) bool {
	if f.list != other.list || f.required != other.required {
		return false
	}
	return f.typ == other.typ || !f.typ.leaf() && !other.typ.leaf()
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
	isObject := func(o occurrence) bool { return o.parent != nil && o.parent.kind == kindObject }
	var objects []*typeDef
	seen := map[*typeDef]bool{}
	for _, o := range list {
		if isObject(o) && !seen[o.parent] {
			seen[o.parent] = true
			objects = append(objects, o.parent)
		}
	}
	if len(objects) < 2 {
		return [][]occurrence{list}
	}
	out := make([][]occurrence, 0, len(objects))
	for _, t := range objects {
		if m.step(len(list)); m.over {
			break
		}
		var with []occurrence
		for _, o := range list {
			if o.parent == t || !isObject(o) {
				with = append(with, o)
			}
		}
		out = append(out, with)
	}
	return out
}

// difference says why two fields cannot be merged, or returns "".
func (m *merger) difference(a, b *fieldNode) string {
	if a.name != b.name {
		return fmt.Sprintf("%q and %q are different fields", a.name, b.name)
	}
	if len(a.arguments) != len(b.arguments) {
		return "they have differing arguments"
	}
	m.step(len(a.arguments) * len(b.arguments))
	for _, x := range a.arguments {
		found := m.over
		for _, y := range b.arguments {
			found = found || x.name == y.name && m.text(x.value) == m.text(y.value)
		}
		if !found {
			return "they have differing arguments"
		}
	}
	return ""
}

// text returns the canonical form of a literal.
func (m *merger) text(v *valueNode) string {
	text, ok := m.texts[v]
	if !ok {
		text = v.canonical()
		m.texts[v] = text
	}
	return text
}
