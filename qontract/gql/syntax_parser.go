package gql

// A parser is a recursive descent parser with the grammar and the error messages of
// graphql-js 16. The first error stops it: every later method returns at once, and the
// document must not be used.
type parser struct {
	lexer
	token      token
	err        *Error
	tokenCount int
	depth      int
	doc        *document
}

// parse parses a GraphQL document.
func parse(src string) (*document, *Error) {
	t := newSourceText(src)
	p := &parser{lexer: lexer{t}, doc: &document{source: t}}
	p.advance()
	for first := true; p.err == nil && (first || p.token.kind != tokenEnd); first = false {
		p.parseDefinition()
	}
	return p.doc, p.err
}

// advance reads the next token.
func (p *parser) advance() {
	if p.err != nil {
		return
	}
	if p.token, p.err = p.nextToken(p.token.end); p.err != nil {
		return
	}
	if p.tokenCount++; p.tokenCount > maxTokens {
		p.fail(p.token.start, "Document contains more than %d tokens. Parsing aborted.", maxTokens)
	}
}

// fail records an error, unless there is already one.
func (p *parser) fail(pos int, format string, args ...any) {
	if p.err == nil {
		p.err = p.syntaxError(pos, format, args...)
	}
}

func (p *parser) failUnexpected(t *token) {
	p.fail(t.start, "Unexpected %s.", t)
}

// atPunctuator reports whether the current token is this punctuator.
func (p *parser) atPunctuator(punctuator string) bool {
	return p.err == nil && p.token.kind == tokenPunctuator && p.token.value == punctuator
}

// atString reports whether the current token is a string.
func (p *parser) atString() bool {
	return p.err == nil && (p.token.kind == tokenString || p.token.kind == tokenBlockString)
}

// skip skips a punctuator, and reports whether it was there.
func (p *parser) skip(punctuator string) bool {
	if !p.atPunctuator(punctuator) {
		return false
	}
	p.advance()
	return true
}

// expect skips a punctuator that must be there.
func (p *parser) expect(punctuator string) {
	if !p.skip(punctuator) {
		p.fail(p.token.start, `Expected "%s", found %s.`, punctuator, &p.token)
	}
}

// skipKeyword skips a keyword, and reports whether it was there.
func (p *parser) skipKeyword(word string) bool {
	if p.err != nil || p.token.kind != tokenName || p.token.value != word {
		return false
	}
	p.advance()
	return true
}

// expectKeyword skips a keyword that must be there.
func (p *parser) expectKeyword(word string) {
	if !p.skipKeyword(word) {
		p.fail(p.token.start, `Expected "%s", found %s.`, word, &p.token)
	}
}

// parseName parses a name and returns it with its position.
func (p *parser) parseName() (name string, pos int) {
	if p.err == nil && p.token.kind != tokenName {
		p.fail(p.token.start, "Expected Name, found %s.", &p.token)
	}
	name, pos = p.token.value, p.token.start
	p.advance()
	return name, pos
}

// skipDescription skips a description, if there is one.
func (p *parser) skipDescription() {
	if p.atString() {
		p.advance()
	}
}

// parseOneOrMore calls item until the closing bracket is reached, and at least once: an
// empty list is an error, which item reports.
func (p *parser) parseOneOrMore(end string, item func()) {
	for first := true; p.err == nil && (first || !p.skip(end)); first = false {
		item()
	}
}

// parseOptionalList parses a list between brackets, if the opening bracket is there.
func (p *parser) parseOptionalList(open, end string, item func()) {
	if p.skip(open) {
		p.parseOneOrMore(end, item)
	}
}

// enterLevel counts one more level of nesting. The caller must call leaveLevel at its end.
func (p *parser) enterLevel() {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.token.start, "Document has more than %d levels. Parsing aborted.", maxDepth)
	}
}

func (p *parser) leaveLevel() { p.depth-- }

// parseDefinition parses one definition of any kind.
func (p *parser) parseDefinition() {
	if p.atPunctuator("{") {
		p.parseOperation(p.token.start)
		return
	}
	start, word := p.token, p.token
	described := p.atString()
	if described {
		if word, p.err = p.nextToken(p.token.end); p.err != nil {
			return
		}
		if word.kind == tokenPunctuator && word.value == "{" {
			p.fail(start.start, "Unexpected description, descriptions are not supported on shorthand queries.")
			return
		}
	}
	if word.kind != tokenName {
		p.failUnexpected(&word)
		return
	}
	switch word.value {
	case "schema", "scalar", "type", "interface", "union", "enum", "input", "directive":
		p.parseTypeSystemDefinition(start.start)
	case "query", "mutation", "subscription":
		p.parseOperation(start.start)
	case "fragment":
		p.parseFragment(start.start)
	case "extend":
		p.parseExtension(start, word, described)
	default:
		p.failUnknownDefinition(start, word, described)
	}
}

// failUnknownDefinition records the error for a definition that begins with an unknown
// keyword.
func (p *parser) failUnknownDefinition(start, word token, described bool) {
	if described {
		p.fail(start.start, "Unexpected description, only GraphQL definitions support descriptions.")
		return
	}
	p.failUnexpected(&word)
}

func (p *parser) parseOperation(start int) {
	op := &operation{pos: start, kind: "query"}
	if !p.atPunctuator("{") {
		p.skipDescription()
		op.kind, _ = p.parseName()
		if p.err == nil && p.token.kind == tokenName {
			op.name, op.namePos = p.parseName()
		}
		p.parseOptionalList("(", ")", func() { op.variables = append(op.variables, p.parseVariableDefinition()) })
		op.directives = p.parseDirectives(false)
	}
	op.selectionSet = p.parseSelectionSet()
	p.doc.operations = append(p.doc.operations, op)
	p.doc.definitions = append(p.doc.definitions, op)
}

func (p *parser) parseVariableDefinition() *variableDefinition {
	v := &variableDefinition{pos: p.token.start}
	p.skipDescription()
	p.expect("$")
	v.name, v.namePos = p.parseName()
	p.expect(":")
	v.typ = p.parseType()
	if p.skip("=") {
		v.defaultValue = p.parseValue(true)
	}
	v.directives = p.parseDirectives(true)
	return v
}

// parseType parses a type reference, such as "[String!]!".
func (p *parser) parseType() *typeNode {
	t := &typeNode{pos: p.token.start}
	if p.enterLevel(); p.skip("[") {
		t.item = p.parseType()
		p.expect("]")
	} else {
		t.name, _ = p.parseName()
	}
	p.leaveLevel()
	t.nonNull = p.skip("!")
	return t
}

func (p *parser) parseFragment(start int) {
	f := &fragment{pos: start}
	p.skipDescription()
	p.expectKeyword("fragment")
	f.name, f.namePos = p.parseFragmentName()
	p.expectKeyword("on")
	f.typeCondition, f.typeConditionPos = p.parseName()
	f.directives = p.parseDirectives(false)
	f.selectionSet = p.parseSelectionSet()
	p.doc.fragments = append(p.doc.fragments, f)
	p.doc.definitions = append(p.doc.definitions, f)
}

// parseFragmentName parses the name of a fragment. The name must not be "on".
func (p *parser) parseFragmentName() (string, int) {
	if p.err == nil && p.token.kind != tokenPunctuator && p.token.value == "on" {
		p.failUnexpected(&p.token)
	}
	return p.parseName()
}

func (p *parser) parseSelectionSet() *selectionSet {
	set := &selectionSet{pos: p.token.start}
	p.enterLevel()
	p.expect("{")
	p.parseOneOrMore("}", func() {
		if p.atPunctuator("...") {
			set.selections = append(set.selections, p.parseSpread())
		} else {
			set.selections = append(set.selections, p.parseField())
		}
	})
	p.leaveLevel()
	return set
}

func (p *parser) parseField() *fieldNode {
	f := &fieldNode{}
	f.name, f.pos = p.parseName()
	if p.skip(":") {
		f.alias = f.name
		f.name, _ = p.parseName()
	}
	f.arguments = p.parseArguments(false)
	f.directives = p.parseDirectives(false)
	if p.atPunctuator("{") {
		f.selectionSet = p.parseSelectionSet()
	}
	return f
}

// parseSpread parses a fragment spread or an inline fragment.
func (p *parser) parseSpread() selection {
	start := p.token.start
	p.expect("...")
	on := p.skipKeyword("on")
	if !on && p.err == nil && p.token.kind == tokenName {
		s := &spreadNode{pos: start}
		s.name, s.namePos = p.parseFragmentName()
		s.directives = p.parseDirectives(false)
		return s
	}
	i := &inlineNode{pos: start}
	if on {
		i.typeCondition, i.typeConditionPos = p.parseName()
	}
	i.directives = p.parseDirectives(false)
	i.selectionSet = p.parseSelectionSet()
	return i
}

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
