package bundler

import (
	"math/big"
	"slices"
	"strings"
)

// A kind is the type of a value, in JSON's words.
type kind uint8

const (
	null kind = iota
	boolean
	integer
	float
	text
	list
	mapping
)

// A node is a value of a document. A value that aliases repeat is one node, as it
// is one object in Python.
type node struct {
	kind    kind
	text    string // of a string: the string; of another scalar: its JSON literal
	items   []*node
	members []member // in the order of Python's dict
	line    int32
	column  int32
}

// isUnread reports whether the node stands for a part of a YAML file that could not be
// read. Only such a node is null and has no place.
func (n *node) isUnread() bool { return n.kind == null && n.line == 0 }

// A member is one key of a mapping with its value.
type member struct{ key, value *node }

// get returns the value of a key that is a string, nil if there is none. It returns
// nil for a node that is not a mapping, or nil.
func (n *node) get(key string) *node {
	if n == nil || n.kind != mapping {
		return nil
	}
	for _, m := range n.members {
		if m.key.text == key && m.key.kind == text {
			return m.value
		}
	}
	return nil
}

// set sets the value of a key. A new key is added at the end.
func (n *node) set(key string, value *node) {
	for i, m := range n.members {
		if m.key.text == key && m.key.kind == text {
			n.members[i].value = value
			return
		}
	}
	n.members = append(n.members, member{&node{kind: text, text: key}, value})
}

// stringValue returns the text of a string, "" for any other value.
func (n *node) stringValue() string {
	if n == nil || n.kind != text {
		return ""
	}
	return n.text
}

// isTruthy reports whether Python takes a value for true: it is neither null, false,
// 0 nor empty.
func (n *node) isTruthy() bool {
	if n == nil {
		return false
	}
	switch n.kind {
	case boolean:
		return n.text == "true"
	case integer:
		return n.text != "0"
	case float:
		return strings.ContainsAny(mantissa(n.text), "123456789")
	case text:
		return n.text != ""
	case list:
		return len(n.items) > 0
	case mapping:
		return len(n.members) > 0
	}
	return false
}

// mantissa returns the part of a number before the exponent.
func mantissa(literal string) string {
	m, _, _ := strings.Cut(literal, "e")
	return m
}

// rational returns the exact value of a number, and whether it is one. Booleans are
// numbers too, as in Python.
func (n *node) rational() (*big.Rat, bool) {
	switch n.kind {
	case boolean:
		if n.text == "true" {
			return big.NewRat(1, 1), true
		}
		return new(big.Rat), true
	case integer, float:
		return new(big.Rat).SetString(n.text)
	}
	return nil, false
}

// equalScalars reports whether two scalars are equal in Python. For example, 1, 1.0
// and true are equal.
func equalScalars(a, b *node) bool {
	if a.kind >= list || b.kind >= list {
		return false
	}
	if a.kind == b.kind && a.text == b.text {
		return true
	}
	if a.kind == text || b.kind == text || a.kind == null || b.kind == null {
		return false
	}
	x, _ := a.rational()
	y, _ := b.rational()
	return x != nil && y != nil && x.Cmp(y) == 0
}

// containsScalar reports whether a list has an item that equals a scalar.
func (n *node) containsScalar(value *node) bool {
	return n != nil && n.kind == list && slices.ContainsFunc(n.items, func(i *node) bool { return equalScalars(i, value) })
}
