package gql

import "fmt"

// maxSteps limits the work of a linear search for conflicts.
const maxSteps = 1_000_000

// A keyGroup holds the fields that have the same response key.
type keyGroup struct {
	key         string
	occurrences []occurrence
}

// A linearConflictSearch finds out whether any fields conflict when comparing all pairs
// would take too long. It compares every field with the first field of its group. This is
// enough, because "can be merged" is an equivalence relation. The document must be valid in
// every other way.
type linearConflictSearch struct {
	*validator
	steps    int
	finished bool // a conflict was found, or the limit was reached
}

// reportFirstConflicts reports the first conflict of each operation.
func (v *validator) reportFirstConflicts() {
	for _, op := range v.doc.operations {
		search := &linearConflictSearch{validator: v}
		top := search.groupSubfields([]occurrence{{node: &fieldNode{selectionSet: op.selectionSet},
			def: &fieldDef{typ: v.schema.rootType(op)}}})
		search.compareShapes(top)
		search.compareReads(top)
	}
}

// groupSubfields groups the subfields of some fields by their response key.
func (s *linearConflictSearch) groupSubfields(list []occurrence) []*keyGroup {
	g := groupCollector{search: s, index: map[string]*keyGroup{}, seen: map[string]bool{}}
	for _, o := range list {
		if o.node.selectionSet == nil {
			continue
		}
		var on *typeDef
		if o.def != nil {
			on = o.def.typ
		}
		g.collectSet(o.node.selectionSet, on)
	}
	return g.groups
}

// A groupCollector collects fields into groups. It enters each fragment once.
type groupCollector struct {
	search *linearConflictSearch
	groups []*keyGroup
	index  map[string]*keyGroup
	seen   map[string]bool
}

func (g *groupCollector) collectSet(set *selectionSet, parent *typeDef) {
	for _, s := range set.selections {
		if g.search.countWork(1); g.search.finished {
			return
		}
		switch n := s.(type) {
		case *fieldNode:
			g.collectField(n, parent)
		case *inlineNode:
			on := parent
			if n.typeCondition != "" {
				on = g.search.schema.types[n.typeCondition]
			}
			g.collectSet(n.selectionSet, on)
		case *spreadNode:
			if !g.seen[n.name] {
				g.seen[n.name] = true
				f := g.search.fragments[n.name]
				g.collectSet(f.selectionSet, g.search.schema.types[f.typeCondition])
			}
		}
	}
}

func (g *groupCollector) collectField(n *fieldNode, parent *typeDef) {
	key := n.responseKey()
	if g.index[key] == nil {
		g.index[key] = &keyGroup{key: key}
		g.groups = append(g.groups, g.index[key])
	}
	o := occurrence{node: n, parent: parent}
	if parent != nil {
		o.def = parent.field(n.name)
	}
	g.index[key].occurrences = append(g.index[key].occurrences, o)
}

// countWork counts work, and stops the search with an error if there is too much.
func (s *linearConflictSearch) countWork(n int) {
	if s.steps += n; s.steps > maxSteps && !s.finished {
		s.finished = true
		s.report("The query is too complex to be checked for fields that conflict.")
	}
}

func (s *linearConflictSearch) reportConflict(key, reason string, a, b occurrence) {
	s.finished = true
	s.report(fmt.Sprintf("Fields %q conflict because %s. Use different aliases on the fields to fetch both if this was "+
		"intentional.",
		key, reason), a.node.pos, b.node.pos)
}

// compareShapes checks that fields with the same response key have values of the same
// shape, even if they are selected on different object types.
func (s *linearConflictSearch) compareShapes(groups []*keyGroup) {
	for _, g := range groups {
		first := g.occurrences[0]
		for _, o := range g.occurrences {
			if first.def == nil {
				first = o
			}
			if o.def != nil && first.def != nil && !first.def.hasSameShape(o.def) && !s.finished {
				s.reportConflict(g.key, fmt.Sprintf("they return conflicting types %q and %q", first.def.typeString(),
					o.def.typeString()), first, o)
			}
		}
		if s.finished {
			return
		}
		s.compareShapes(s.groupSubfields(g.occurrences))
	}
}

// compareReads checks that fields with the same response key are the same field with the
// same arguments, unless they are selected on different object types.
func (s *linearConflictSearch) compareReads(groups []*keyGroup) {
	for _, g := range groups {
		for _, list := range s.splitByObjectType(g.occurrences) {
			if s.finished {
				return
			}
			first := list[0]
			for _, o := range list[1:] {
				if reason := s.fieldDifference(first.node, o.node); reason != "" {
					s.reportConflict(g.key, reason, first, o)
					return
				}
			}
			s.compareReads(s.groupSubfields(list))
		}
	}
}

// splitByObjectType splits fields into lists that can be read from the same object. There
// is one list for each object type. Fields that are selected on an interface are in every
// list.
func (s *linearConflictSearch) splitByObjectType(list []occurrence) [][]occurrence {
	var objects []*typeDef
	seen := map[*typeDef]bool{}
	for _, o := range list {
		if o.isOnObjectType() && !seen[o.parent] {
			seen[o.parent] = true
			objects = append(objects, o.parent)
		}
	}
	if len(objects) < 2 {
		return [][]occurrence{list}
	}
	out := make([][]occurrence, 0, len(objects))
	for _, t := range objects {
		if s.countWork(len(list)); s.finished {
			break
		}
		var with []occurrence
		for _, o := range list {
			if o.parent == t || !o.isOnObjectType() {
				with = append(with, o)
			}
		}
		out = append(out, with)
	}
	return out
}
