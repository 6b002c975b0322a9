package gql

import "fmt"

// maxErrors is the number of errors after which validation ends.
const maxErrors = 100

// A validator goes once through a document and applies the rules of graphql-js
// 16 at every node in their order there, so errors come in the same order:
// first what is wrong with a node itself, then what is wrong below it, then
// what only its end shows.
type validator struct {
	s      *Schema
	doc    *document
	errors []Error
	over   bool // there are too many errors

	fragments map[string]*fragment // of one name the last
	system    map[string]*systemNode
	meter     meter

	operationNames map[string]int // where the first of a name is
	fragmentNames  map[string]int
	typeNames      []string // made on first use
	defined        map[string]bool
	marks          map[string]map[string]int // directives of type system definitions, by what is defined

	spreads  map[*selectionSet][]*spreadNode
	uses     map[*selectionSet][]use
	cycles   cycles
	merges   merges
	fallback bool // whether fields conflict was not found out

	metaSteps int  // of looking how deep introspection goes
	tooDeep   bool // inside of introspection that is too deep
}

// validate applies all rules.
func (s *Schema) validate(doc *document) *validator {
	v := &validator{s: s, doc: doc}
	for _, f := range doc.fragments {
		if v.fragments == nil {
			v.fragments = make(map[string]*fragment, len(doc.fragments))
		}
		v.fragments[f.name] = f
	}
	v.executable()
	for _, def := range doc.definitions {
		switch def := def.(type) {
		case *operation:
			v.operation(def)
		case *fragment:
			v.fragment(def)
		case *systemNode:
			v.systemNode(def)
		}
	}
	v.unusedFragments()
	return v
}

// report notes an error at positions of the document.
func (v *validator) report(message string, at ...int) {
	if v.over {
		return
	}
	e := Error{Code: CodeValidation, Message: message}
	if v.over = len(v.errors) >= maxErrors; v.over {
		e.Message, at = "Too many validation errors, error limit reached. Validation aborted.", nil
	}
	for _, pos := range at {
		e.Locations = append(e.Locations, v.doc.text.locate(pos))
	}
	v.errors = append(v.errors, e)
}

// executable refuses definitions of the type system.
func (v *validator) executable() {
	for _, def := range v.doc.definitions {
		n, ok := def.(*systemNode)
		if !ok {
			continue
		}
		name := "schema"
		if n.keyword != "schema" {
			name = `"` + n.name + `"`
		}
		v.report(fmt.Sprintf("The %s definition is not executable.", name), n.pos)
		if n.keyword == "directive" {
			if v.system == nil {
				v.system = map[string]*systemNode{}
			}
			v.system[n.name] = n
		}
	}
}

func (v *validator) operation(op *operation) {
	v.uniqueOperation(op)
	if op.name == "" && len(v.doc.operations) > 1 {
		v.report("This anonymous operation must be the only defined operation.", op.pos)
	}
	v.uniqueVariables(op)
	v.uniqueDirectives(op.directives)
	for _, def := range op.variables {
		v.variable(def)
	}
	v.directives(op.directives, operationPlaces[op.kind], nil)
	v.set(op.set, v.s.root(op))
	v.variablesOf(op)
}

var operationPlaces = map[string]string{"query": "QUERY", "mutation": "MUTATION", "subscription": "SUBSCRIPTION"}

// root returns the type that an operation starts at. There are no mutations and
// no subscriptions.
func (s *Schema) root(op *operation) *typeDef {
	if op.kind == "query" {
		return s.query
	}
	return nil
}

func (v *validator) variable(def *variable) {
	named := v.s.types[def.typ.named().name]
	if named != nil && !named.leaf() {
		v.report(fmt.Sprintf("Variable \"$%s\" cannot be non-input type \"%s\".", def.name, def.typ), def.typ.pos)
		named = nil
	}
	v.uniqueDirectives(def.directives)
	v.knownType(def.typ.named(), false)
	if def.standard != nil {
		v.value(def.standard, inputType{named, def.typ}, false)
	}
	v.directives(def.directives, "VARIABLE_DEFINITION", nil)
}

func (v *validator) fragment(f *fragment) {
	on := v.s.types[f.on]
	if on != nil && on.leaf() {
		v.report(fmt.Sprintf("Fragment %q cannot condition on non composite type %q.", f.name, f.on), f.onPos)
	}
	v.uniqueFragment(f)
	v.findCycles(f)
	v.uniqueDirectives(f.directives)
	v.knownType(&typeNode{pos: f.onPos, name: f.on}, false)
	v.directives(f.directives, "FRAGMENT_DEFINITION", nil)
	v.set(f.set, composite(on))
}

// composite returns the type if its values have fields.
func composite(t *typeDef) *typeDef {
	if t == nil || t.leaf() {
		return nil
	}
	return t
}

// set applies the rules to a selection set on a type, or on none. The field is
// the one that the set is of.
func (v *validator) set(set *selectionSet, parent *typeDef) {
	v.setOf(set, parent, nil)
}

func (v *validator) setOf(set *selectionSet, parent *typeDef, field *fieldDef) {
	v.overlaps(set, parent)
	for _, s := range set.selections {
		if v.over {
			return
		}
		switch n := s.(type) {
		case *fieldNode:
			v.field(n, parent)
		case *spreadNode:
			v.spread(n, parent, field)
		case *inlineNode:
			v.inline(n, parent, field)
		}
	}
}

func (v *validator) field(n *fieldNode, parent *typeDef) {
	var def *fieldDef
	if parent != nil {
		def = v.s.find(parent, n.name)
		v.knownField(n, parent, def)
	}
	v.uniqueDirectives(n.directives)
	v.uniqueArguments(n.arguments)
	deep := v.introspects(n)
	for _, a := range n.arguments {
		v.fieldArgument(a, parent, def)
	}
	v.directives(n.directives, "FIELD", def)
	if n.set != nil {
		var on *typeDef
		if def != nil {
			on = composite(def.typ)
		}
		v.setOf(n.set, on, def)
	}
	if def != nil {
		v.requiredArguments(n, def)
	}
	if deep {
		v.tooDeep = false
	}
}

// knownField checks that a field exists, and has a selection or not.
func (v *validator) knownField(n *fieldNode, parent *typeDef, def *fieldDef) {
	switch {
	case def == nil:
		v.report(fmt.Sprintf("Cannot query field %q on type %q.", n.name, parent.name)+v.fieldSuggestion(parent, n.name), n.pos)
	case def.typ.leaf() && n.set != nil:
		v.report(fmt.Sprintf("Field %q must not have a selection since type %q has no subfields.", n.name, def.typeString()), n.set.pos)
	case !def.typ.leaf() && n.set == nil:
		v.report(fmt.Sprintf("Field %q of type %q must have a selection of subfields. Did you mean \"%s { ... }\"?",
			n.name, def.typeString(), n.name), n.pos)
	}
}

func (v *validator) spread(n *spreadNode, parent *typeDef, field *fieldDef) {
	f := v.fragments[n.name]
	if f == nil {
		v.report(fmt.Sprintf("Unknown fragment %q.", n.name), n.namePos)
	} else if on := composite(v.s.types[f.on]); on != nil && parent != nil && !on.overlaps(parent) {
		v.report(fmt.Sprintf("Fragment %q cannot be spread here as objects of type %q can never be of type %q.", n.name, parent.name, on.name), n.pos)
	}
	v.uniqueDirectives(n.directives)
	v.directives(n.directives, "FRAGMENT_SPREAD", field)
}

func (v *validator) inline(n *inlineNode, parent *typeDef, field *fieldDef) {
	on := parent
	if n.on != "" {
		on = v.s.types[n.on]
		if on != nil && on.leaf() {
			v.report(fmt.Sprintf("Fragment cannot condition on non composite type %q.", n.on), n.onPos)
			on = nil
		}
	}
	if on != nil && parent != nil && !on.overlaps(parent) {
		v.report(fmt.Sprintf("Fragment cannot be spread here as objects of type %q can never be of type %q.", parent.name, on.name), n.pos)
	}
	v.uniqueDirectives(n.directives)
	if n.on != "" {
		v.knownType(&typeNode{pos: n.onPos, name: n.on}, false)
	}
	v.directives(n.directives, "INLINE_FRAGMENT", field)
	v.setOf(n.set, on, field)
}

// overlaps tells whether a value can be of both types.
func (t *typeDef) overlaps(other *typeDef) bool {
	if t == other {
		return true
	}
	for _, object := range t.objects() {
		if object.is(other) {
			return true
		}
	}
	return false
}

// systemNode applies the rules to a definition of the type system, which is
// wrong anyway.
func (v *validator) systemNode(n *systemNode) {
	v.uniqueDirectivesOf(n)
	for _, part := range n.parts {
		switch part := part.(type) {
		case *directive:
			v.directive(part, n.place, nil)
		case *typeNode:
			v.knownType(part.named(), true)
		case *valueNode:
			v.value(part, inputType{}, false)
		case *systemNode:
			v.systemNode(part)
		}
	}
}
