package gql

// Bounds on documents. They are far above what anyone writes, and keep a
// hostile query from costing more than an honest one.
const (
	maxTokens  = 60_000 // a body of 100 kB, which is what qontract-server takes, has fewer
	maxNesting = 500    // of selections, lists, objects and list types
)

// A parser reads a document as graphql-js 16 does.
type parser struct {
	lexer
	tok     token
	tokens  int
	nesting int
}

// parse reads a document. An error is a *syntaxError.
func parse(src string) (*document, error) {
	p := &parser{lexer: lexer{src: src}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	doc := &document{source: src}
	for {
		if err := p.definition(doc); err != nil {
			return nil, err
		}
		if p.tok.kind == tokenEOF || len(doc.foreign) > 0 {
			return doc, nil
		}
	}
}

// advance steps to the next token.
func (p *parser) advance() error {
	if p.tokens++; p.tokens > maxTokens {
		return p.fail(p.tok.start, "Document contains more than %d tokens. Parsing aborted.", maxTokens)
	}
	tok, err := p.next()
	p.tok = tok
	return err
}

// enter counts one level of nesting; the caller leaves it with p.nesting--.
func (p *parser) enter() error {
	if p.nesting++; p.nesting > maxNesting {
		return p.fail(p.tok.start, "Document nests more than %d levels. Parsing aborted.", maxNesting)
	}
	return nil
}

func (p *parser) unexpected() error { return p.fail(p.tok.start, "Unexpected %s.", p.tok) }

// expect steps over a token of the kind.
func (p *parser) expect(kind tokenKind) error {
	if p.tok.kind != kind {
		return p.fail(p.tok.start, "Expected %s, found %s.", kind, p.tok)
	}
	return p.advance()
}

// found steps over a token when it is of the kind, and tells whether it was.
func (p *parser) found(kind tokenKind) (bool, error) {
	if p.tok.kind != kind {
		return false, nil
	}
	return true, p.advance()
}

// keyword tells whether the next token is a name with this text.
func (p *parser) keyword(word string) bool { return p.tok.kind == tokenName && p.tok.value == word }

func (p *parser) name() (string, error) {
	name := p.tok.value
	return name, p.expect(tokenName)
}

// many calls item until the closing token. Unless empty is allowed there has
// to be one item.
func (p *parser) many(first, last tokenKind, empty bool, item func() error) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer func() { p.nesting-- }()
	if err := p.expect(first); err != nil {
		return err
	}
	for n := 0; ; n++ {
		if n > 0 || empty {
			if done, err := p.found(last); done || err != nil {
				return err
			}
		}
		if err := item(); err != nil {
			return err
		}
	}
}

// definition reads one operation or fragment.
func (p *parser) definition(doc *document) error {
	if p.tok.kind == tokenBraceL {
		return p.operation(doc)
	}
	described := p.tok
	if described.kind == tokenString || described.kind == tokenBlock {
		if err := p.advance(); err != nil {
			return err
		}
	} else {
		described.kind = tokenEOF
	}
	if p.tok.kind != tokenName {
		return p.unexpected()
	}
	word := p.tok.value
	switch word {
	case "schema", "scalar", "type", "interface", "union", "enum", "input", "directive":
		return p.foreign(doc)
	}
	if described.kind != tokenEOF {
		return p.fail(described.start, "Unexpected description, descriptions are supported only on definitions.")
	}
	switch word {
	case "query", "mutation", "subscription":
		return p.operation(doc)
	case "fragment":
		return p.fragment(doc)
	case "extend":
		return p.foreign(doc)
	}
	return p.unexpected()
}

// foreign notes a type system definition. What follows is not read, since the
// document is refused in any case.
func (p *parser) foreign(doc *document) error {
	f := &foreign{pos: p.tok.start, name: p.tok.value}
	if err := p.advance(); err != nil {
		return err
	}
	if p.tok.kind == tokenName {
		f.name = quoted(p.tok.value)
	}
	doc.foreign = append(doc.foreign, f)
	return nil
}

func (p *parser) operation(doc *document) (err error) {
	op := &operation{pos: p.tok.start, kind: "query"}
	doc.operations = append(doc.operations, op)
	if p.tok.kind != tokenBraceL {
		if op.kind, err = p.name(); err != nil {
			return err
		}
		if op.namePos = p.tok.start; p.tok.kind == tokenName {
			if op.name, err = p.name(); err != nil {
				return err
			}
		}
		if p.tok.kind == tokenParenL {
			err := p.many(tokenParenL, tokenParenR, false, func() error { return p.variable(op) })
			if err != nil {
				return err
			}
		}
		if op.directives, err = p.directives(false); err != nil {
			return err
		}
	}
	op.set, err = p.selectionSet()
	return err
}

// variable reads the definition of one.
func (p *parser) variable(op *operation) (err error) {
	v := &variable{pos: p.tok.start}
	op.variables = append(op.variables, v)
	if err := p.expect(tokenDollar); err != nil {
		return err
	}
	if v.name, err = p.name(); err != nil {
		return err
	}
	if err := p.expect(tokenColon); err != nil {
		return err
	}
	if v.typ, err = p.typ(); err != nil {
		return err
	}
	given, err := p.found(tokenEquals)
	if err != nil {
		return err
	}
	if given {
		if v.standard, err = p.value(true); err != nil {
			return err
		}
	}
	v.directives, err = p.directives(true)
	return err
}

// typ reads the type of a variable.
func (p *parser) typ() (t *typeNode, err error) {
	t = &typeNode{pos: p.tok.start}
	if p.tok.kind == tokenBracketL {
		if err := p.enter(); err != nil {
			return nil, err
		}
		defer func() { p.nesting-- }()
		if err := p.advance(); err != nil {
			return nil, err
		}
		if t.elem, err = p.typ(); err != nil {
			return nil, err
		}
		err = p.expect(tokenBracketR)
	} else {
		t.name, err = p.name()
	}
	if err != nil {
		return nil, err
	}
	t.nonNull, err = p.found(tokenBang)
	return t, err
}

func (p *parser) fragment(doc *document) (err error) {
	f := &fragment{pos: p.tok.start}
	doc.fragments = append(doc.fragments, f)
	if err := p.advance(); err != nil {
		return err
	}
	if p.keyword("on") {
		return p.unexpected()
	}
	f.namePos = p.tok.start
	if f.name, err = p.name(); err != nil {
		return err
	}
	if !p.keyword("on") {
		return p.fail(p.tok.start, `Expected "on", found %s.`, p.tok)
	}
	if err := p.advance(); err != nil {
		return err
	}
	f.onPos = p.tok.start
	if f.on, err = p.name(); err != nil {
		return err
	}
	if f.directives, err = p.directives(false); err != nil {
		return err
	}
	f.set, err = p.selectionSet()
	return err
}

func (p *parser) selectionSet() (*selectionSet, error) {
	set := &selectionSet{}
	err := p.many(tokenBraceL, tokenBraceR, false, func() error {
		s, err := p.selection()
		set.selections = append(set.selections, s)
		return err
	})
	return set, err
}
