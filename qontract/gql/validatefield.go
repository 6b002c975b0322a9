package gql

import (
	"fmt"
	"slices"
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
