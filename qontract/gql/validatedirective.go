package gql

import (
	"fmt"
	"slices"
)

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
