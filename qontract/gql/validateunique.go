package gql

import "fmt"

// checkUniqueOperation checks that no other operation has the same name.
func (v *validator) checkUniqueOperation(op *operation) {
	if op.name == "" || len(v.doc.operations) == 1 {
		return
	}
	if first, known := v.operationNames[op.name]; known {
		v.report(fmt.Sprintf("There can be only one operation named %q.", op.name), first, op.namePos)
		return
	}
	if v.operationNames == nil {
		v.operationNames = map[string]int{}
	}
	v.operationNames[op.name] = op.namePos
}

// checkUniqueFragment checks that no other fragment has the same name.
func (v *validator) checkUniqueFragment(f *fragment) {
	if first, known := v.fragmentNames[f.name]; known {
		v.report(fmt.Sprintf("There can be only one fragment named %q.", f.name), first, f.namePos)
		return
	}
	if v.fragmentNames == nil {
		v.fragmentNames = map[string]int{}
	}
	v.fragmentNames[f.name] = f.namePos
}

// maxPairwise is the number of names up to which all pairs are compared. Above it, a map is
// faster.
const maxPairwise = 8

// repeatedNames returns the names that occur more than once, in the order of their first
// occurrence, with the positions of all occurrences. It reads n names with the function at.
func repeatedNames(n int, at func(int) (name string, pos int)) (names []string, places [][]int) {
	if n <= maxPairwise && !hasRepeatedName(n, at) {
		return nil, nil
	}
	all := map[string][]int{}
	var order []string
	for i := range n {
		name, pos := at(i)
		if all[name] == nil {
			order = append(order, name)
		}
		all[name] = append(all[name], pos)
	}
	for _, name := range order {
		if len(all[name]) > 1 {
			names, places = append(names, name), append(places, all[name])
		}
	}
	return names, places
}

func hasRepeatedName(n int, at func(int) (string, int)) bool {
	for i := range n {
		name, _ := at(i)
		for j := range i {
			if other, _ := at(j); other == name {
				return true
			}
		}
	}
	return false
}

func (v *validator) checkUniqueVariables(op *operation) {
	names, places := repeatedNames(len(op.variables), func(i int) (string, int) {
		return op.variables[i].name, op.variables[i].namePos
	})
	for i, name := range names {
		v.report(fmt.Sprintf("There can be only one variable named \"$%s\".", name), places[i]...)
	}
}

func (v *validator) checkUniqueArguments(list []*argument) {
	if len(list) < 2 {
		return
	}
	names, places := repeatedNames(len(list), func(i int) (string, int) { return list[i].name, list[i].pos })
	for i, name := range names {
		v.report(fmt.Sprintf("There can be only one argument named %q.", name), places[i]...)
	}
}

// checkUniqueDirectives checks that a node of a query has no directive twice.
func (v *validator) checkUniqueDirectives(list []*directive) {
	if len(list) > 1 {
		v.reportRepeatedDirectives(list, map[string]int{})
	}
}

// checkUniqueDirectivesOfDefinition does the same for a type system definition. All
// definitions and extensions of one type count as one place, and so do those of the schema.
func (v *validator) checkUniqueDirectivesOfDefinition(n *typeSystemNode) {
	if len(n.directives) == 0 {
		return
	}
	if n.keyword == "" {
		v.reportRepeatedDirectives(n.directives, map[string]int{})
		return
	}
	if v.directivesOfTypes == nil {
		v.directivesOfTypes = map[string]map[string]int{}
	}
	if v.directivesOfTypes[n.name] == nil {
		v.directivesOfTypes[n.name] = map[string]int{}
	}
	v.reportRepeatedDirectives(n.directives, v.directivesOfTypes[n.name])
}

// reportRepeatedDirectives reports directives that were used before, unless they are
// repeatable. It records first uses in seen.
func (v *validator) reportRepeatedDirectives(list []*directive, seen map[string]int) {
	for _, d := range list {
		if own := v.directiveDefinitions[d.name]; own != nil && own.repeatable ||
			own == nil && v.schema.directiveNamed(d.name) == nil {
			continue
		}
		if first, used := seen[d.name]; used {
			v.report(fmt.Sprintf("The directive \"@%s\" can only be used once at this location.", d.name), first, d.pos)
			continue
		}
		seen[d.name] = d.pos
	}
}

// fieldNames finds repeated names among the fields of an object literal.
type fieldNames struct {
	list []*argument
	seen map[string]int // position by name; only used for many fields
}

// firstPosition returns the position of an earlier field with the same name as field i, or
// -1. It must be called for the fields in their order.
func (u *fieldNames) firstPosition(i int) int {
	name := u.list[i].name
	if i <= maxPairwise && u.seen == nil {
		for _, f := range u.list[:i] {
			if f.name == name {
				return f.pos
			}
		}
		return -1
	}
	if u.seen == nil {
		u.seen = map[string]int{}
		for _, f := range u.list[:i] {
			if _, known := u.seen[f.name]; !known {
				u.seen[f.name] = f.pos
			}
		}
	}
	if pos, known := u.seen[name]; known {
		return pos
	}
	u.seen[name] = u.list[i].pos
	return -1
}
