package gql

// A parser reads a document by recursive descent, with the grammar and the
// complaints of graphql-js 16. The first error ends it: from then on every
// method returns at once, and what was read so far is of no use.
type parser struct {
	lexer
	token      token
	err        *Error
	tokenCount int // of tokens
	depth      int
	doc        *document
}

// parse reads a document.
func parse(src string) (*document, *Error) {
	t := newSourceText(src)
	p := &parser{lexer: lexer{t}, doc: &document{source: t}}
	p.advance()
	for first := true; p.err == nil && (first || p.token.kind != tokenEnd); first = false {
		p.parseDefinition()
	}
	return p.doc, p.err
}

// advance goes to the next token.
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

func (p *parser) fail(pos int, format string, args ...any) {
	if p.err == nil {
		p.err = p.syntaxError(pos, format, args...)
	}
}

func (p *parser) failUnexpected(t *token) {
	p.fail(t.start, "Unexpected %s.", t)
}

// at tells whether the token is a punctuator.
func (p *parser) atPunctuator(punctuator string) bool {
	return p.err == nil && p.token.kind == tokenPunctuator && p.token.value == punctuator
}

// atText tells whether the token is a string.
func (p *parser) atString() bool {
	return p.err == nil && (p.token.kind == tokenString || p.token.kind == tokenBlockString)
}

// skip steps over a punctuator, if it is there.
func (p *parser) skip(punctuator string) bool {
	if !p.atPunctuator(punctuator) {
		return false
	}
	p.advance()
	return true
}

// expect steps over a punctuator that must be there.
func (p *parser) expect(punctuator string) {
	if !p.skip(punctuator) {
		p.fail(p.token.start, `Expected "%s", found %s.`, punctuator, &p.token)
	}
}

// skipWord steps over a keyword, if it is there.
func (p *parser) skipKeyword(word string) bool {
	if p.err != nil || p.token.kind != tokenName || p.token.value != word {
		return false
	}
	p.advance()
	return true
}

// expectWord steps over a keyword that must be there.
func (p *parser) expectKeyword(word string) {
	if !p.skipKeyword(word) {
		p.fail(p.token.start, `Expected "%s", found %s.`, word, &p.token)
	}
}

// name reads a name, and returns where it was.
func (p *parser) parseName() (name string, pos int) {
	if p.err == nil && p.token.kind != tokenName {
		p.fail(p.token.start, "Expected Name, found %s.", &p.token)
	}
	name, pos = p.token.value, p.token.start
	p.advance()
	return name, pos
}

// description steps over a description, if there is one.
func (p *parser) skipDescription() {
	if p.atString() {
		p.advance()
	}
}

// some reads one or more items up to a closing bracket, which is why it reads
// one even where there is none.
func (p *parser) parseOneOrMore(end string, item func()) {
	for first := true; p.err == nil && (first || !p.skip(end)); first = false {
		item()
	}
}

// optional reads items in brackets, if the opening one is there.
func (p *parser) parseOptionalList(open, end string, item func()) {
	if p.skip(open) {
		p.parseOneOrMore(end, item)
	}
}

// enter goes one level down, which leave must undo.
func (p *parser) enterLevel() {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.token.start, "Document has more than %d levels. Parsing aborted.", maxDepth)
	}
}

func (p *parser) leaveLevel() { p.depth-- }

// definition reads one definition of any kind.
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

// stranger is the complaint about a definition of no known kind.
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

// typ reads the type of a variable.
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

// fragmentName reads the name of a fragment, which "on" cannot be.
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

// spread reads the use of a fragment, or a fragment without a name.
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
