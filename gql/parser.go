package gql

// A parser reads a document by recursive descent, with the grammar and the
// complaints of graphql-js 16. The first error ends it: from then on every
// method returns at once, and what was read so far is of no use.
type parser struct {
	lexer
	token token
	err   *Error
	count int // of tokens
	depth int
	doc   *document
}

// parse reads a document.
func parse(src string) (*document, *Error) {
	t := newText(src)
	p := &parser{lexer: lexer{t}, doc: &document{text: t}}
	p.advance()
	for first := true; p.err == nil && (first || p.token.kind != tokenEnd); first = false {
		p.definition()
	}
	return p.doc, p.err
}

// advance goes to the next token.
func (p *parser) advance() {
	if p.err != nil {
		return
	}
	if p.token, p.err = p.next(p.token.end); p.err != nil {
		return
	}
	if p.count++; p.count > maxTokens {
		p.fail(p.token.start, "Document contains more than %d tokens. Parsing aborted.", maxTokens)
	}
}

func (p *parser) fail(pos int, format string, args ...any) {
	if p.err == nil {
		p.err = p.complain(pos, format, args...)
	}
}

func (p *parser) unexpected(t *token) {
	p.fail(t.start, "Unexpected %s.", t)
}

// at tells whether the token is a punctuator.
func (p *parser) at(punctuator string) bool {
	return p.err == nil && p.token.kind == tokenPunctuator && p.token.value == punctuator
}

// atText tells whether the token is a string.
func (p *parser) atText() bool {
	return p.err == nil && (p.token.kind == tokenString || p.token.kind == tokenBlock)
}

// skip steps over a punctuator, if it is there.
func (p *parser) skip(punctuator string) bool {
	if !p.at(punctuator) {
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
func (p *parser) skipWord(word string) bool {
	if p.err != nil || p.token.kind != tokenName || p.token.value != word {
		return false
	}
	p.advance()
	return true
}

// expectWord steps over a keyword that must be there.
func (p *parser) expectWord(word string) {
	if !p.skipWord(word) {
		p.fail(p.token.start, `Expected "%s", found %s.`, word, &p.token)
	}
}

// name reads a name, and returns where it was.
func (p *parser) name() (name string, pos int) {
	if p.err == nil && p.token.kind != tokenName {
		p.fail(p.token.start, "Expected Name, found %s.", &p.token)
	}
	name, pos = p.token.value, p.token.start
	p.advance()
	return name, pos
}

// description steps over a description, if there is one.
func (p *parser) description() {
	if p.atText() {
		p.advance()
	}
}

// some reads one or more items up to a closing bracket, which is why it reads
// one even where there is none.
func (p *parser) some(end string, item func()) {
	for first := true; p.err == nil && (first || !p.skip(end)); first = false {
		item()
	}
}

// optional reads items in brackets, if the opening one is there.
func (p *parser) optional(open, end string, item func()) {
	if p.skip(open) {
		p.some(end, item)
	}
}

// enter goes one level down, which leave must undo.
func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.token.start, "Document has more than %d levels. Parsing aborted.", maxDepth)
	}
}

func (p *parser) leave() { p.depth-- }

// definition reads one definition of any kind.
func (p *parser) definition() {
	if p.at("{") {
		p.operation(p.token.start)
		return
	}
	start, word := p.token, p.token
	described := p.atText()
	if described {
		if word, p.err = p.next(p.token.end); p.err != nil {
			return
		}
		if word.kind == tokenPunctuator && word.value == "{" {
			p.fail(start.start, "Unexpected description, descriptions are not supported on shorthand queries.")
			return
		}
	}
	if word.kind != tokenName {
		p.unexpected(&word)
		return
	}
	switch word.value {
	case "schema", "scalar", "type", "interface", "union", "enum", "input", "directive":
		p.system(start.start)
	case "query", "mutation", "subscription":
		p.operation(start.start)
	case "fragment":
		p.fragmentDefinition(start.start)
	case "extend":
		p.extension(start, word, described)
	default:
		p.stranger(start, word, described)
	}
}

// stranger is the complaint about a definition of no known kind.
func (p *parser) stranger(start, word token, described bool) {
	if described {
		p.fail(start.start, "Unexpected description, only GraphQL definitions support descriptions.")
		return
	}
	p.unexpected(&word)
}

func (p *parser) operation(start int) {
	op := &operation{pos: start, kind: "query"}
	if !p.at("{") {
		p.description()
		op.kind, _ = p.name()
		if p.err == nil && p.token.kind == tokenName {
			op.name, op.namePos = p.name()
		}
		p.optional("(", ")", func() { op.variables = append(op.variables, p.variable()) })
		op.directives = p.directives(false)
	}
	op.set = p.selectionSet()
	p.doc.operations = append(p.doc.operations, op)
	p.doc.definitions = append(p.doc.definitions, op)
}

func (p *parser) variable() *variable {
	v := &variable{pos: p.token.start}
	p.description()
	p.expect("$")
	v.name, v.namePos = p.name()
	p.expect(":")
	v.typ = p.typ()
	if p.skip("=") {
		v.standard = p.value(true)
	}
	v.directives = p.directives(true)
	return v
}

// typ reads the type of a variable.
func (p *parser) typ() *typeNode {
	t := &typeNode{pos: p.token.start}
	if p.enter(); p.skip("[") {
		t.elem = p.typ()
		p.expect("]")
	} else {
		t.name, _ = p.name()
	}
	p.leave()
	t.nonNull = p.skip("!")
	return t
}

func (p *parser) fragmentDefinition(start int) {
	f := &fragment{pos: start}
	p.description()
	p.expectWord("fragment")
	f.name, f.namePos = p.fragmentName()
	p.expectWord("on")
	f.on, f.onPos = p.name()
	f.directives = p.directives(false)
	f.set = p.selectionSet()
	p.doc.fragments = append(p.doc.fragments, f)
	p.doc.definitions = append(p.doc.definitions, f)
}

// fragmentName reads the name of a fragment, which "on" cannot be.
func (p *parser) fragmentName() (string, int) {
	if p.err == nil && p.token.kind != tokenPunctuator && p.token.value == "on" {
		p.unexpected(&p.token)
	}
	return p.name()
}

func (p *parser) selectionSet() *selectionSet {
	set := &selectionSet{pos: p.token.start}
	p.enter()
	p.expect("{")
	p.some("}", func() {
		if p.at("...") {
			set.selections = append(set.selections, p.spread())
		} else {
			set.selections = append(set.selections, p.field())
		}
	})
	p.leave()
	return set
}

func (p *parser) field() *fieldNode {
	f := &fieldNode{}
	f.name, f.pos = p.name()
	if p.skip(":") {
		f.alias = f.name
		f.name, _ = p.name()
	}
	f.arguments = p.arguments(false)
	f.directives = p.directives(false)
	if p.at("{") {
		f.set = p.selectionSet()
	}
	return f
}

// spread reads the use of a fragment, or a fragment without a name.
func (p *parser) spread() selection {
	start := p.token.start
	p.expect("...")
	on := p.skipWord("on")
	if !on && p.err == nil && p.token.kind == tokenName {
		s := &spreadNode{pos: start}
		s.name, s.namePos = p.fragmentName()
		s.directives = p.directives(false)
		return s
	}
	i := &inlineNode{pos: start}
	if on {
		i.on, i.onPos = p.name()
	}
	i.directives = p.directives(false)
	i.set = p.selectionSet()
	return i
}
