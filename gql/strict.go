package gql

import (
	"fmt"
	"regexp"

	"github.com/vektah/gqlparser/v2/ast"
)

// definitions are the words that begin a type system definition. graphql-js
// parses those and rejects them in validation, where gqlparser cannot parse
// them in a query.
var definitions = regexp.MustCompile(`^Unexpected Name "(schema|scalar|type|interface|union|enum|input|directive|extend)"$`)

// parseCode returns the code for a document that gqlparser cannot parse.
func parseCode(err Error) string {
	if definitions.MatchString(err.Message) {
		return CodeValidation
	}
	return CodeParse
}

// A strict finds what graphql-js 16 refuses to parse and gqlparser accepts:
// descriptions in a query, and a number that runs into a name.
type strict struct {
	src    []rune
	errors []Error
}

func (s *strict) document(doc *ast.QueryDocument) []Error {
	for _, op := range doc.Operations {
		s.described(op.Description, op.Position)
		for _, v := range op.VariableDefinitions {
			s.described(v.Description, v.Position)
			s.value(v.DefaultValue)
			s.directives(v.Directives)
		}
		s.directives(op.Directives)
		s.selections(op.SelectionSet)
	}
	for _, f := range doc.Fragments {
		s.described(f.Description, f.Position)
		s.directives(f.Directives)
		s.selections(f.SelectionSet)
	}
	return s.errors
}

func (s *strict) fail(at *ast.Position, format string, args ...any) {
	s.errors = append(s.errors, Error{
		Code: CodeParse, Message: "Syntax Error: " + fmt.Sprintf(format, args...), Locations: []Location{{at.Line, at.Column}},
	})
}

func (s *strict) described(text string, at *ast.Position) {
	if text != "" {
		s.fail(at, "Unexpected String %q.", text)
	}
}

func (s *strict) selections(set ast.SelectionSet) {
	for _, sel := range set {
		switch sel := sel.(type) {
		case *ast.Field:
			s.arguments(sel.Arguments)
			s.directives(sel.Directives)
			s.selections(sel.SelectionSet)
		case *ast.InlineFragment:
			s.directives(sel.Directives)
			s.selections(sel.SelectionSet)
		case *ast.FragmentSpread:
			s.directives(sel.Directives)
		}
	}
}

func (s *strict) directives(list ast.DirectiveList) {
	for _, d := range list {
		s.arguments(d.Arguments)
	}
}

func (s *strict) arguments(list ast.ArgumentList) {
	for _, a := range list {
		s.value(a.Value)
	}
}

func (s *strict) value(v *ast.Value) {
	if v == nil {
		return
	}
	if end := v.Position.End; (v.Kind == ast.IntValue || v.Kind == ast.FloatValue) && end < len(s.src) {
		if c := s.src[end]; c == '_' || c == '.' || 'a' <= c|0x20 && c|0x20 <= 'z' {
			s.fail(v.Position, "Invalid number, expected digit but got: %q.", c)
		}
	}
	for _, child := range v.Children {
		s.value(child.Value)
	}
}

// literals finds literals that do not fit their argument and that gqlparser
// accepts: it takes an empty object for a value of any scalar type.
func (c *compiler) literals(doc *ast.QueryDocument) {
	for _, op := range doc.Operations {
		c.literalsOf(op.SelectionSet)
	}
	for _, f := range doc.Fragments {
		c.literalsOf(f.SelectionSet)
	}
}

func (c *compiler) literalsOf(set ast.SelectionSet) {
	for _, sel := range set {
		switch sel := sel.(type) {
		case *ast.Field:
			for _, a := range sel.Arguments {
				c.literal(sel.Definition.Arguments.ForName(a.Name), a)
			}
			c.literalsOf(sel.SelectionSet)
		case *ast.InlineFragment:
			c.literalsOf(sel.SelectionSet)
		}
	}
}

func (c *compiler) literal(def *ast.ArgumentDefinition, a *ast.Argument) {
	if def == nil || a.Value.Kind != ast.ObjectValue && a.Value.Kind != ast.ListValue {
		return
	}
	if t := c.s.types[def.Type.NamedType]; t != nil && t.leaf() {
		if _, err := t.parseLiteral((&converter{}).value(a.Value), nil); err != nil {
			c.errors = append(c.errors, Error{
				Code: CodeValidation, Message: err.Error(), Locations: []Location{{a.Value.Position.Line, a.Value.Position.Column}},
			})
		}
	}
}
