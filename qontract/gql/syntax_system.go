package gql

import "slices"

// definitionLocations maps the keyword of a type system definition to its directive
// location.
var definitionLocations = map[string]string{
	"schema": "SCHEMA", "scalar": "SCALAR", "type": "OBJECT", "interface": "INTERFACE", "union": "UNION",
	"enum": "ENUM", "input": "INPUT_OBJECT", "directive": "DIRECTIVE_DEFINITION",
}

// allDirectiveLocations are all locations that a directive definition may name.
var allDirectiveLocations = []string{
	"QUERY", "MUTATION", "SUBSCRIPTION", "FIELD", "FRAGMENT_DEFINITION", "FRAGMENT_SPREAD", "INLINE_FRAGMENT",
	"VARIABLE_DEFINITION", "SCHEMA", "SCALAR", "OBJECT", "FIELD_DEFINITION", "ARGUMENT_DEFINITION", "INTERFACE",
	"UNION", "ENUM", "ENUM_VALUE", "INPUT_OBJECT", "INPUT_FIELD_DEFINITION", "DIRECTIVE_DEFINITION",
}

// parseTypeSystemDefinition parses a type system definition, such as "type T { ... }".
func (p *parser) parseTypeSystemDefinition(start int) {
	p.skipDescription()
	n := &typeSystemNode{pos: start}
	p.parseDefinitionBody(n)
	p.doc.definitions = append(p.doc.definitions, n)
}

// parseExtension parses a type system extension, such as "extend type T { ... }".
func (p *parser) parseExtension(start, word token, described bool) {
	if described {
		p.failUnknownDefinition(start, word, described)
		return
	}
	next, err := p.nextToken(p.token.end)
	if err != nil {
		p.err = err
		return
	}
	if next.kind != tokenName || next.value == "directive" || definitionLocations[next.value] == "" {
		p.failUnexpected(&next)
		return
	}
	n := &typeSystemNode{pos: start.start, extends: true}
	p.advance()
	p.parseDefinitionBody(n)
	if len(n.parts) == 0 {
		p.failUnexpected(&p.token) // an extension must not be empty
	}
	p.doc.definitions = append(p.doc.definitions, n)
}

// parseDefinitionBody parses a type system definition, beginning with its keyword.
func (p *parser) parseDefinitionBody(n *typeSystemNode) {
	n.keyword, _ = p.parseName()
	n.location = definitionLocations[n.keyword]
	switch n.keyword {
	case "schema":
		p.parseDefinitionDirectives(n)
		p.parseOperationTypes(n)
		return
	case "directive":
		p.parseDirectiveDefinition(n)
		return
	}
	n.name, _ = p.parseName()
	if n.keyword == "type" || n.keyword == "interface" {
		p.parseImplements(n)
	}
	p.parseDefinitionDirectives(n)
	switch n.keyword {
	case "type", "interface":
		p.parseOptionalList("{", "}", func() { n.parts = append(n.parts, p.parseFieldDefinition()) })
	case "union":
		if p.skip("=") {
			p.parseDelimited("|", func() { n.parts = append(n.parts, p.parseNamedType()) })
		}
	case "enum":
		p.parseOptionalList("{", "}", func() { n.parts = append(n.parts, p.parseEnumValue()) })
	case "input":
		p.parseOptionalList("{", "}", func() {
			n.parts = append(n.parts, p.parseInputValue("INPUT_FIELD_DEFINITION", n.extends))
		})
	}
}

// parseDefinitionDirectives parses the directives of a type system definition and adds them
// to its parts.
func (p *parser) parseDefinitionDirectives(n *typeSystemNode) {
	n.directives = p.parseDirectives(true)
	for _, d := range n.directives {
		n.parts = append(n.parts, d)
	}
}

// parseDelimited parses items that are separated by a delimiter. The delimiter may also
// stand before the first item.
func (p *parser) parseDelimited(delimiter string, item func()) {
	p.skip(delimiter)
	item()
	for p.skip(delimiter) {
		item()
	}
}

func (p *parser) parseNamedType() *typeNode {
	t := &typeNode{}
	t.name, t.pos = p.parseName()
	return t
}

func (p *parser) parseImplements(n *typeSystemNode) {
	if p.skipKeyword("implements") {
		p.parseDelimited("&", func() { n.parts = append(n.parts, p.parseNamedType()) })
	}
}

// parseOperationTypes parses the root types of a schema definition, such as "{ query: Query
// }".
func (p *parser) parseOperationTypes(n *typeSystemNode) {
	item := func() {
		word := p.token
		p.parseName()
		if p.err == nil && !slices.Contains([]string{"query", "mutation", "subscription"}, word.value) {
			p.failUnexpected(&word)
		}
		p.expect(":")
		n.parts = append(n.parts, p.parseNamedType())
	}
	if n.extends {
		p.parseOptionalList("{", "}", item)
		return
	}
	p.expect("{")
	p.parseOneOrMore("}", item)
}

func (p *parser) parseFieldDefinition() *typeSystemNode {
	n := &typeSystemNode{pos: p.token.start, location: "FIELD_DEFINITION"}
	p.skipDescription()
	n.name, _ = p.parseName()
	p.parseArgumentDefinitions(n)
	p.expect(":")
	n.parts = append(n.parts, p.parseType())
	p.parseDefinitionDirectives(n)
	return n
}

func (p *parser) parseArgumentDefinitions(n *typeSystemNode) {
	p.parseOptionalList("(", ")", func() {
		a := p.parseInputValue("ARGUMENT_DEFINITION", false)
		n.arguments = append(n.arguments, a)
		n.parts = append(n.parts, a)
	})
}

// parseInputValue parses the definition of an argument or of an input field. graphql-js
// treats an input field in an extension as an argument, and so do we.
func (p *parser) parseInputValue(location string, extends bool) *typeSystemNode {
	n := &typeSystemNode{pos: p.token.start, location: location}
	if extends {
		n.location = "ARGUMENT_DEFINITION"
	}
	p.skipDescription()
	n.name, _ = p.parseName()
	p.expect(":")
	n.parts = append(n.parts, p.parseType())
	if p.skip("=") {
		n.parts = append(n.parts, p.parseValue(true))
	}
	p.parseDefinitionDirectives(n)
	return n
}

func (p *parser) parseEnumValue() *typeSystemNode {
	n := &typeSystemNode{pos: p.token.start, location: "ENUM_VALUE"}
	p.skipDescription()
	if _, reserved := reservedWords[p.token.value]; reserved {
		p.fail(p.token.start, "%s is reserved and cannot be used for an enum value.", &p.token)
	}
	n.name, _ = p.parseName()
	p.parseDefinitionDirectives(n)
	return n
}

func (p *parser) parseDirectiveDefinition(n *typeSystemNode) {
	p.expect("@")
	n.name, _ = p.parseName()
	p.parseArgumentDefinitions(n)
	n.repeatable = p.skipKeyword("repeatable")
	p.expectKeyword("on")
	p.parseDelimited("|", func() {
		word := p.token
		p.parseName()
		if !slices.Contains(allDirectiveLocations, word.value) {
			p.failUnexpected(&word)
		}
		n.allowedLocations = append(n.allowedLocations, word.value)
	})
}
