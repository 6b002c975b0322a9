package gql

// parseDirectives parses zero or more directives. If constant is true, variables are not
// allowed in their arguments.
func (p *parser) parseDirectives(constant bool) []*directive {
	var list []*directive
	for p.atPunctuator("@") {
		d := &directive{pos: p.token.start}
		p.advance()
		d.name, _ = p.parseName()
		d.arguments = p.parseArguments(constant)
		list = append(list, d)
	}
	return list
}

func (p *parser) parseArguments(constant bool) []*argument {
	var list []*argument
	p.parseOptionalList("(", ")", func() { list = append(list, p.parseArgument(constant)) })
	return list
}

// parseArgument parses an argument, or a field of an object literal.
func (p *parser) parseArgument(constant bool) *argument {
	a := &argument{}
	a.name, a.pos = p.parseName()
	p.expect(":")
	a.value = p.parseValue(constant)
	return a
}

// reservedWords are the names that are literals of their own and cannot be enum values.
var reservedWords = map[string]valueKind{"true": valueBoolean, "false": valueBoolean, "null": valueNull}

// parseValue parses a literal or the use of a variable.
func (p *parser) parseValue(constant bool) *valueNode {
	v := &valueNode{pos: p.token.start, raw: p.token.value}
	switch p.token.kind {
	case tokenInt:
		v.kind = valueInt
	case tokenFloat:
		v.kind = valueFloat
	case tokenString:
		v.kind = valueString
	case tokenBlockString:
		v.kind = valueBlockString
	case tokenName:
		v.kind = valueEnum
		if kind, ok := reservedWords[v.raw]; ok {
			v.kind = kind
		}
	default:
		p.parseCompoundValue(v, constant)
		return v
	}
	p.advance()
	return v
}

// parseCompoundValue parses a value that begins with a punctuator: a list, an object or a
// variable.
func (p *parser) parseCompoundValue(v *valueNode, constant bool) {
	v.raw = ""
	p.enterLevel()
	defer p.leaveLevel()
	switch {
	case p.skip("["):
		v.kind = valueList
		for p.err == nil && !p.skip("]") {
			v.items = append(v.items, p.parseValue(constant))
		}
	case p.skip("{"):
		v.kind = valueObject
		for p.err == nil && !p.skip("}") {
			v.fields = append(v.fields, p.parseArgument(constant))
		}
	case p.atPunctuator("$"):
		p.parseVariableUse(v, constant)
	default:
		p.failUnexpected(&p.token)
	}
}

// parseVariableUse parses the use of a variable. It is an error if the value must be
// constant.
func (p *parser) parseVariableUse(v *valueNode, constant bool) {
	dollar := p.token
	p.advance()
	switch {
	case constant && p.err == nil && p.token.kind == tokenName:
		p.fail(dollar.start, `Unexpected variable "$%s" in constant value.`, p.token.value)
	case constant:
		p.failUnexpected(&dollar)
	}
	v.kind = valueVariable
	v.raw, _ = p.parseName()
}
