package bundler

import (
	"math/big"
	"slices"
	"strings"
)

// kind is what a value is, in JSON's words.
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

// A node is a value of a document. Values that an alias repeats are one node,
// as they are one object in Python.
type node struct {
	kind    kind
	text    string // of a scalar: the text itself, or the JSON literal
	items   []*node
	members []member // in the order in which Python's dict has them
	line    int32
	column  int32
}

// A member is one key of a mapping with its value.
type member struct{ key, value *node }

// get finds the value of a key that is a string, nil when there is none. It
// works on any node.
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

// set gives a key a value, at the end when it is new.
func (n *node) set(key string, value *node) {
	for i, m := range n.members {
		if m.key.text == key && m.key.kind == text {
			n.members[i].value = value
			return
		}
	}
	n.members = append(n.members, member{&node{kind: text, text: key}, value})
}

// str is the text of a string, "" of anything else.
func (n *node) str() string {
	if n == nil || n.kind != text {
		return ""
	}
	return n.text
}

// truthy tells what Python's if would do with the value.
func (n *node) truthy() bool {
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

func mantissa(literal string) string {
	m, _, _ := strings.Cut(literal, "e")
	return m
}

// number gives the exact value of what Python counts as a number.
func (n *node) number() (*big.Rat, bool) {
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

// same tells whether two scalars are equal in Python: 1, 1.0 and true are.
func same(a, b *node) bool {
	if a.kind >= list || b.kind >= list {
		return false
	}
	if a.kind == b.kind && a.text == b.text {
		return true
	}
	if a.kind == text || b.kind == text || a.kind == null || b.kind == null {
		return false
	}
	x, _ := a.number()
	y, _ := b.number()
	return x != nil && y != nil && x.Cmp(y) == 0
}

// contains tells whether a list has an item that equals a scalar.
func (n *node) contains(value *node) bool {
	return n != nil && n.kind == list && slices.ContainsFunc(n.items, func(i *node) bool { return same(i, value) })
}
