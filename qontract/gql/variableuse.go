package gql

// A variableUse is one use of a variable, with the type that is expected there.
type variableUse struct {
	node       *valueNode
	expected   expectedType
	hasDefault bool // the argument around the variable has a default value
}

// A variableUseCollector collects the uses of variables in a selection set. It does not
// enter fragment spreads.
type variableUseCollector struct {
	schema *Schema
	uses   []variableUse
}

func (c *variableUseCollector) collectFromSet(set *selectionSet, parent *typeDef, field *fieldDef) {
	for _, selection := range set.selections {
		switch n := selection.(type) {
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

func (c *variableUseCollector) collectFromValue(n *valueNode, expected expectedType, hasDefault bool) {
	switch n.kind {
	case valueVariable:
		c.uses = append(c.uses, variableUse{n, expected, hasDefault})
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
