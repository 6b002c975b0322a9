package gql

import (
	"slices"
	"strings"
)

// A document is a parsed query text. Positions are offsets in bytes.
type document struct {
	source     string
	operations []*operation
	fragments  []*fragment
}

// An operation is a query, mutation or subscription.
type operation struct {
	pos        int
	kind       string
	name       string // "" when anonymous
	variables  []*variable
	directives []*directive
	set        *selectionSet
}

// A variable is the definition of one.
type variable struct {
	pos      int // of the dollar sign
	name     string
	typ      *typeNode
	standard *valueNode // the default value, or nil
}

// A typeNode is the type of a variable as written.
type typeNode struct {
	name    string    // of a named type
	elem    *typeNode // of a list
	nonNull bool
}

func (t *typeNode) String() string {
	s := t.name
	if t.elem != nil {
		s = "[" + t.elem.String() + "]"
	}
	if t.nonNull {
		s += "!"
	}
	return s
}

// named returns the innermost type.
func (t *typeNode) named() *typeNode {
	for t.elem != nil {
		t = t.elem
	}
	return t
}

// A fragment is the definition of a named one.
type fragment struct {
	pos        int
	name       string
	on         string
	directives []*directive
	set        *selectionSet
}

// A selectionSet is what stands between braces.
type selectionSet struct {
	selections []selection
}

// A selection is a *fieldNode, *spreadNode or *inlineNode.
type selection interface {
	notes() []*directive
}

// A fieldNode selects a field.
type fieldNode struct {
	pos        int
	alias      string
	name       string
	arguments  []*argument
	directives []*directive
	set        *selectionSet // nil without braces
}

// key is the name that the field has in the answer.
func (f *fieldNode) key() string {
	if f.alias != "" {
		return f.alias
	}
	return f.name
}

// A spreadNode uses a named fragment.
type spreadNode struct {
	pos        int
	name       string
	directives []*directive
}

// An inlineNode is a fragment without a name.
type inlineNode struct {
	pos        int
	on         string // "" without a type condition
	directives []*directive
	set        *selectionSet
}

func (f *fieldNode) notes() []*directive  { return f.directives }
func (s *spreadNode) notes() []*directive { return s.directives }
func (i *inlineNode) notes() []*directive { return i.directives }

// A directive is the use of one.
type directive struct {
	pos       int
	name      string
	arguments []*argument
}

// An argument is one that a field or directive is given.
type argument struct {
	pos   int
	name  string
	value *valueNode
}

// A valueKind says what a literal is.
type valueKind uint8

const (
	valueVariable valueKind = iota
	valueInt
	valueFloat
	valueString
	valueBlock
	valueBoolean
	valueNull
	valueEnum
	valueList
	valueObject
)

// A valueNode is a literal, or the use of a variable.
type valueNode struct {
	kind   valueKind
	pos    int
	raw    string // the text of a scalar; the name of a variable
	items  []*valueNode
	fields []*argument
}

// String prints a literal as error messages quote it.
func (v *valueNode) String() string { return v.print(false) }

// canonical prints a literal so that two that mean the same are equal.
func (v *valueNode) canonical() string { return v.print(true) }

func (v *valueNode) print(sorted bool) string {
	var parts []string
	switch v.kind {
	case valueVariable:
		return "$" + v.raw
	case valueString:
		return quote(v.raw)
	case valueBlock:
		return `"""` + strings.ReplaceAll(v.raw, `"""`, `\"""`) + `"""`
	case valueList:
		for _, item := range v.items {
			parts = append(parts, item.print(sorted))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case valueObject:
		for _, f := range v.fields {
			parts = append(parts, f.name+": "+f.value.print(sorted))
		}
		if sorted {
			slices.Sort(parts)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return v.raw
}

func quote(s string) string { return string(appendString(nil, s)) }
