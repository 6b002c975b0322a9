package gql

// maxMetaLists is the number of lists of introspection inside each other that
// is too much.
const maxIntrospectionLists = 3

// introspects checks how deep a field of introspection goes. When that is too
// deep, it tells so, and the fields below are not checked.
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

// depths looks for lists inside of lists.
type introspectionSearch struct {
	v    *validator
	path map[string]bool // the fragments on the way
}

// exceeds tells whether lists nest too deep below a selection. A search without
// end, through fragments that double each other, is too deep as well.
func (d *introspectionSearch) isTooDeep(s selection, depth int) bool {
	if d.v.introspectionSteps++; d.v.introspectionSteps > maxReached {
		return true
	}
	switch n := s.(type) {
	case *spreadNode:
		f := d.v.fragments[n.name]
		if f == nil || d.path[n.name] {
			return false
		}
		d.path[n.name] = true
		defer delete(d.path, n.name)
		return d.isAnyTooDeep(f.selectionSet, depth)
	case *inlineNode:
		return d.isAnyTooDeep(n.selectionSet, depth)
	case *fieldNode:
		switch n.name {
		case "fields", "interfaces", "possibleTypes", "inputFields":
			depth++
		}
		return depth >= maxIntrospectionLists || d.isAnyTooDeep(n.selectionSet, depth)
	}
	return false
}

func (d *introspectionSearch) isAnyTooDeep(set *selectionSet, depth int) bool {
	if set == nil {
		return false
	}
	for _, s := range set.selections {
		if d.isTooDeep(s, depth) {
			return true
		}
	}
	return false
}
