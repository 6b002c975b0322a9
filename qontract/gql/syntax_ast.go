package gql

import (
	"fmt"
	"slices"
	"strings"
)

// A document is a parsed GraphQL text. All positions in its nodes are byte offsets in the
// text.
type document struct {
	source      *sourceText
	definitions []definition // operations, fragments and type system definitions, in the order of the text
	operations  []*operation
	fragments   []*fragment
}

// A definition is an *operation, a *fragment or a *typeSystemNode.
type definition any

// An operation is a query, mutation or subscription.
type operation struct {
	pos          int
	kind         string
	name         string // "" for an anonymous operation
	namePos      int
	variables    []*variableDefinition
	directives   []*directive
	selectionSet *selectionSet
}

// A variableDefinition declares a variable of an operation, such as "$name: String = "x"".
type variableDefinition struct {
	pos          int
	name         string
	namePos      int // position after the dollar sign
	typ          *typeNode
	defaultValue *valueNode // the default value, or nil
	directives   []*directive
}

// A typeNode is a type as the text writes it, such as "[String!]".
type typeNode struct {
	pos     int
	name    string    // name of a named type; "" for a list
	item    *typeNode // item type of a list; nil for a named type
	nonNull bool
}

func (t *typeNode) String() string {
	s := t.name
	if t.item != nil {
		s = "[" + t.item.String() + "]"
	}
	if t.nonNull {
		s += "!"
	}
	return s
}

// innermost returns the type without its lists: String for [[String]].
func (t *typeNode) innermost() *typeNode {
	for t.item != nil {
		t = t.item
	}
	return t
}

// A fragment is the definition of a named fragment.
type fragment struct {
	pos              int
	name             string
	namePos          int
	typeCondition    string
	typeConditionPos int
	directives       []*directive
	selectionSet     *selectionSet
}

// A selectionSet holds the selections between two braces.
type selectionSet struct {
	pos        int
	selections []selection
}

// A selection is a *fieldNode, a *spreadNode or an *inlineNode.
type selection interface {
	appliedDirectives() []*directive
}

// A fieldNode selects a field, such as "alias: name(argument: 1) { ... }".
type fieldNode struct {
	pos          int
	alias        string
	name         string
	arguments    []*argument
	directives   []*directive
	selectionSet *selectionSet // nil if the field has no braces
}

// responseKey returns the key that the field has in the answer: its alias, or else its
// name.
func (f *fieldNode) responseKey() string {
	if f.alias != "" {
		return f.alias
	}
	return f.name
}

// A spreadNode is a fragment spread, such as "...name": the use of a named fragment.
type spreadNode struct {
	pos        int
	name       string
	namePos    int
	directives []*directive
}

// An inlineNode is an inline fragment, such as "... on Type { ... }".
type inlineNode struct {
	pos              int
	typeCondition    string // "" if there is none
	typeConditionPos int
	directives       []*directive
	selectionSet     *selectionSet
}

func (f *fieldNode) appliedDirectives() []*directive  { return f.directives }
func (s *spreadNode) appliedDirectives() []*directive { return s.directives }
func (i *inlineNode) appliedDirectives() []*directive { return i.directives }

// A directive is the use of a directive, such as "@skip(if: true)".
type directive struct {
	pos       int
	name      string
	arguments []*argument
}

// An argument is a name with a value: an argument of a field or a directive, or a field of
// an object literal.
type argument struct {
	pos   int
	name  string
	value *valueNode
}

// A valueKind is the kind of a literal.
type valueKind uint8

const (
	valueVariable valueKind = iota
	valueInt
	valueFloat
	valueString
	valueBlockString
	valueBoolean
	valueNull
	valueEnum
	valueList
	valueObject
)

// A valueNode is a literal or the use of a variable.
type valueNode struct {
	kind   valueKind
	pos    int
	raw    string // text of a scalar, or name of a variable
	items  []*valueNode
	fields []*argument
}

// A typeSystemNode is a type system definition, such as "type T { ... }", or a part of one.
// A request must not contain any. They are parsed to reject them with the errors of
// qontract-server.
type typeSystemNode struct {
	pos        int
	location   string // directive location of the node, such as "OBJECT"
	keyword    string // keyword of a whole definition (schema, scalar, type, ..., directive); "" for a part
	extends    bool   // the definition begins with "extend"
	name       string
	directives []*directive
	parts      []any // *directive, *typeNode, *valueNode and *typeSystemNode, in the order of validation

	// Only for the definition of a directive.
	arguments        []*typeSystemNode
	allowedLocations []string
	repeatable       bool
}

// typ returns the type of an argument definition.
func (n *typeSystemNode) typ() *typeNode {
	for _, part := range n.parts {
		if t, ok := part.(*typeNode); ok {
			return t
		}
	}
	return nil
}

// isRequired reports whether an argument definition requires a value: its type is non-null
// and it has no default value.
func (n *typeSystemNode) isRequired() bool {
	for _, part := range n.parts {
		if _, ok := part.(*valueNode); ok {
			return false
		}
	}
	return n.typ().nonNull
}

// String prints a literal as error messages quote it.
func (v *valueNode) String() string {
	var out strings.Builder
	v.print(&out, false)
	return out.String()
}

// canonicalText prints a literal with the fields of its objects sorted by name, so that
// equal literals have equal text.
func (v *valueNode) canonicalText() string {
	var out strings.Builder
	v.print(&out, true)
	return out.String()
}

func (v *valueNode) print(out *strings.Builder, sorted bool) {
	switch v.kind {
	case valueVariable:
		out.WriteString("$" + v.raw)
	case valueString:
		printString(out, v.raw)
	case valueBlockString:
		out.WriteString(printBlock(v.raw))
	case valueList:
		out.WriteByte('[')
		for i, item := range v.items {
			if i > 0 {
				out.WriteString(", ")
			}
			item.print(out, sorted)
		}
		out.WriteByte(']')
	case valueObject:
		v.printObject(out, sorted)
	default:
		out.WriteString(v.raw)
	}
}

func (v *valueNode) printObject(out *strings.Builder, sorted bool) {
	fields := v.fields
	if sorted {
		fields = slices.Clone(fields)
		slices.SortStableFunc(fields, func(a, b *argument) int { return naturalCompare(a.name, b.name) })
	}
	out.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			out.WriteString(", ")
		}
		out.WriteString(f.name + ": ")
		f.value.print(out, sorted)
	}
	out.WriteByte('}')
}

// printString prints a string literal and escapes control characters.
func printString(out *strings.Builder, s string) {
	out.WriteByte('"')
	for _, r := range s {
		switch i := strings.IndexRune("\"\\\b\f\n\r\t", r); {
		case i >= 0:
			out.WriteByte('\\')
			out.WriteByte(`"\bfnrt`[i])
		case r < 0x20 || 0x7F <= r && r <= 0x9F:
			fmt.Fprintf(out, "\\u%04X", r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
}

// longLine is the number of UTF-16 units above which a block string is printed on its own
// lines.
const longLine = 70

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// printBlock prints a block string in the layout of graphql-js.
func printBlock(value string) string {
	escaped := strings.ReplaceAll(value, `"""`, `\"""`)
	lines := strings.Split(lineEnds.Replace(escaped), "\n")
	single := len(lines) == 1
	blank := func(line string) bool { return line != "" && (line[0] == ' ' || line[0] == '\t') }
	indented := !single && !slices.ContainsFunc(lines[1:], func(line string) bool { return line != "" && !blank(line) })
	tripled := strings.HasSuffix(escaped, `\"""`)
	closing := strings.HasSuffix(value, `"`) && !tripled || strings.HasSuffix(value, `\`)
	spread := !single || newSourceText(value).unitsBefore(len(value)) > longLine || closing || tripled
	out := `"""`
	if spread && !(single && blank(value)) || indented {
		out += "\n"
	}
	out += escaped
	if spread {
		out += "\n"
	}
	return out + `"""`
}

// print prints the operations and fragments of a document, each on one line. Parsing the
// output gives an equivalent document.
func (d *document) print() string {
	var out strings.Builder
	for _, op := range d.operations {
		op.print(&out)
		out.WriteByte('\n')
	}
	for _, f := range d.fragments {
		out.WriteString("fragment " + f.name + " on " + f.typeCondition)
		printDirectives(&out, f.directives)
		f.selectionSet.print(&out)
		out.WriteByte('\n')
	}
	return out.String()
}

func (op *operation) print(out *strings.Builder) {
	out.WriteString(op.kind)
	if op.name != "" {
		out.WriteString(" " + op.name)
	}
	for i, v := range op.variables {
		out.WriteString(listStart(i) + "$" + v.name + ": " + v.typ.String())
		if v.defaultValue != nil {
			out.WriteString(" = " + v.defaultValue.String())
		}
		printDirectives(out, v.directives)
	}
	if len(op.variables) > 0 {
		out.WriteByte(')')
	}
	printDirectives(out, op.directives)
	op.selectionSet.print(out)
}

func (s *selectionSet) print(out *strings.Builder) {
	if s == nil {
		return
	}
	out.WriteString(" {")
	for _, selection := range s.selections {
		out.WriteByte(' ')
		switch n := selection.(type) {
		case *fieldNode:
			if n.alias != "" {
				out.WriteString(n.alias + ": ")
			}
			out.WriteString(n.name)
			printArguments(out, n.arguments)
			printDirectives(out, n.directives)
			n.selectionSet.print(out)
		case *spreadNode:
			out.WriteString("..." + n.name)
			printDirectives(out, n.directives)
		case *inlineNode:
			out.WriteString("...")
			if n.typeCondition != "" {
				out.WriteString(" on " + n.typeCondition)
			}
			printDirectives(out, n.directives)
			n.selectionSet.print(out)
		}
	}
	out.WriteString(" }")
}

// listStart returns the text before item i of a list in parentheses.
func listStart(i int) string {
	if i == 0 {
		return "("
	}
	return ", "
}

func printDirectives(out *strings.Builder, list []*directive) {
	for _, d := range list {
		out.WriteString(" @" + d.name)
		printArguments(out, d.arguments)
	}
}

func printArguments(out *strings.Builder, list []*argument) {
	for i, a := range list {
		out.WriteString(listStart(i) + a.name + ": " + a.value.String())
	}
	if len(list) > 0 {
		out.WriteByte(')')
	}
}
