package bundler

import "strconv"

const (
	checksumKey   = "$file_sha256sum"
	identifierKey = "__identifier"
	resourceRef   = "/common-1.json#/definitions/resourceref"
)

// maxWalked bounds how many values of one file are visited, with aliases replaced by
// their values.
const maxWalked = 4 << 20

// A backref is a place in a datafile that names a resource.
type backref struct{ resource, jsonpath string }

// An identifiedItem is a list item with unique fields, from which its identifier is
// made.
type identifiedItem struct {
	position
	keys map[string]bool // the unique fields that the item has
}

// A position is a value of a datafile with its type, its field, its schema and its
// place.
type position struct {
	data         *node
	typ          *graphqlType
	field        *graphqlField
	schema       *node
	oneOf        *node // the schema whose oneOf led to schema, or nil
	inSchemaFile bool  // the schema belongs to a schema file
	parent       *position

	isItem bool // the value is a list item, not the value of key
	key    string
	path   int // length of its jsonpath in walker.path
}

// A walker follows the values of one datafile along its JSON schema and its
// GraphQL type, as the public bundler does.
type walker struct {
	*definitions
	hasSchema bool // the datafile has a schema
	path      []byte
	left      int // number of values that may still be visited

	backrefs []backref
	refs     []string // paths to which list items refer
	items    []*identifiedItem
	byPath   map[string]*identifiedItem // by jsonpath
}

// walk visits all values of a datafile.
func (w *walker) walk(root *node) {
	s := position{data: root}
	if name := root.get("$schema"); name.isTruthy() {
		w.hasSchema, s.inSchemaFile = true, true
		if s.schema = w.schemas[name.stringValue()]; s.schema == nil {
			s.schema = &node{kind: mapping}
		}
		typ := w.graphql.bySchema[name.stringValue()]
		w.chooseSchema(&s, typ)
		if s.typ = w.graphql.implementation(typ, root); s.typ == nil {
			s.typ = typ
		}
	}
	w.left = maxWalked
	w.visitChildren(&s)
}

// visitChildren visits the values inside of a value, in the order of Python's dicts.
func (w *walker) visitChildren(s *position) {
	if w.left--; w.left < 0 {
		return
	}
	switch s.data.kind {
	case mapping:
		for _, m := range s.data.members {
			if m.key.text != "$schema" {
				c := w.enterMember(s, m)
				w.visitChildren(&c)
			}
		}
	case list:
		for i, v := range s.data.items {
			c := position{data: v, parent: s, isItem: true, inSchemaFile: s.inSchemaFile, schema: s.schema.get("items"),
				typ: s.typ, field: s.field}
			w.finishPosition(&c, strconv.AppendInt(append(w.path[:s.path], pathStep(s, "[")...), int64(i), 10), "]")
			w.visitChildren(&c)
		}
	default:
		w.visitScalar(s)
	}
}

// pathStep returns a step of a jsonpath, with a dot before it unless it is the first.
func pathStep(s *position, step string) string {
	if s.path == 0 {
		return step
	}
	return "." + step
}

// enterMember returns the position of the value of a member.
func (w *walker) enterMember(s *position, m member) position {
	c := position{data: m.value, parent: s, key: m.key.text, inSchemaFile: s.inSchemaFile}
	c.typ, c.field = followKey(s, m.key)
	if c.schema = s.schema; s.schema.get("$schemaRef") == nil {
		c.schema = s.schema.get("properties").get(m.key.text)
	}
	w.finishPosition(&c, append(w.path[:s.path], pathStep(s, m.key.text)...), "")
	return c
}

// followKey returns the GraphQL type and field of the value of a key. The key $ref
// keeps the type and field of the reference.
func followKey(s *position, key *node) (*graphqlType, *graphqlField) {
	switch {
	case s.typ == nil:
		return nil, nil
	case key.text == "$ref":
		return s.typ, s.field
	case s.field == nil:
		if f := s.typ.fields[key.text]; f != nil {
			return s.typ, f
		}
		return nil, nil
	case s.field.typ == nil:
		return nil, nil
	}
	return s.field.typ, s.field.typ.fields[key.text]
}

// finishPosition sets the jsonpath of a new position, and its schema and type, which
// may depend on its data.
func (w *walker) finishPosition(c *position, path []byte, end string) {
	w.path = path
	w.path = append(w.path, end...)
	c.path = len(w.path)
	var typ *graphqlType
	if c.field != nil {
		typ = c.field.typ
	}
	w.chooseSchema(c, typ)
	if impl := w.graphql.implementation(typ, c.data); impl != nil {
		c.typ, c.field = impl, nil
	}
}

// chooseSchema follows a $ref to a schema file, and chooses from the options of a
// oneOf. If one option is a reference and the other an inline value, it chooses by
// the form of the data. If the options are implementations of an interface, it
// chooses by the field that tells them apart.
func (w *walker) chooseSchema(c *position, typ *graphqlType) {
	w.followRef(c)
	options := c.schema.get("oneOf")
	if !c.inSchemaFile || !options.isTruthy() || options.kind != list || c.schema.get("$schemaRef") != nil {
		return
	}
	inline, reference := splitOptions(options.items)
	if inline != nil {
		if c.schema = inline; c.data.get("$ref") != nil {
			c.schema = reference
		}
		w.followRef(c)
		return
	}
	value := typ.resolvingValue(c.data)
	if value == nil {
		return
	}
	root := c.schema
	for _, o := range options.items {
		try := position{schema: o, inSchemaFile: c.inSchemaFile}
		w.followRef(&try)
		if try.schema.get("properties").get(typ.resolveField).get("enum").containsScalar(value) {
			c.schema, c.oneOf = try.schema, root
			return
		}
	}
	c.schema, c.oneOf = nil, nil
}

// splitOptions returns the two options of a value that is either written inline or
// refers to a file, or nil if the options are of another form.
func splitOptions(options []*node) (inline, reference *node) {
	if len(options) != 2 {
		return nil, nil
	}
	a, b := options[0], options[1]
	switch first, second := a.get("$schemaRef") != nil, b.get("$schemaRef") != nil; {
	case second && !first:
		return a, b
	case first && !second:
		return b, a
	}
	return nil, nil
}

// followRef sets the schema of a position to the schema file that a $ref names.
func (w *walker) followRef(c *position) {
	ref := c.schema.get("$ref").stringValue()
	if ref == "" || c.schema.get("$schemaRef") != nil {
		return
	}
	if target := w.schemas[ref]; target.isTruthy() {
		c.schema, c.oneOf, c.inSchemaFile = target, nil, true
	}
}

// visitScalar collects what a scalar stands for: the name of a resource, a reference
// in a list, or a unique field of a list item.
func (w *walker) visitScalar(s *position) {
	if w.hasSchema && s.schema.get("$ref").stringValue() == resourceRef && s.data.stringValue() != "" {
		w.backrefs = append(w.backrefs, backref{s.data.text, string(w.path[:s.path])})
	}
	up := s.parent
	switch {
	case up == nil || s.isItem:
	case up.isItem && s.key == "$ref":
		if s.data.stringValue() != "" {
			w.refs = append(w.refs, s.data.text)
		}
	case up.isItem:
		w.addUniqueField(s)
	case s.key == "$ref" && up.parent != nil && up.parent.isItem:
		w.addUniqueField(up)
	}
}

// addUniqueField records that a list item has a unique field.
func (w *walker) addUniqueField(s *position) {
	if s.field == nil || !s.field.unique || s.parent.data.kind != mapping {
		return
	}
	at := string(w.path[:s.parent.path])
	it := w.byPath[at]
	if it == nil {
		it = &identifiedItem{position: *s.parent, keys: map[string]bool{}}
		if w.byPath == nil {
			w.byPath = map[string]*identifiedItem{}
		}
		w.byPath[at] = it
		w.items = append(w.items, it)
	}
	it.keys[s.key] = true
}
