package gql

import (
	"fmt"
	"slices"
)

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
