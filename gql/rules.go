package gql

import (
	"fmt"
	"slices"
)

// directives applies the rules to the uses of directives at a place. The field
// is the one that the place is on, or below.
func (v *validator) validateDirectives(list []*directive, place string, field *fieldDef) {
	for _, d := range list {
		v.validateDirective(d, place, field)
	}
}

func (v *validator) validateDirective(d *directive, place string, field *fieldDef) {
	def, own := v.schema.directiveNamed(d.name), v.directiveDefinitions[d.name]
	v.checkDirectiveExists(d, place)
	v.checkDirectiveArguments(d, def, own)
	v.checkUniqueArguments(d.arguments)
	var args []*argDef
	if def != nil {
		args = def.args
	} else if field != nil {
		args = field.args // the arguments of a directive that nobody knows count as those of the field
	}
	for _, a := range d.arguments {
		v.validateValue(a.value, findArgument(args, a.name).expectedType(), false)
	}
	v.checkRequiredDirectiveArguments(d, def, own)
}

// knownDirective checks that a directive exists and may stand at a place.
func (v *validator) checkDirectiveExists(d *directive, place string) {
	def, own := v.schema.directiveNamed(d.name), v.directiveDefinitions[d.name]
	var places []string
	switch {
	case own != nil:
		places = own.allowedLocations
	case def != nil:
		places = def.locations
	default:
		v.report(fmt.Sprintf("Unknown directive \"@%s\".", d.name), d.pos)
		return
	}
	if !slices.Contains(places, place) {
		v.report(fmt.Sprintf("Directive \"@%s\" may not be used on %s.", d.name, place), d.pos)
	}
}

// directiveArguments checks that the arguments of a directive exist.
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

func argNames(args []*argDef) []string {
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = a.name
	}
	return names
}

// requiredOfDirective checks that a directive has the arguments that it needs.
func (v *validator) checkRequiredDirectiveArguments(d *directive, def *directiveDef, own *typeSystemNode) {
	given := func(name string) bool {
		return slices.ContainsFunc(d.arguments, func(a *argument) bool { return a.name == name })
	}
	missing := func(name, typ string) {
		v.report(fmt.Sprintf("Directive \"@%s\" argument %q of type %q is required, but it was not provided.", d.name, name, typ), d.pos)
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

// lastArguments returns the required arguments of a directive's definition; of
// one name the last, in the place of the first.
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

// fieldArgument applies the rules to an argument of a field.
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

// requiredArguments checks that a field has the arguments that it needs.
func (v *validator) checkRequiredArguments(n *fieldNode, def *fieldDef) {
	for _, a := range def.args {
		if a.required && a.defaultValue == nil && !slices.ContainsFunc(n.arguments, func(given *argument) bool { return given.name == a.name }) {
			v.report(fmt.Sprintf("Field %q argument %q of type %q is required, but it was not provided.", def.name, a.name, a.typeString()), n.pos)
		}
	}
}

// standardTypes are the names of types that a type system definition may use
// although the schema does not have them.
var standardTypeNames = []string{
	"String", "Int", "Float", "Boolean", "ID", "__Schema", "__Directive", "__DirectiveLocation", "__Type", "__Field",
	"__InputValue", "__EnumValue", "__TypeKind",
}

// knownType checks that a type exists.
func (v *validator) checkTypeExists(t *typeNode, system bool) {
	if v.schema.types[t.name] != nil || v.tooManyErrors {
		return
	}
	v.listTypes()
	if v.definedTypes[t.name] || system && slices.Contains(standardTypeNames, t.name) {
		return
	}
	options := v.typeNames
	if system {
		options = slices.Concat(standardTypeNames, options)
	}
	v.report(fmt.Sprintf("Unknown type %q.", t.name)+didYouMean("", v.suggester.suggest(t.name, options)), t.pos)
}

// gatherTypes lists the types of the schema and those that the document
// defines.
func (v *validator) listTypes() {
	if v.definedTypes != nil {
		return
	}
	v.definedTypes = map[string]bool{}
	for _, t := range v.schema.typeList {
		v.typeNames = append(v.typeNames, t.name)
	}
	for _, def := range v.doc.definitions {
		n, ok := def.(*typeSystemNode)
		if !ok || n.extends || n.keyword == "schema" || n.keyword == "directive" {
			continue
		}
		v.definedTypes[n.name] = true
		v.typeNames = append(v.typeNames, n.name)
	}
}

// fieldSuggestion words what a field that does not exist may have been meant
// to be.
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

// fragmentTypes returns the types that have a field which an interface has not,
// those first that most of its object types have in common.
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
		case a.kind == kindInterface && a != b && b.isSubtypeOf(a):
			return -1
		case b.kind == kindInterface && a != b && a.isSubtypeOf(b):
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

// insertionSort sorts by binary insertion, as JavaScript does with short lists:
// an order that is not one, like that of types and their interfaces, then still
// has the result that it has there.
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
