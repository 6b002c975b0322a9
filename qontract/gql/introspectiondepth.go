package gql

// maxIntrospectionLists is the number of nested introspection lists from which a query is
// rejected.
const maxIntrospectionLists = 3

// checkIntrospectionDepth reports whether a field of introspection nests too many lists,
// and records the error. Fields below such a field are not checked again.
func (v *validator) checkIntrospectionDepth(n *fieldNode) bool {
	if n.name != "__schema" && n.name != "__type" || v.inDeepIntrospection {
		return false
	}
	d := introspectionSearch{v: v, path: map[string]bool{}}
	if !d.isTooDeep(n, 0) {
		return false
	}
	v.report("Maximum introspection depth exceeded", n.pos)
	v.inDeepIntrospection = true
	return true
}

// An introspectionSearch searches for lists of introspection inside of other such lists.
type introspectionSearch struct {
	v    *validator
	path map[string]bool // fragments from the first selection to the current one
}

// isTooDeep reports whether lists nest too deep below a selection. depth is the number of
// lists around it. A search that takes too many steps counts as too deep: fragments that
// use others twice can make it grow exponentially.
func (s *introspectionSearch) isTooDeep(selection selection, depth int) bool {
	if s.v.introspectionSteps++; s.v.introspectionSteps > maxReached {
		return true
	}
	switch n := selection.(type) {
	case *spreadNode:
		f := s.v.fragments[n.name]
		if f == nil || s.path[n.name] {
			return false
		}
		s.path[n.name] = true
		defer delete(s.path, n.name)
		return s.isAnyTooDeep(f.selectionSet, depth)
	case *inlineNode:
		return s.isAnyTooDeep(n.selectionSet, depth)
	case *fieldNode:
		switch n.name {
		case "fields", "interfaces", "possibleTypes", "inputFields":
			depth++
		}
		return depth >= maxIntrospectionLists || s.isAnyTooDeep(n.selectionSet, depth)
	}
	return false
}

// isAnyTooDeep reports whether lists nest too deep below any selection of a set, which may
// be nil.
func (s *introspectionSearch) isAnyTooDeep(set *selectionSet, depth int) bool {
	if set == nil {
		return false
	}
	for _, selection := range set.selections {
		if s.isTooDeep(selection, depth) {
			return true
		}
	}
	return false
}
