package bundler

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

const (
	checksumKey   = "$file_sha256sum"
	identifierKey = "__identifier"
	resourceRef   = "/common-1.json#/definitions/resourceref"
)

// maxWalked is how many values of one file are looked at, aliases written out.
const maxWalked = 4 << 20

// A world is what datafiles are read against; it does not change while they
// are.
type world struct {
	schemas map[string]*node // by path
	graphql *graphql
}

// A backref is one place in a datafile that names a resource.
type backref struct{ resource, jsonpath string }

// An item is a list item with unique fields.
type item struct {
	spot
	keys map[string]bool
}

// A spot is a value of a datafile with all that is known about it.
type spot struct {
	data   *node
	typ    *graphqlType
	field  *graphqlField
	schema *node
	oneOf  *node // the schema whose oneOf led to schema
	file   bool  // is there a schema file that the schema belongs to?
	up     *spot

	index bool // a list item; else the value of key
	key   string
	path  int // length of its jsonpath in walker.path
}

// A walker follows the values of one datafile along its JSON schema and its
// GraphQL type, as the public bundler does.
type walker struct {
	*world
	named bool // has the datafile a schema?
	path  []byte
	left  int

	backrefs []backref
	refs     []string // datafiles that list items refer to
	items    []*item
	byPath   map[string]*item
}

func (w *walker) walk(root *node) {
	s := spot{data: root}
	if name := root.get("$schema"); name.truthy() {
		w.named, s.file = true, true
		if s.schema = w.schemas[name.str()]; s.schema == nil {
			s.schema = &node{kind: mapping}
		}
		typ := w.graphql.bySchema[name.str()]
		w.choose(&s, typ)
		if s.typ = w.graphql.implementation(typ, root); s.typ == nil {
			s.typ = typ
		}
	}
	w.left = maxWalked
	w.below(&s)
}

// below visits what is inside of a value, in the order of Python's dicts.
func (w *walker) below(s *spot) {
	if w.left--; w.left < 0 {
		return
	}
	switch s.data.kind {
	case mapping:
		for _, m := range s.data.members {
			if m.key.text != "$schema" {
				c := w.member(s, m)
				w.below(&c)
			}
		}
	case list:
		for i, v := range s.data.items {
			c := spot{data: v, up: s, index: true, file: s.file, schema: s.schema.get("items"), typ: s.typ, field: s.field}
			w.enter(&c, strconv.AppendInt(append(w.path[:s.path], dot(s, "[")...), int64(i), 10), "]")
			w.below(&c)
		}
	default:
		w.leaf(s)
	}
}

// dot is what stands between a jsonpath and its next step.
func dot(s *spot, step string) string {
	if s.path == 0 {
		return step
	}
	return "." + step
}

func (w *walker) member(s *spot, m member) spot {
	c := spot{data: m.value, up: s, key: m.key.text, file: s.file}
	c.typ, c.field = next(s, m.key)
	if c.schema = s.schema; s.schema.get("$schemaRef") == nil {
		c.schema = s.schema.get("properties").get(m.key.text)
	}
	w.enter(&c, append(w.path[:s.path], dot(s, m.key.text)...), "")
	return c
}

// next follows a key through the GraphQL types. A reference stays where it is.
func next(s *spot, key *node) (*graphqlType, *graphqlField) {
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

// enter finishes a new spot: its schema and type may depend on its data.
func (w *walker) enter(c *spot, path []byte, end string) {
	w.path = path
	w.path = append(w.path, end...)
	c.path = len(w.path)
	var typ *graphqlType
	if c.field != nil {
		typ = c.field.typ
	}
	w.choose(c, typ)
	if impl := w.graphql.implementation(typ, c.data); impl != nil {
		c.typ, c.field = impl, nil
	}
}

// choose follows a $ref to a schema file and picks from a oneOf: the pair of
// reference and inline value by what the data is, the implementations of an
// interface by the field that tells them apart.
func (w *walker) choose(c *spot, typ *graphqlType) {
	w.follow(c)
	options := c.schema.get("oneOf")
	if !c.file || !options.truthy() || options.kind != list || c.schema.get("$schemaRef") != nil {
		return
	}
	inline, reference := pair(options.items)
	if inline != nil {
		if c.schema = inline; c.data.get("$ref") != nil {
			c.schema = reference
		}
		w.follow(c)
		return
	}
	value := typ.decides(c.data)
	if value == nil {
		return
	}
	root := c.schema
	for _, o := range options.items {
		try := spot{schema: o, file: c.file}
		w.follow(&try)
		if try.schema.get("properties").get(typ.resolves).get("enum").contains(value) {
			c.schema, c.oneOf = try.schema, root
			return
		}
	}
	c.schema, c.oneOf = nil, nil
}

// pair finds the two options of a value that is either written in place or
// refers to a file.
func pair(options []*node) (inline, reference *node) {
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

// follow goes to the schema file that a $ref names.
func (w *walker) follow(c *spot) {
	ref := c.schema.get("$ref").str()
	if ref == "" || c.schema.get("$schemaRef") != nil {
		return
	}
	if target := w.schemas[ref]; target.truthy() {
		c.schema, c.oneOf, c.file = target, nil, true
	}
}

// leaf notes what a scalar stands for.
func (w *walker) leaf(s *spot) {
	if w.named && s.schema.get("$ref").str() == resourceRef && s.data.str() != "" {
		w.backrefs = append(w.backrefs, backref{s.data.text, string(w.path[:s.path])})
	}
	up := s.up
	switch {
	case up == nil || s.index:
	case up.index && s.key == "$ref":
		if s.data.str() != "" {
			w.refs = append(w.refs, s.data.text)
		}
	case up.index:
		w.unique(s)
	case s.key == "$ref" && up.up != nil && up.up.index:
		w.unique(up)
	}
}

// unique notes that a list item has a field that tells it from the others.
func (w *walker) unique(s *spot) {
	if s.field == nil || !s.field.unique || s.up.data.kind != mapping {
		return
	}
	at := string(w.path[:s.up.path])
	it := w.byPath[at]
	if it == nil {
		it = &item{spot: *s.up, keys: map[string]bool{}}
		if w.byPath == nil {
			w.byPath = map[string]*item{}
		}
		w.byPath[at] = it
		w.items = append(w.items, it)
	}
	it.keys[s.key] = true
}

// identifier is the hash of the fields with the given names, "" when the value
// has none of them.
func identifier(data *node, keys map[string]bool) string {
	picked := &node{kind: mapping}
	for _, m := range data.members {
		if m.key.kind == text && keys[m.key.text] {
			picked.members = append(picked.members, m)
		}
	}
	if len(picked.members) == 0 {
		return ""
	}
	sum := sha256.Sum256(appendValue(nil, picked))
	return hex.EncodeToString(sum[:])
}
