package gql

// directives reads the uses of directives. Where they are constant they take
// no variables.
func (p *parser) directives(constant bool) []*directive {
	var list []*directive
	for p.at("@") {
		d := &directive{pos: p.token.start}
		p.advance()
		d.name, _ = p.name()
		d.arguments = p.arguments(constant)
		list = append(list, d)
	}
	return list
}

func (p *parser) arguments(constant bool) []*argument {
	var list []*argument
	p.optional("(", ")", func() { list = append(list, p.argument(constant)) })
	return list
}

// argument reads an argument, or a field of an object.
func (p *parser) argument(constant bool) *argument {
	a := &argument{}
	a.name, a.pos = p.name()
	p.expect(":")
	a.value = p.value(constant)
	return a
}

// words are the names that are no enumeration values.
var words = map[string]valueKind{"true": valueBoolean, "false": valueBoolean, "null": valueNull}

// value reads a literal or the use of a variable.
func (p *parser) value(constant bool) *valueNode {
	v := &valueNode{pos: p.token.start, raw: p.token.value}
	switch p.token.kind {
	case tokenInt:
		v.kind = valueInt
	case tokenFloat:
		v.kind = valueFloat
	case tokenString:
		v.kind = valueString
	case tokenBlock:
		v.kind = valueBlock
	case tokenName:
		v.kind = valueEnum
		if kind, ok := words[v.raw]; ok {
			v.kind = kind
		}
	default:
		p.compound(v, constant)
		return v
	}
	p.advance()
	return v
}

// compound reads a value that begins with a punctuator.
func (p *parser) compound(v *valueNode, constant bool) {
	v.raw = ""
	p.enter()
	defer p.leave()
	switch {
	case p.skip("["):
		v.kind = valueList
		for p.err == nil && !p.skip("]") {
			v.items = append(v.items, p.value(constant))
		}
	case p.skip("{"):
		v.kind = valueObject
		for p.err == nil && !p.skip("}") {
			v.fields = append(v.fields, p.argument(constant))
		}
	case p.at("$"):
		p.use(v, constant)
	default:
		p.unexpected(&p.token)
	}
}

// use reads the use of a variable.
func (p *parser) use(v *valueNode, constant bool) {
	dollar := p.token
	p.advance()
	switch {
	case constant && p.err == nil && p.token.kind == tokenName:
		p.fail(dollar.start, `Unexpected variable "$%s" in constant value.`, p.token.value)
	case constant:
		p.unexpected(&dollar)
	}
	v.kind = valueVariable
	v.raw, _ = p.name()
}
