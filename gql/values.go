package gql

import "fmt"

// An inputType is what is expected of a value: a type as it is written, with
// the scalar or enumeration it is made of. Where that is nil, nothing is
// expected.
type expectedType struct {
	named   *typeDef
	written *typeNode
}

// input returns what is expected of an argument, which may be nil.
func (a *argDef) expectedType() expectedType {
	if a == nil {
		return expectedType{}
	}
	return expectedType{a.typ, &typeNode{name: a.typ.name, nonNull: a.required}}
}

// item returns what is expected of the items of a list.
func (t expectedType) itemType() expectedType {
	switch {
	case t.named == nil:
		return t
	case t.written.item != nil:
		t.written = t.written.item
	case t.written.nonNull:
		t.written = &typeNode{name: t.written.name}
	}
	return t
}

// value applies the rules to a literal. Inside of one that was already checked
// as a whole only the names of fields are looked at.
func (v *validator) validateValue(n *valueNode, expected expectedType, checked bool) {
	switch n.kind {
	case valueVariable:
	case valueList:
		item := expected.itemType()
		if !checked && (expected.named == nil || expected.written.item == nil) {
			v.checkLiteral(n, item)
			checked = true
		}
		for _, child := range n.items {
			v.validateValue(child, item, checked)
		}
	case valueObject:
		if !checked {
			v.checkLiteral(n, expected)
		}
		u := fieldNames{list: n.fields}
		for i, f := range n.fields {
			if first := u.firstPosition(i); first >= 0 {
				v.report(fmt.Sprintf("There can be only one input field named %q.", f.name), first, f.pos)
			}
			v.validateValue(f.value, expectedType{}, true)
		}
	case valueNull:
		if !checked && expected.named != nil && expected.written.nonNull {
			v.report(fmt.Sprintf("Expected value of type %q, found null.", expected.written), n.pos)
		}
	default:
		if !checked {
			v.checkLiteral(n, expected)
		}
	}
}

// literal checks that a literal is one of the expected scalar or enumeration.
func (v *validator) checkLiteral(n *valueNode, expected expectedType) {
	if expected.named == nil || v.tooManyErrors {
		return
	}
	if _, err := expected.named.parseLiteral(n, nil); err != nil {
		v.report(err.Error(), n.pos)
	}
}

// A use is the use of a variable.
type variableUse struct {
	node       *valueNode
	expected   expectedType
	hasDefault bool // the argument has a default value
}

// gatherer finds the uses of variables in a selection set, with what is
// expected of them.
type variableUseCollector struct {
	schema *Schema
	uses   []variableUse
}

func (c *variableUseCollector) collectFromSet(set *selectionSet, parent *typeDef, field *fieldDef) {
	for _, s := range set.selections {
		switch n := s.(type) {
		case *fieldNode:
			c.collectFromField(n, parent)
		case *spreadNode:
			c.collectFromDirectives(n.directives, field)
		case *inlineNode:
			c.collectFromDirectives(n.directives, field)
			on := parent
			if n.typeCondition != "" {
				on = compositeType(c.schema.types[n.typeCondition])
			}
			c.collectFromSet(n.selectionSet, on, field)
		}
	}
}

func (c *variableUseCollector) collectFromField(n *fieldNode, parent *typeDef) {
	var def *fieldDef
	if parent != nil {
		def = c.schema.fieldNamed(parent, n.name)
	}
	var on *typeDef
	if def != nil {
		on = compositeType(def.typ)
		c.collectFromArguments(n.arguments, def.args)
	} else {
		c.collectFromArguments(n.arguments, nil)
	}
	c.collectFromDirectives(n.directives, def)
	if n.selectionSet != nil {
		c.collectFromSet(n.selectionSet, on, def)
	}
}

func (c *variableUseCollector) collectFromDirectives(list []*directive, field *fieldDef) {
	for _, d := range list {
		switch def := c.schema.directiveNamed(d.name); {
		case def != nil:
			c.collectFromArguments(d.arguments, def.args)
		case field != nil:
			c.collectFromArguments(d.arguments, field.args)
		default:
			c.collectFromArguments(d.arguments, nil)
		}
	}
}

func (c *variableUseCollector) collectFromArguments(list []*argument, defs []*argDef) {
	for _, a := range list {
		switch a.value.kind {
		case valueVariable, valueList, valueObject:
			def := findArgument(defs, a.name)
			c.collectFromValue(a.value, def.expectedType(), def != nil && def.defaultValue != nil)
		}
	}
}

func (c *variableUseCollector) collectFromValue(n *valueNode, expected expectedType, standard bool) {
	switch n.kind {
	case valueVariable:
		c.uses = append(c.uses, variableUse{n, expected, standard})
	case valueList:
		for _, item := range n.items {
			c.collectFromValue(item, expected.itemType(), false)
		}
	case valueObject:
		for _, f := range n.fields {
			c.collectFromValue(f.value, expectedType{}, false)
		}
	}
}
