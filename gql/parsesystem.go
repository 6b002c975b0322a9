package gql

import "slices"

// systemPlaces are the places of directives by the keyword of a definition.
var systemPlaces = map[string]string{
	"schema": "SCHEMA", "scalar": "SCALAR", "type": "OBJECT", "interface": "INTERFACE", "union": "UNION",
	"enum": "ENUM", "input": "INPUT_OBJECT", "directive": "DIRECTIVE_DEFINITION",
}

// directivePlaces are all places where a directive may be declared to stand.
var directivePlaces = []string{
	"QUERY", "MUTATION", "SUBSCRIPTION", "FIELD", "FRAGMENT_DEFINITION", "FRAGMENT_SPREAD", "INLINE_FRAGMENT",
	"VARIABLE_DEFINITION", "SCHEMA", "SCALAR", "OBJECT", "FIELD_DEFINITION", "ARGUMENT_DEFINITION", "INTERFACE",
	"UNION", "ENUM", "ENUM_VALUE", "INPUT_OBJECT", "INPUT_FIELD_DEFINITION", "DIRECTIVE_DEFINITION",
}

// system reads a definition of the type system.
func (p *parser) system(start int) {
	p.description()
	n := &systemNode{pos: start}
	p.body(n)
	p.doc.definitions = append(p.doc.definitions, n)
}

// extension reads a definition that extends another one.
func (p *parser) extension(start, word token, described bool) {
	if described {
		p.stranger(start, word, described)
		return
	}
	next, err := p.next(p.token.end)
	if err != nil {
		p.err = err
		return
	}
	if next.kind != tokenName || next.value == "directive" || systemPlaces[next.value] == "" {
		p.unexpected(&next)
		return
	}
	n := &systemNode{pos: start.start, extends: true}
	p.advance()
	p.body(n)
	if len(n.parts) == 0 {
		p.unexpected(&p.token) // an extension must say something
	}
	p.doc.definitions = append(p.doc.definitions, n)
}

// body reads a definition from its keyword on.
func (p *parser) body(n *systemNode) {
	n.keyword, _ = p.name()
	n.place = systemPlaces[n.keyword]
	switch n.keyword {
	case "schema":
		p.notes(n)
		p.operationTypes(n)
		return
	case "directive":
		p.directiveDefinition(n)
		return
	}
	n.name, _ = p.name()
	if n.keyword == "type" || n.keyword == "interface" {
		p.interfaces(n)
	}
	p.notes(n)
	switch n.keyword {
	case "type", "interface":
		p.optional("{", "}", func() { n.parts = append(n.parts, p.fieldDefinition()) })
	case "union":
		if p.skip("=") {
			p.delimited("|", func() { n.parts = append(n.parts, p.namedType()) })
		}
	case "enum":
		p.optional("{", "}", func() { n.parts = append(n.parts, p.enumValue()) })
	case "input":
		p.optional("{", "}", func() { n.parts = append(n.parts, p.inputValue("INPUT_FIELD_DEFINITION", n.extends)) })
	}
}

// notes reads the directives of a definition.
func (p *parser) notes(n *systemNode) {
	n.directives = p.directives(true)
	for _, d := range n.directives {
		n.parts = append(n.parts, d)
	}
}

// delimited reads items with a delimiter between them, and maybe before them.
func (p *parser) delimited(delimiter string, item func()) {
	p.skip(delimiter)
	item()
	for p.skip(delimiter) {
		item()
	}
}

func (p *parser) namedType() *typeNode {
	t := &typeNode{}
	t.name, t.pos = p.name()
	return t
}

func (p *parser) interfaces(n *systemNode) {
	if p.skipWord("implements") {
		p.delimited("&", func() { n.parts = append(n.parts, p.namedType()) })
	}
}

// operationTypes reads which types operations start at.
func (p *parser) operationTypes(n *systemNode) {
	item := func() {
		word := p.token
		p.name()
		if p.err == nil && !slices.Contains([]string{"query", "mutation", "subscription"}, word.value) {
			p.unexpected(&word)
		}
		p.expect(":")
		n.parts = append(n.parts, p.namedType())
	}
	if n.extends {
		p.optional("{", "}", item)
		return
	}
	p.expect("{")
	p.some("}", item)
}

func (p *parser) fieldDefinition() *systemNode {
	n := &systemNode{pos: p.token.start, place: "FIELD_DEFINITION"}
	p.description()
	n.name, _ = p.name()
	p.argumentDefinitions(n)
	p.expect(":")
	n.parts = append(n.parts, p.typ())
	p.notes(n)
	return n
}

func (p *parser) argumentDefinitions(n *systemNode) {
	p.optional("(", ")", func() {
		a := p.inputValue("ARGUMENT_DEFINITION", false)
		n.arguments = append(n.arguments, a)
		n.parts = append(n.parts, a)
	})
}

// inputValue reads the definition of an argument, or of a field of an input.
// In the extension of an input it counts as an argument.
func (p *parser) inputValue(place string, extends bool) *systemNode {
	n := &systemNode{pos: p.token.start, place: place}
	if extends {
		n.place = "ARGUMENT_DEFINITION"
	}
	p.description()
	n.name, _ = p.name()
	p.expect(":")
	n.parts = append(n.parts, p.typ())
	if p.skip("=") {
		n.parts = append(n.parts, p.value(true))
	}
	p.notes(n)
	return n
}

func (p *parser) enumValue() *systemNode {
	n := &systemNode{pos: p.token.start, place: "ENUM_VALUE"}
	p.description()
	if _, reserved := words[p.token.value]; reserved {
		p.fail(p.token.start, "%s is reserved and cannot be used for an enum value.", &p.token)
	}
	n.name, _ = p.name()
	p.notes(n)
	return n
}

func (p *parser) directiveDefinition(n *systemNode) {
	p.expect("@")
	n.name, _ = p.name()
	p.argumentDefinitions(n)
	n.repeatable = p.skipWord("repeatable")
	p.expectWord("on")
	p.delimited("|", func() {
		word := p.token
		p.name()
		if !slices.Contains(directivePlaces, word.value) {
			p.unexpected(&word)
		}
		n.places = append(n.places, word.value)
	})
}
