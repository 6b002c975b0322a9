package gql

import "fmt"

// maxErrors is the number of errors in a document after which no more are
// looked for.
const maxErrors = 100

// A scope is what an operation or a fragment uses by itself.
type scope struct {
	uses    []use
	spreads []*spreadNode
	round   int // of the last operation that reached it, from 1
}

// A use is that of a variable, with the type that is expected there: nil when
// any value will do.
type use struct {
	node     *valueNode
	expected *argDef
}

// A validator applies the rules of graphql-js 16 to a document.
type validator struct {
	*compiler
	fragments map[string]*fragment // the first of each name
	scopes    map[any]*scope       // by *operation and *fragment
	scope     *scope               // of the definition that is walked
	round     int
	steps     int
}

// validate notes what is wrong with the document. The last two rules need a
// document in which all fragments and types are known.
func (c *compiler) validate() {
	v := &validator{compiler: c, fragments: map[string]*fragment{}, scopes: map[any]*scope{}}
	for _, f := range c.doc.foreign {
		c.fail(CodeValidation, fmt.Sprintf("The %s definition is not executable.", f.name), f.pos)
	}
	if len(c.doc.foreign) > 0 {
		return
	}
	for _, f := range c.doc.fragments {
		if v.fragments[f.name] == nil {
			v.fragments[f.name] = f
		}
	}
	v.names()
	for _, op := range c.doc.operations {
		v.operation(op)
	}
	for _, f := range c.doc.fragments {
		v.fragment(f)
	}
	v.cycles()
	for _, op := range c.doc.operations {
		v.variablesOf(op)
	}
	v.unusedFragments()
	if len(c.errors) > 0 {
		return
	}
	if v.size() {
		v.introspectionDepth()
		v.overlaps()
	}
}

func (v *validator) fail(message string, at ...int) {
	switch n := len(v.errors); {
	case n < maxErrors:
		v.compiler.fail(CodeValidation, message, at...)
	case n == maxErrors:
		v.compiler.fail(CodeValidation, "Too many validation errors, error limit reached. Validation aborted.")
	}
}

// unique reports names that occur more than once, with all their positions.
func (v *validator) unique(what string, names []string, at []int) {
	if len(names) < 2 {
		return
	}
	places := make(map[string][]int, len(names))
	for i, name := range names {
		places[name] = append(places[name], at[i])
	}
	for i, name := range names {
		if list := places[name]; len(list) > 1 && list[0] == at[i] {
			v.fail(fmt.Sprintf("There can be only one %s named %q.", what, name), list...)
		}
	}
}

// names checks the names of operations and fragments.
func (v *validator) names() {
	var names []string
	var at []int
	for _, op := range v.doc.operations {
		if op.name == "" {
			if len(v.doc.operations) > 1 {
				v.fail("This anonymous operation must be the only defined operation.", op.pos)
			}
			continue
		}
		names, at = append(names, op.name), append(at, op.namePos)
	}
	v.unique("operation", names, at)
	names, at = nil, nil
	for _, f := range v.doc.fragments {
		names, at = append(names, f.name), append(at, f.namePos)
	}
	v.unique("fragment", names, at)
}

func (v *validator) enter(definition any) {
	v.scope = &scope{}
	v.scopes[definition] = v.scope
}

func (v *validator) operation(op *operation) {
	v.enter(op)
	root := v.s.query
	location := "QUERY"
	switch op.kind {
	case "mutation":
		root, location = nil, "MUTATION"
	case "subscription":
		root, location = nil, "SUBSCRIPTION"
	}
	v.variables(op)
	v.directives(op.directives, location)
	v.set(op.set, root)
}

func (v *validator) fragment(f *fragment) {
	v.enter(f)
	t := v.condition(f.on, f.onPos, fmt.Sprintf("Fragment %q", f.name))
	v.directives(f.directives, "FRAGMENT_DEFINITION")
	v.set(f.set, t)
}

// condition returns the type that a fragment is for, or nil when it cannot have
// fields.
func (v *validator) condition(on string, at int, who string) *typeDef {
	t := v.s.types[on]
	switch {
	case t == nil:
		v.unknownType(on, at)
	case t.leaf():
		v.fail(fmt.Sprintf("%s cannot condition on non composite type %q.", who, on), at)
		return nil
	}
	return t
}

func (v *validator) unknownType(name string, at int) {
	names := make([]string, len(v.s.order))
	for i, t := range v.s.order {
		names[i] = t.name
	}
	v.fail(fmt.Sprintf("Unknown type %q.", name)+didYouMean("", suggest(name, names)), at)
}

// set checks a selection set on a type, which is nil when it is not known.
func (v *validator) set(set *selectionSet, t *typeDef) {
	for _, s := range set.selections {
		switch n := s.(type) {
		case *fieldNode:
			v.field(n, t)
		case *inlineNode:
			v.inline(n, t)
		case *spreadNode:
			v.spread(n, t)
		}
	}
}

func (v *validator) field(n *fieldNode, t *typeDef) {
	var def *fieldDef
	var below *typeDef
	if t != nil {
		if def = v.s.find(t, n.name); def == nil {
			v.unknownField(n, t)
		}
	}
	var defs []*argDef
	if def != nil {
		defs = def.args
		v.leafs(n, def)
		if !def.typ.leaf() {
			below = def.typ
		}
	}
	v.arguments(n.arguments, defs, func(a *argument) string {
		if def == nil || arg(defs, a.name) != nil {
			return ""
		}
		return fmt.Sprintf("Unknown argument %q on field \"%s.%s\".", a.name, t.name, def.name)
	})
	for _, a := range defs {
		if a.required && a.standard == nil && !given(n.arguments, a.name) {
			v.fail(fmt.Sprintf("Field %q argument %q of type %q is required, but it was not provided.", def.name, a.name, a.typeString()), n.pos)
		}
	}
	v.directives(n.directives, "FIELD")
	if n.set != nil {
		v.set(n.set, below)
	}
}

func given(list []*argument, name string) bool {
	for _, a := range list {
		if a.name == name {
			return true
		}
	}
	return false
}

// leafs checks that a field has a selection when, and only when, its type has
// fields.
func (v *validator) leafs(n *fieldNode, def *fieldDef) {
	switch {
	case def.typ.leaf() && n.set != nil:
		v.fail(fmt.Sprintf("Field %q must not have a selection since type %q has no subfields.", n.name, def.typeString()), n.setPos)
	case !def.typ.leaf() && n.set == nil:
		v.fail(fmt.Sprintf("Field %q of type %q must have a selection of subfields. Did you mean \"%s { ... }\"?",
			n.name, def.typeString(), n.name), n.pos)
	}
}

// inline checks a fragment in place.
func (v *validator) inline(n *inlineNode, t *typeDef) {
	below := t
	if n.on != "" {
		below = v.condition(n.on, n.onPos, "Fragment")
		if t != nil && below != nil && !t.overlaps(below) {
			v.fail(fmt.Sprintf("Fragment cannot be spread here as objects of type %q can never be of type %q.", t.name, below.name), n.pos)
		}
	}
	v.directives(n.directives, "INLINE_FRAGMENT")
	v.set(n.set, below)
}

// spread checks the use of a named fragment.
func (v *validator) spread(n *spreadNode, t *typeDef) {
	v.scope.spreads = append(v.scope.spreads, n)
	v.directives(n.directives, "FRAGMENT_SPREAD")
	f := v.fragments[n.name]
	if f == nil {
		v.fail(fmt.Sprintf("Unknown fragment %q.", n.name), n.namePos)
		return
	}
	on := v.s.types[f.on]
	if t != nil && on != nil && !on.leaf() && !t.overlaps(on) {
		v.fail(fmt.Sprintf("Fragment %q cannot be spread here as objects of type %q can never be of type %q.", n.name, t.name, on.name), n.pos)
	}
}
