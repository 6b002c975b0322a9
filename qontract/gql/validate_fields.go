package gql

import (
	"fmt"
	"slices"
	"strings"
)

func (v *validator) validateField(n *fieldNode, parent *typeDef) {
	var def *fieldDef
	if parent != nil {
		def = v.schema.fieldNamed(parent, n.name)
		v.checkFieldExists(n, parent, def)
	}
	v.checkUniqueDirectives(n.directives)
	v.checkUniqueArguments(n.arguments)
	deep := v.checkIntrospectionDepth(n)
	for _, a := range n.arguments {
		v.validateFieldArgument(a, parent, def)
	}
	v.validateDirectives(n.directives, "FIELD", def)
	if n.selectionSet != nil {
		var on *typeDef
		if def != nil {
			on = compositeType(def.typ)
		}
		v.validateSelectionSet(n.selectionSet, on, def)
	}
	if def != nil {
		v.checkRequiredArguments(n, def)
	}
	if deep {
		v.inDeepIntrospection = false
	}
}

// checkFieldExists checks that the type has the field, and that the field has a selection
// set exactly if its values have fields.
func (v *validator) checkFieldExists(n *fieldNode, parent *typeDef, def *fieldDef) {
	switch {
	case def == nil:
		v.report(fmt.Sprintf("Cannot query field %q on type %q.", n.name, parent.name)+v.suggestField(parent, n.name), n.pos)
	case def.typ.isLeaf() && n.selectionSet != nil:
		v.report(fmt.Sprintf("Field %q must not have a selection since type %q has no subfields.", n.name, def.typeString()),
			n.selectionSet.pos)
	case !def.typ.isLeaf() && n.selectionSet == nil:
		v.report(fmt.Sprintf("Field %q of type %q must have a selection of subfields. Did you mean \"%s { ... }\"?",
			n.name, def.typeString(), n.name), n.pos)
	}
}

// validateFieldArgument validates an argument of a field.
func (v *validator) validateFieldArgument(a *argument, parent *typeDef, field *fieldDef) {
	var def *argDef
	if field != nil {
		if def = findArgument(field.args, a.name); def == nil {
			v.report(fmt.Sprintf("Unknown argument %q on field \"%s.%s\".", a.name, parent.name, field.name)+
				didYouMean("", v.suggester.suggest(a.name, argNames(field.args))), a.pos)
		}
	}
	v.validateValue(a.value, def.expectedType(), false)
}

// checkRequiredArguments checks that a field has all arguments that it requires.
func (v *validator) checkRequiredArguments(n *fieldNode, def *fieldDef) {
	for _, a := range def.args {
		if a.required && a.defaultValue == nil && !slices.ContainsFunc(n.arguments, func(given *argument) bool {
			return given.name == a.name
		}) {
			v.report(fmt.Sprintf("Field %q argument %q of type %q is required, but it was not provided.", def.name, a.name,
				a.typeString()), n.pos)
		}
	}
}

func argNames(args []*argDef) []string {
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = a.name
	}
	return names
}

// suggestField returns the "Did you mean" part of the message about a field that does not
// exist.
func (v *validator) suggestField(t *typeDef, name string) string {
	if v.tooManyErrors {
		return ""
	}
	if types := typesWithField(t, name); len(types) > 0 {
		return didYouMean("to use an inline fragment on ", types)
	}
	names := make([]string, len(t.fields))
	for i, f := range t.fields {
		names[i] = f.name
	}
	return didYouMean("", v.suggester.suggest(name, names))
}

// typesWithField returns the names of the types below an interface that have a field which
// the interface itself does not have. Interfaces that many of these object types share come
// first.
func typesWithField(t *typeDef, name string) []string {
	if t.kind != kindInterface {
		return nil
	}
	count := map[*typeDef]int{}
	var types []*typeDef
	for _, object := range t.possibleTypes {
		if object.field(name) == nil {
			continue
		}
		types = append(types, object)
		count[object] = 1
		for _, i := range object.interfaces {
			if i.field(name) == nil {
				continue
			}
			if count[i]++; count[i] == 1 {
				types = append(types, i)
			}
		}
	}
	insertionSort(types, func(a, b *typeDef) int {
		switch {
		case count[a] != count[b]:
			return count[b] - count[a]
		case a.kind == kindInterface && b.isSubtypeOf(a):
			return -1
		case b.kind == kindInterface && a.isSubtypeOf(b):
			return 1
		}
		return naturalCompare(a.name, b.name)
	})
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = t.name
	}
	return names
}

// insertionSort sorts by binary insertion, as JavaScript does with short lists. The
// comparison of types and their interfaces is not a consistent order, so another algorithm
// would give another result.
func insertionSort(list []*typeDef, compare func(a, b *typeDef) int) {
	for i := 1; i < len(list); i++ {
		item := list[i]
		low, high := 0, i
		for low < high {
			if middle := (low + high) / 2; compare(item, list[middle]) < 0 {
				high = middle
			} else {
				low = middle + 1
			}
		}
		copy(list[low+1:i+1], list[low:i])
		list[low] = item
	}
}

// validateDirectives validates the directives at a location, such as "FIELD". field is the
// innermost field at or around the location, or nil.
func (v *validator) validateDirectives(list []*directive, location string, field *fieldDef) {
	for _, d := range list {
		v.validateDirective(d, location, field)
	}
}

func (v *validator) validateDirective(d *directive, location string, field *fieldDef) {
	def, own := v.schema.directiveNamed(d.name), v.directiveDefinitions[d.name]
	v.checkDirectiveExists(d, location)
	v.checkDirectiveArguments(d, def, own)
	v.checkUniqueArguments(d.arguments)
	var args []*argDef
	if def != nil {
		args = def.args
	} else if field != nil {
		args = field.args // as graphql-js: arguments of an unknown directive are taken for arguments of the field
	}
	for _, a := range d.arguments {
		v.validateValue(a.value, findArgument(args, a.name).expectedType(), false)
	}
	v.checkRequiredDirectiveArguments(d, def, own)
}

// checkDirectiveExists checks that a directive exists and is allowed at a location.
func (v *validator) checkDirectiveExists(d *directive, location string) {
	def, own := v.schema.directiveNamed(d.name), v.directiveDefinitions[d.name]
	var allowed []string
	switch {
	case own != nil:
		allowed = own.allowedLocations
	case def != nil:
		allowed = def.locations
	default:
		v.report(fmt.Sprintf("Unknown directive \"@%s\".", d.name), d.pos)
		return
	}
	if !slices.Contains(allowed, location) {
		v.report(fmt.Sprintf("Directive \"@%s\" may not be used on %s.", d.name, location), d.pos)
	}
}

// checkDirectiveArguments checks that the arguments of a directive exist. own is the
// definition of the directive in the document itself, def the definition in the schema;
// either may be nil.
func (v *validator) checkDirectiveArguments(d *directive, def *directiveDef, own *typeSystemNode) {
	if def == nil && own == nil || len(d.arguments) == 0 {
		return
	}
	var known []string
	if own != nil {
		for _, a := range own.arguments {
			known = append(known, a.name)
		}
	} else {
		known = argNames(def.args)
	}
	for _, a := range d.arguments {
		if !slices.Contains(known, a.name) && !v.tooManyErrors {
			v.report(fmt.Sprintf("Unknown argument %q on directive \"@%s\".", a.name, d.name)+
				didYouMean("", v.suggester.suggest(a.name, known)), a.pos)
		}
	}
}

// checkRequiredDirectiveArguments checks that a directive has all arguments that it
// requires.
func (v *validator) checkRequiredDirectiveArguments(d *directive, def *directiveDef, own *typeSystemNode) {
	given := func(name string) bool {
		return slices.ContainsFunc(d.arguments, func(a *argument) bool { return a.name == name })
	}
	missing := func(name, typ string) {
		v.report(fmt.Sprintf("Directive \"@%s\" argument %q of type %q is required, but it was not provided.", d.name, name,
			typ), d.pos)
	}
	if own != nil {
		for _, a := range own.requiredArguments() {
			if a.isRequired() && !given(a.name) && !v.tooManyErrors {
				missing(a.name, a.typ().String())
			}
		}
		return
	}
	if def == nil {
		return
	}
	for _, a := range def.args {
		if a.required && a.defaultValue == nil && !given(a.name) {
			missing(a.name, a.typeString())
		}
	}
}

// requiredArguments returns the required arguments of a directive definition. If a name is
// repeated, the last definition stands at the place of the first.
func (n *typeSystemNode) requiredArguments() []*typeSystemNode {
	index := map[string]int{}
	var out []*typeSystemNode
	for _, a := range n.arguments {
		if !a.isRequired() {
			continue
		}
		if i, known := index[a.name]; known {
			out[i] = a
			continue
		}
		index[a.name] = len(out)
		out = append(out, a)
	}
	return out
}

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
