package gql

import "fmt"

// An inputType is what is expected of a value: a type as it is written, with
// the scalar or enumeration it is made of. Where that is nil, nothing is
// expected.
type inputType struct {
	named *typeDef
	typ   *typeNode
}

// input returns what is expected of an argument, which may be nil.
func (a *argDef) input() inputType {
	if a == nil {
		return inputType{}
	}
	return inputType{a.typ, &typeNode{name: a.typ.name, nonNull: a.required}}
}

// item returns what is expected of the items of a list.
func (t inputType) item() inputType {
	switch {
	case t.named == nil:
		return t
	case t.typ.elem != nil:
		t.typ = t.typ.elem
	case t.typ.nonNull:
		t.typ = &typeNode{name: t.typ.name}
	}
	return t
}

// value applies the rules to a literal. Inside of one that was already checked
// as a whole only the names of fields are looked at.
func (v *validator) value(n *valueNode, expected inputType, checked bool) {
	switch n.kind {
	case valueVariable:
	case valueList:
		item := expected.item()
		if !checked && (expected.named == nil || expected.typ.elem == nil) {
			v.literal(n, item)
			checked = true
		}
		for _, child := range n.items {
			v.value(child, item, checked)
		}
	case valueObject:
		if !checked {
			v.literal(n, expected)
		}
		u := uniqueFields{list: n.fields}
		for i, f := range n.fields {
			if first := u.first(i); first >= 0 {
				v.report(fmt.Sprintf("There can be only one input field named %q.", f.name), first, f.pos)
			}
			v.value(f.value, inputType{}, true)
		}
	case valueNull:
		if !checked && expected.named != nil && expected.typ.nonNull {
			v.report(fmt.Sprintf("Expected value of type %q, found null.", expected.typ), n.pos)
		}
	default:
		if !checked {
			v.literal(n, expected)
		}
	}
}

// literal checks that a literal is one of the expected scalar or enumeration.
func (v *validator) literal(n *valueNode, expected inputType) {
	if expected.named == nil || v.over {
		return
	}
	if _, err := expected.named.parseLiteral(n, nil); err != nil {
		v.report(err.Error(), n.pos)
	}
}

// A use is the use of a variable.
type use struct {
	node     *valueNode
	expected inputType
	standard bool // the argument has a default value
}

// gatherer finds the uses of variables in a selection set, with what is
// expected of them.
type gatherer struct {
	s    *Schema
	uses []use
}

func (g *gatherer) set(set *selectionSet, parent *typeDef, field *fieldDef) {
	for _, s := range set.selections {
		switch n := s.(type) {
		case *fieldNode:
			g.field(n, parent)
		case *spreadNode:
			g.directives(n.directives, field)
		case *inlineNode:
			g.directives(n.directives, field)
			on := parent
			if n.on != "" {
				on = composite(g.s.types[n.on])
			}
			g.set(n.set, on, field)
		}
	}
}

func (g *gatherer) field(n *fieldNode, parent *typeDef) {
	var def *fieldDef
	if parent != nil {
		def = g.s.find(parent, n.name)
	}
	var on *typeDef
	if def != nil {
		on = composite(def.typ)
		g.arguments(n.arguments, def.args)
	} else {
		g.arguments(n.arguments, nil)
	}
	g.directives(n.directives, def)
	if n.set != nil {
		g.set(n.set, on, def)
	}
}

func (g *gatherer) directives(list []*directive, field *fieldDef) {
	for _, d := range list {
		switch def := g.s.directive(d.name); {
		case def != nil:
			g.arguments(d.arguments, def.args)
		case field != nil:
			g.arguments(d.arguments, field.args)
		default:
			g.arguments(d.arguments, nil)
		}
	}
}

func (g *gatherer) arguments(list []*argument, defs []*argDef) {
	for _, a := range list {
		switch a.value.kind {
		case valueVariable, valueList, valueObject:
			def := arg(defs, a.name)
			g.value(a.value, def.input(), def != nil && def.standard != nil)
		}
	}
}

func (g *gatherer) value(n *valueNode, expected inputType, standard bool) {
	switch n.kind {
	case valueVariable:
		g.uses = append(g.uses, use{n, expected, standard})
	case valueList:
		for _, item := range n.items {
			g.value(item, expected.item(), false)
		}
	case valueObject:
		for _, f := range n.fields {
			g.value(f.value, inputType{}, false)
		}
	}
}
