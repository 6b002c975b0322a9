package gql

import "fmt"

// An expectedType is the type that a value must have: the type as it is written, and the
// scalar or enum at its core. If named is nil, any value is accepted.
type expectedType struct {
	named   *typeDef
	written *typeNode
}

// expectedType returns the type that the value of an argument must have. The receiver may
// be nil.
func (a *argDef) expectedType() expectedType {
	if a == nil {
		return expectedType{}
	}
	return expectedType{a.typ, &typeNode{name: a.typ.name, nonNull: a.required}}
}

// itemType returns the type that the items of a list must have. For a type that is not a
// list it is the type itself, since GraphQL accepts a single value in place of a list.
func (t expectedType) itemType() expectedType {
	switch {
	case t.named == nil:
		return t
	case t.written.item != nil:
		t.written = t.written.item
	case t.written.nonNull:
		t.written = &typeNode{name: t.written.name}
	}
	return t
}

// validateValue validates a literal. If checked is true, the literal is part of a larger
// literal that was already checked as a whole, and only the names of object fields are
// validated.
func (v *validator) validateValue(n *valueNode, expected expectedType, checked bool) {
	switch n.kind {
	case valueVariable:
	case valueList:
		item := expected.itemType()
		if !checked && (expected.named == nil || expected.written.item == nil) {
			v.checkLiteral(n, item)
			checked = true
		}
		for _, child := range n.items {
			v.validateValue(child, item, checked)
		}
	case valueObject:
		if !checked {
			v.checkLiteral(n, expected)
		}
		u := fieldNames{list: n.fields}
		for i, f := range n.fields {
			if first := u.firstPosition(i); first >= 0 {
				v.report(fmt.Sprintf("There can be only one input field named %q.", f.name), first, f.pos)
			}
			v.validateValue(f.value, expectedType{}, true)
		}
	case valueNull:
		if !checked && expected.named != nil && expected.written.nonNull {
			v.report(fmt.Sprintf("Expected value of type %q, found null.", expected.written), n.pos)
		}
	default:
		if !checked {
			v.checkLiteral(n, expected)
		}
	}
}

// checkLiteral checks that a literal is a value of the expected scalar or enum.
func (v *validator) checkLiteral(n *valueNode, expected expectedType) {
	if expected.named == nil || v.tooManyErrors {
		return
	}
	if _, err := expected.named.parseLiteral(n, nil); err != nil {
		v.report(err.Error(), n.pos)
	}
}
