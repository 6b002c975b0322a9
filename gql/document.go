package gql

import (
	"errors"
	"unicode/utf8"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
)

// parse reads a document with gqlparser, as strictly as graphql-js does.
func parse(src string) (*ast.QueryDocument, []Error) {
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: src}, maxTokens)
	if err != nil {
		e := libraryError(err)
		e.Code = parseCode(e)
		e.Message = "Syntax Error: " + e.Message + "."
		return nil, []Error{e}
	}
	if len(doc.Operations)+len(doc.Fragments) == 0 {
		return nil, []Error{{Code: CodeParse, Message: "Syntax Error: Unexpected <EOF>.", Locations: []Location{locate(src, len(src))}}}
	}
	complaint := strictText(src)
	if complaint == nil {
		complaint = strictTree(src, doc)
	}
	if complaint == nil {
		complaint = tooComplex(doc)
	}
	if complaint != nil {
		return nil, []Error{*complaint}
	}
	return doc, nil
}

// validate applies gqlparser's rules.
func (s *Schema) validate(doc *ast.QueryDocument) []Error {
	var out []Error
	for _, err := range validator.ValidateWithRules(s.parsed, doc, s.rules) {
		e := libraryError(err)
		e.Code = CodeValidation
		out = append(out, e)
	}
	return out
}

// libraryError turns an error of gqlparser into ours.
func libraryError(err error) Error {
	e := Error{Message: err.Error()}
	var known *gqlerror.Error
	if errors.As(err, &known) {
		e.Message = known.Message
		for _, at := range known.Locations {
			e.Locations = append(e.Locations, Location{at.Line, at.Column})
		}
	}
	return e
}

// A converter turns a document of gqlparser into ours, which is what execution
// and footprints work on.
type converter struct {
	src     string
	offsets []int // in bytes, by offset in runes; nil when they are the same
}

func convert(src string, in *ast.QueryDocument) *document {
	c := &converter{src: src}
	if utf8.RuneCountInString(src) != len(src) {
		for i := range src {
			c.offsets = append(c.offsets, i)
		}
	}
	doc := &document{source: src}
	for _, op := range in.Operations {
		doc.operations = append(doc.operations, c.operation(op))
	}
	for _, f := range in.Fragments {
		doc.fragments = append(doc.fragments, &fragment{
			pos: c.at(f.Position), name: f.Name, on: f.TypeCondition,
			directives: c.directives(f.Directives), set: c.set(f.SelectionSet),
		})
	}
	return doc
}

func (c *converter) at(p *ast.Position) int {
	switch {
	case p == nil:
		return 0
	case c.offsets == nil:
		return p.Start
	case p.Start < len(c.offsets):
		return c.offsets[p.Start]
	}
	return 0
}

func (c *converter) operation(in *ast.OperationDefinition) *operation {
	op := &operation{
		pos: c.at(in.Position), kind: string(in.Operation), name: in.Name,
		directives: c.directives(in.Directives), set: c.set(in.SelectionSet),
	}
	for _, v := range in.VariableDefinitions {
		op.variables = append(op.variables, &variable{
			pos: c.at(v.Position), name: v.Variable, typ: typeOf(v.Type), standard: c.value(v.DefaultValue),
		})
	}
	return op
}

func typeOf(in *ast.Type) *typeNode {
	t := &typeNode{name: in.NamedType, nonNull: in.NonNull}
	if in.Elem != nil {
		t.elem = typeOf(in.Elem)
	}
	return t
}

// set returns nil for a field without braces.
func (c *converter) set(in ast.SelectionSet) *selectionSet {
	if len(in) == 0 {
		return nil
	}
	out := &selectionSet{}
	for _, s := range in {
		out.selections = append(out.selections, c.selection(s))
	}
	return out
}

func (c *converter) selection(in ast.Selection) selection {
	switch s := in.(type) {
	case *ast.FragmentSpread:
		return &spreadNode{pos: c.at(s.Position), name: s.Name, directives: c.directives(s.Directives)}
	case *ast.InlineFragment:
		return &inlineNode{pos: c.at(s.Position), on: s.TypeCondition, directives: c.directives(s.Directives), set: c.set(s.SelectionSet)}
	}
	f, _ := in.(*ast.Field)
	node := &fieldNode{
		pos: c.at(f.Position), name: f.Name, directives: c.directives(f.Directives),
		arguments: c.arguments(f.Arguments), set: c.set(f.SelectionSet),
	}
	if f.Alias != f.Name {
		node.alias = f.Alias
	}
	return node
}

func (c *converter) directives(in ast.DirectiveList) []*directive {
	var out []*directive
	for _, d := range in {
		out = append(out, &directive{pos: c.at(d.Position), name: d.Name, arguments: c.arguments(d.Arguments)})
	}
	return out
}

func (c *converter) arguments(in ast.ArgumentList) []*argument {
	var out []*argument
	for _, a := range in {
		out = append(out, &argument{pos: c.at(a.Position), name: a.Name, value: c.value(a.Value)})
	}
	return out
}

// valueKinds are our kinds of values by those of gqlparser.
var valueKinds = map[ast.ValueKind]valueKind{
	ast.Variable: valueVariable, ast.IntValue: valueInt, ast.FloatValue: valueFloat,
	ast.StringValue: valueString, ast.BlockValue: valueBlock, ast.BooleanValue: valueBoolean,
	ast.NullValue: valueNull, ast.EnumValue: valueEnum, ast.ListValue: valueList, ast.ObjectValue: valueObject,
}

func (c *converter) value(in *ast.Value) *valueNode {
	if in == nil {
		return nil
	}
	v := &valueNode{kind: valueKinds[in.Kind], pos: c.at(in.Position), raw: in.Raw}
	if v.kind == valueBlock {
		text := c.src[v.pos:]
		v.raw = blockText(text[3 : blockLength(text)-3])
	}
	for _, child := range in.Children {
		if in.Kind == ast.ListValue {
			v.items = append(v.items, c.value(child.Value))
			continue
		}
		v.fields = append(v.fields, &argument{pos: c.at(child.Position), name: child.Name, value: c.value(child.Value)})
	}
	return v
}
