package gql

func (p *parser) selection() (selection, error) {
	if p.tok.kind == tokenSpread {
		return p.spread()
	}
	return p.field()
}

func (p *parser) field() (_ selection, err error) {
	f := &fieldNode{pos: p.tok.start, namePos: p.tok.start}
	if f.name, err = p.name(); err != nil {
		return nil, err
	}
	aliased, err := p.found(tokenColon)
	if err != nil {
		return nil, err
	}
	if aliased {
		f.alias, f.namePos = f.name, p.tok.start
		if f.name, err = p.name(); err != nil {
			return nil, err
		}
	}
	if f.arguments, err = p.arguments(false); err != nil {
		return nil, err
	}
	if f.directives, err = p.directives(false); err != nil {
		return nil, err
	}
	if f.setPos = p.tok.start; p.tok.kind == tokenBraceL {
		f.set, err = p.selectionSet()
	}
	return f, err
}

// spread reads a fragment: the use of a named one, or one in place.
func (p *parser) spread() (_ selection, err error) {
	start := p.tok.start
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind == tokenName && p.tok.value != "on" {
		s := &spreadNode{pos: start, namePos: p.tok.start}
		if s.name, err = p.name(); err != nil {
			return nil, err
		}
		s.directives, err = p.directives(false)
		return s, err
	}
	i := &inlineNode{pos: start}
	if p.keyword("on") {
		if err := p.advance(); err != nil {
			return nil, err
		}
		i.onPos = p.tok.start
		if i.on, err = p.name(); err != nil {
			return nil, err
		}
	}
	if i.directives, err = p.directives(false); err != nil {
		return nil, err
	}
	i.set, err = p.selectionSet()
	return i, err
}

func (p *parser) directives(constant bool) (list []*directive, err error) {
	for p.tok.kind == tokenAt {
		d := &directive{pos: p.tok.start}
		if err := p.advance(); err != nil {
			return nil, err
		}
		if d.name, err = p.name(); err != nil {
			return nil, err
		}
		if d.arguments, err = p.arguments(constant); err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

func (p *parser) arguments(constant bool) (list []*argument, err error) {
	if p.tok.kind != tokenParenL {
		return nil, nil
	}
	err = p.many(tokenParenL, tokenParenR, false, func() error {
		a, err := p.argument(constant)
		list = append(list, a)
		return err
	})
	return list, err
}

// argument reads a name and a value, as in arguments and in objects.
func (p *parser) argument(constant bool) (_ *argument, err error) {
	a := &argument{pos: p.tok.start}
	if a.name, err = p.name(); err != nil {
		return nil, err
	}
	if err := p.expect(tokenColon); err != nil {
		return nil, err
	}
	a.value, err = p.value(constant)
	return a, err
}

// value reads a literal. A constant holds no variables.
func (p *parser) value(constant bool) (*valueNode, error) {
	v := &valueNode{pos: p.tok.start, raw: p.tok.value}
	switch p.tok.kind {
	case tokenBracketL:
		v.kind = valueList
		return v, p.many(tokenBracketL, tokenBracketR, true, func() error {
			item, err := p.value(constant)
			v.items = append(v.items, item)
			return err
		})
	case tokenBraceL:
		v.kind = valueObject
		return v, p.many(tokenBraceL, tokenBraceR, true, func() error {
			field, err := p.argument(constant)
			v.fields = append(v.fields, field)
			return err
		})
	case tokenDollar:
		return p.use(v, constant)
	case tokenInt:
		v.kind = valueInt
	case tokenFloat:
		v.kind = valueFloat
	case tokenString:
		v.kind = valueString
	case tokenBlock:
		v.kind = valueBlock
	case tokenName:
		v.kind = nameKind(v.raw)
	default:
		return nil, p.unexpected()
	}
	return v, p.advance()
}

// use reads a variable where a value is expected.
func (p *parser) use(v *valueNode, constant bool) (_ *valueNode, err error) {
	dollar := p.tok
	if err := p.advance(); err != nil {
		return nil, err
	}
	if constant {
		if p.tok.kind == tokenName {
			return nil, p.fail(dollar.start, `Unexpected variable "$%s" in constant value.`, p.tok.value)
		}
		return nil, p.fail(dollar.start, "Unexpected %s.", dollar)
	}
	v.raw, err = p.name()
	return v, err
}

// nameKind tells what kind of literal a bare word is.
func nameKind(word string) valueKind {
	switch word {
	case "true", "false":
		return valueBoolean
	case "null":
		return valueNull
	}
	return valueEnum
}
