package gql

import "fmt"

// A checker finds literals and variables that do not fit where they stand and
// that gqlparser accepts: an empty object for a value of any scalar type, and a
// variable as an item of a list that is a JSON value.
type checker struct {
	*compiler
	variables map[string]*variable // of the only operation, else nil
}

// literals checks all arguments and default values of the document.
func (c *compiler) literals() {
	k := &checker{compiler: c}
	for _, op := range c.doc.operations {
		k.variables = make(map[string]*variable, len(op.variables))
		for _, v := range op.variables {
			k.variables[v.name] = v
			if named := c.s.types[v.typ.named().name]; v.standard != nil && named != nil && named.leaf() {
				k.literal(v.standard, named, v.typ)
			}
		}
		k.directives(op.directives)
		root := c.s.query
		if op.kind != "query" {
			root = nil
		}
		k.set(op.set, root)
	}
	k.variables = nil
	if len(c.doc.operations) == 1 {
		k.variables = make(map[string]*variable)
		for _, v := range c.doc.operations[0].variables {
			k.variables[v.name] = v
		}
	}
	for _, f := range c.doc.fragments {
		k.directives(f.directives)
		k.set(f.set, c.s.types[f.on])
	}
}

// set checks the arguments in a selection set on a type, or on none.
func (k *checker) set(set *selectionSet, t *typeDef) {
	for _, s := range set.selections {
		k.directives(s.notes())
		switch n := s.(type) {
		case *fieldNode:
			var def *fieldDef
			if t != nil {
				def = k.s.find(t, n.name)
			}
			var below *typeDef
			if def != nil {
				k.arguments(n.arguments, def.args)
				below = def.typ
			}
			if n.set != nil {
				k.set(n.set, below)
			}
		case *inlineNode:
			below := t
			if n.on != "" {
				below = k.s.types[n.on]
			}
			k.set(n.set, below)
		}
	}
}

func (k *checker) directives(list []*directive) {
	for _, d := range list {
		if def := k.s.directive(d.name); def != nil {
			k.arguments(d.arguments, def.args)
		}
	}
}

func (k *checker) arguments(list []*argument, defs []*argDef) {
	for _, a := range list {
		def := arg(defs, a.name)
		if def == nil {
			continue
		}
		k.literal(a.value, def.typ, &typeNode{name: def.typ.name, nonNull: def.required})
		k.items(a.value, def.typ)
	}
}

// literal checks that a value fits a type.
func (k *checker) literal(value *valueNode, named *typeDef, t *typeNode) {
	switch {
	case value.kind == valueVariable:
		return
	case value.kind == valueNull:
		if t.nonNull {
			k.fail(CodeValidation, fmt.Sprintf("Expected value of type %q, found null.", t), value.pos)
		}
		return
	case t.elem != nil && value.kind == valueList:
		for _, item := range value.items {
			k.literal(item, named, t.elem)
		}
		return
	}
	if _, err := named.parseLiteral(value, nil); err != nil {
		k.fail(CodeValidation, err.Error(), value.pos)
	}
}

// items checks the variables that are items of a list where no list is
// expected: they must be of the expected type. Inside objects they may be of
// any type.
func (k *checker) items(value *valueNode, t *typeDef) {
	if value.kind != valueList {
		return
	}
	for _, item := range value.items {
		k.items(item, t)
		if item.kind != valueVariable {
			continue
		}
		if v := k.variables[item.raw]; v != nil && (v.typ.elem != nil || v.typ.name != t.name) {
			k.fail(CodeValidation, fmt.Sprintf("Variable \"$%s\" of type %q used in position expecting type %q.", v.name, v.typ, t.name),
				v.pos, item.pos)
		}
	}
}
