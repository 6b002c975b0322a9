package gql

import "fmt"

// An inputType is what is expected of a value: a type as it is written, with
// the scalar or enumeration it is made of. Where that is nil, nothing is
// expected.
type expectedType struct {
	named   *typeDef
	written *typeNode
}

// input returns what is expected of an argument, which may be nil.
func (a *argDef) expectedType() expectedType {
	if a == nil {
		return expectedType{}
	}
	return expectedType{a.typ, &typeNode{name: a.typ.name, nonNull: a.required}}
}

// item returns what is expected of the items of a list.
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

// value applies the rules to a literal. Inside of one that was already checked
// as a whole only the names of fields are looked at.
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

// literal checks that a literal is one of the expected scalar or enumeration.
func (v *validator) checkLiteral(n *valueNode, expected expectedType) {
	if expected.named == nil || v.tooManyErrors {
		return
	}
	if _, err := expected.named.parseLiteral(n, nil); err != nil {
		v.report(err.Error(), n.pos)
	}
}
