package gql

// A document is a parsed query text. Positions are offsets in bytes.
type document struct {
	source      *sourceText
	definitions []definition // all of them, in the order of the text
	operations  []*operation
	fragments   []*fragment
}

// A definition is an *operation, a *fragment or a *systemNode.
type definition any

// An operation is a query, mutation or subscription.
type operation struct {
	pos          int
	kind         string
	name         string // "" when anonymous
	namePos      int
	variables    []*variableDefinition
	directives   []*directive
	selectionSet *selectionSet
}

// A variable is the definition of one.
type variableDefinition struct {
	pos          int
	name         string
	namePos      int // behind the dollar sign
	typ          *typeNode
	defaultValue *valueNode // the default value, or nil
	directives   []*directive
}

// A typeNode is a type as written.
type typeNode struct {
	pos     int
	name    string    // of a named type
	item    *typeNode // of a list
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

// named returns the innermost type.
func (t *typeNode) innermost() *typeNode {
	for t.item != nil {
		t = t.item
	}
	return t
}

// A fragment is the definition of a named one.
type fragment struct {
	pos              int
	name             string
	namePos          int
	typeCondition    string
	typeConditionPos int
	directives       []*directive
	selectionSet     *selectionSet
}

// A selectionSet is what stands between braces.
type selectionSet struct {
	pos        int
	selections []selection
}

// A selection is a *fieldNode, *spreadNode or *inlineNode.
type selection interface {
	appliedDirectives() []*directive
}

// A fieldNode selects a field.
type fieldNode struct {
	pos          int
	alias        string
	name         string
	arguments    []*argument
	directives   []*directive
	selectionSet *selectionSet // nil without braces
}

// key is the name that the field has in the answer.
func (f *fieldNode) responseKey() string {
	if f.alias != "" {
		return f.alias
	}
	return f.name
}

// A spreadNode uses a named fragment.
type spreadNode struct {
	pos        int
	name       string
	namePos    int
	directives []*directive
}

// An inlineNode is a fragment without a name.
type inlineNode struct {
	pos              int
	typeCondition    string // "" without a type condition
	typeConditionPos int
	directives       []*directive
	selectionSet     *selectionSet
}

func (f *fieldNode) appliedDirectives() []*directive  { return f.directives }
func (s *spreadNode) appliedDirectives() []*directive { return s.directives }
func (i *inlineNode) appliedDirectives() []*directive { return i.directives }

// A directive is the use of one.
type directive struct {
	pos       int
	name      string
	arguments []*argument
}

// An argument is one that a field or directive is given, or a field of an
// object.
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
	valueBlockString
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

// A systemNode is a definition of the type system, or a part of one. Queries
// cannot have any: they are parsed in order to be refused as the server does.
type typeSystemNode struct {
	pos        int
	location   string // where its directives stand, as introspection names it
	keyword    string // of a whole definition: schema, scalar, type, ..., directive
	extends    bool
	name       string
	directives []*directive
	parts      []any // *directive, *typeNode, *valueNode and *systemNode, in the order in which they are visited

	// Of the definition of a directive.
	arguments        []*typeSystemNode
	allowedLocations []string
	repeatable       bool
}

// typ returns the type of an argument's definition.
func (n *typeSystemNode) typ() *typeNode {
	for _, part := range n.parts {
		if t, ok := part.(*typeNode); ok {
			return t
		}
	}
	return nil
}

// required tells whether an argument's definition wants a value.
func (n *typeSystemNode) isRequired() bool {
	for _, part := range n.parts {
		if _, ok := part.(*valueNode); ok {
			return false
		}
	}
	return n.typ().nonNull
}
