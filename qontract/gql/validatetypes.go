package gql

import (
	"fmt"
	"slices"
)

// refuseTypeSystem reports all type system definitions, and records the directives that
// they define.
func (v *validator) refuseTypeSystem() {
	for _, def := range v.doc.definitions {
		n, ok := def.(*typeSystemNode)
		if !ok {
			continue
		}
		name := "schema"
		if n.keyword != "schema" {
			name = `"` + n.name + `"`
		}
		v.report(fmt.Sprintf("The %s definition is not executable.", name), n.pos)
		if n.keyword == "directive" {
			if v.directiveDefinitions == nil {
				v.directiveDefinitions = map[string]*typeSystemNode{}
			}
			v.directiveDefinitions[n.name] = n
		}
	}
}

// validateTypeSystemNode validates a type system definition. The request is rejected
// anyway, but qontract-server reports these errors too.
func (v *validator) validateTypeSystemNode(n *typeSystemNode) {
	v.checkUniqueDirectivesOfDefinition(n)
	for _, part := range n.parts {
		switch part := part.(type) {
		case *directive:
			v.validateDirective(part, n.location, nil)
		case *typeNode:
			v.checkTypeExists(part.innermost(), true)
		case *valueNode:
			v.validateValue(part, expectedType{}, false)
		case *typeSystemNode:
			v.validateTypeSystemNode(part)
		}
	}
}

// checkTypeExists checks that a type exists. In a type system definition (system) the
// standard types may be used even if the schema does not have them.
func (v *validator) checkTypeExists(t *typeNode, inTypeSystem bool) {
	if v.schema.types[t.name] != nil || v.tooManyErrors {
		return
	}
	v.listTypes()
	if v.definedTypes[t.name] || inTypeSystem && slices.Contains(standardTypeNames, t.name) {
		return
	}
	options := v.typeNames
	if inTypeSystem {
		options = slices.Concat(standardTypeNames, options)
	}
	v.report(fmt.Sprintf("Unknown type %q.", t.name)+didYouMean("", v.suggester.suggest(t.name, options)), t.pos)
}

// standardTypeNames are the types that GraphQL itself defines.
var standardTypeNames = []string{
	"String", "Int", "Float", "Boolean", "ID", "__Schema", "__Directive", "__DirectiveLocation", "__Type", "__Field",
	"__InputValue", "__EnumValue", "__TypeKind",
}

// listTypes lists the types of the schema and of the document, unless this was done before.
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
