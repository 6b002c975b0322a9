package gql

import "fmt"

// maxErrors is the number of errors after which validation stops.
const maxErrors = 100

// A validator walks once through a document and applies the rules of graphql-js 16 at every
// node, in the order of graphql-js. So the errors come in the same order: first errors of a
// node itself, then errors below it, then errors that only show at its end.
type validator struct {
	schema        *Schema
	doc           *document
	errors        []Error
	tooManyErrors bool // maxErrors is reached: no more errors are recorded

	fragments            map[string]*fragment       // by name; the last one if a name is repeated
	directiveDefinitions map[string]*typeSystemNode // directives that the document itself defines
	suggester            nameSuggester

	operationNames    map[string]int            // position of the first operation of each name
	fragmentNames     map[string]int            // position of the first fragment of each name
	typeNames         []string                  // filled by listTypes
	definedTypes      map[string]bool           // types that the document itself defines; filled by listTypes
	directivesOfTypes map[string]map[string]int // type name → directive name → position of the first use

	spreadCache  map[*selectionSet][]*spreadNode
	useCache     map[*selectionSet][]variableUse
	cycles       cycleSearch
	conflicts    conflictSearch
	tooManyPairs bool // the search for conflicts stopped without a result

	introspectionSteps  int  // steps of the search for deep introspection
	inDeepIntrospection bool // the current node is below a field that was reported as too deep
}

// applyRules validates a document and returns the validator with the errors.
func (s *Schema) applyRules(doc *document) *validator {
	v := &validator{schema: s, doc: doc}
	for _, f := range doc.fragments {
		if v.fragments == nil {
			v.fragments = make(map[string]*fragment, len(doc.fragments))
		}
		v.fragments[f.name] = f
	}
	v.refuseTypeSystem()
	for _, def := range doc.definitions {
		switch def := def.(type) {
		case *operation:
			v.validateOperation(def)
		case *fragment:
			v.validateFragment(def)
		case *typeSystemNode:
			v.validateTypeSystemNode(def)
		}
	}
	v.checkUnusedFragments()
	return v
}

// report records an error at some positions of the document.
func (v *validator) report(message string, at ...int) {
	if v.tooManyErrors {
		return
	}
	e := Error{Code: CodeValidation, Message: message}
	if v.tooManyErrors = len(v.errors) >= maxErrors; v.tooManyErrors {
		e.Message, at = "Too many validation errors, error limit reached. Validation aborted.", nil
	}
	for _, pos := range at {
		e.Locations = append(e.Locations, v.doc.source.locate(pos))
	}
	v.errors = append(v.errors, e)
}

func (v *validator) validateOperation(op *operation) {
	v.checkUniqueOperation(op)
	if op.name == "" && len(v.doc.operations) > 1 {
		v.report("This anonymous operation must be the only defined operation.", op.pos)
	}
	v.checkUniqueVariables(op)
	v.checkUniqueDirectives(op.directives)
	for _, def := range op.variables {
		v.validateVariableDefinition(def)
	}
	v.validateDirectives(op.directives, operationLocations[op.kind], nil)
	v.validateDefinitionSet(op.selectionSet, v.schema.rootType(op))
	v.checkVariables(op)
}

var operationLocations = map[string]string{"query": "QUERY", "mutation": "MUTATION", "subscription": "SUBSCRIPTION"}

// rootType returns the type at which an operation starts. It is nil for mutations and
// subscriptions, which no schema has.
func (s *Schema) rootType(op *operation) *typeDef {
	if op.kind == "query" {
		return s.query
	}
	return nil
}

func (v *validator) validateVariableDefinition(def *variableDefinition) {
	named := v.schema.types[def.typ.innermost().name]
	if named != nil && !named.isLeaf() {
		v.report(fmt.Sprintf("Variable \"$%s\" cannot be non-input type \"%s\".", def.name, def.typ), def.typ.pos)
		named = nil
	}
	v.checkUniqueDirectives(def.directives)
	v.checkTypeExists(def.typ.innermost(), false)
	if def.defaultValue != nil {
		v.validateValue(def.defaultValue, expectedType{named, def.typ}, false)
	}
	v.validateDirectives(def.directives, "VARIABLE_DEFINITION", nil)
}

func (v *validator) validateFragment(f *fragment) {
	on := v.schema.types[f.typeCondition]
	if on != nil && on.isLeaf() {
		v.report(fmt.Sprintf("Fragment %q cannot condition on non composite type %q.", f.name, f.typeCondition),
			f.typeConditionPos)
	}
	v.checkUniqueFragment(f)
	v.checkFragmentCycles(f)
	v.checkUniqueDirectives(f.directives)
	v.checkTypeExists(&typeNode{pos: f.typeConditionPos, name: f.typeCondition}, false)
	v.validateDirectives(f.directives, "FRAGMENT_DEFINITION", nil)
	v.validateDefinitionSet(f.selectionSet, compositeType(on))
}

// compositeType returns t if its values have fields, or else nil.
func compositeType(t *typeDef) *typeDef {
	if t == nil || t.isLeaf() {
		return nil
	}
	return t
}

// validateDefinitionSet validates the selection set of an operation or a fragment. parent
// is the type that the set is selected on; it is nil if the type is not known.
func (v *validator) validateDefinitionSet(set *selectionSet, parent *typeDef) {
	v.validateSelectionSet(set, parent, nil)
}

// validateSelectionSet validates a selection set. field is the innermost field around the
// set, or nil.
func (v *validator) validateSelectionSet(set *selectionSet, parent *typeDef, field *fieldDef) {
	v.checkFieldConflicts(set, parent)
	for _, s := range set.selections {
		if v.tooManyErrors {
			return
		}
		switch n := s.(type) {
		case *fieldNode:
			v.validateField(n, parent)
		case *spreadNode:
			v.validateSpread(n, parent, field)
		case *inlineNode:
			v.validateInlineFragment(n, parent, field)
		}
	}
}

func (v *validator) validateSpread(n *spreadNode, parent *typeDef, field *fieldDef) {
	f := v.fragments[n.name]
	if f == nil {
		v.report(fmt.Sprintf("Unknown fragment %q.", n.name), n.namePos)
	} else if on := compositeType(v.schema.types[f.typeCondition]); on != nil && parent != nil &&
		!on.sharesObjectsWith(parent) {
		v.report(fmt.Sprintf("Fragment %q cannot be spread here as objects of type %q can never be of type %q.", n.name,
			parent.name, on.name), n.pos)
	}
	v.checkUniqueDirectives(n.directives)
	v.validateDirectives(n.directives, "FRAGMENT_SPREAD", field)
}

func (v *validator) validateInlineFragment(n *inlineNode, parent *typeDef, field *fieldDef) {
	on := parent
	if n.typeCondition != "" {
		on = v.schema.types[n.typeCondition]
		if on != nil && on.isLeaf() {
			v.report(fmt.Sprintf("Fragment cannot condition on non composite type %q.", n.typeCondition), n.typeConditionPos)
			on = nil
		}
	}
	if on != nil && parent != nil && !on.sharesObjectsWith(parent) {
		v.report(fmt.Sprintf("Fragment cannot be spread here as objects of type %q can never be of type %q.", parent.name,
			on.name), n.pos)
	}
	v.checkUniqueDirectives(n.directives)
	if n.typeCondition != "" {
		v.checkTypeExists(&typeNode{pos: n.typeConditionPos, name: n.typeCondition}, false)
	}
	v.validateDirectives(n.directives, "INLINE_FRAGMENT", field)
	v.validateSelectionSet(n.selectionSet, on, field)
}

// sharesObjectsWith reports whether some object type belongs to both types.
func (t *typeDef) sharesObjectsWith(other *typeDef) bool {
	if t == other {
		return true
	}
	for _, object := range t.objectTypes() {
		if object.isSubtypeOf(other) {
			return true
		}
	}
	return false
}
