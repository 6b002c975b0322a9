package gql

import "fmt"

// checkVariables applies the rules that need all uses of variables in an operation and in
// the fragments that it reaches: every variable is defined, used, and of a type that fits.
func (v *validator) checkVariables(op *operation) {
	if v.tooManyErrors {
		return
	}
	own := v.variableUsesIn(op.selectionSet, op.directives, v.schema.rootType(op))
	reached := v.fragmentsUsedBy(op)
	lists := [][]variableUse{own}
	for _, f := range reached {
		lists = append(lists, v.variableUsesIn(f.selectionSet, f.directives, compositeType(v.schema.types[f.typeCondition])))
	}
	defined := make(map[string]*variableDefinition, len(op.variables))
	for _, def := range op.variables {
		defined[def.name] = def
	}
	used := make(map[string]bool, len(op.variables))
	for _, list := range lists {
		for _, u := range list {
			used[u.node.raw] = true
			if defined[u.node.raw] == nil {
				v.report(fmt.Sprintf("Variable \"$%s\" is not defined%s.", u.node.raw, op.byOperation()), u.node.pos, op.pos)
			}
		}
	}
	for _, def := range op.variables {
		if !used[def.name] {
			v.report(fmt.Sprintf("Variable \"$%s\" is never used%s.", def.name, op.inOperation()), def.pos)
		}
	}
	for _, list := range lists {
		for _, u := range list {
			v.checkVariablePosition(defined[u.node.raw], u)
		}
	}
}

// byOperation returns " by operation NAME" for an error message, or "" for an anonymous
// operation.
func (op *operation) byOperation() string {
	if op.name == "" {
		return ""
	}
	return fmt.Sprintf(" by operation %q", op.name)
}

// inOperation returns " in operation NAME" for an error message, or "" for an anonymous
// operation.
func (op *operation) inOperation() string {
	if op.name == "" {
		return ""
	}
	return fmt.Sprintf(" in operation %q", op.name)
}

// variableUsesIn returns the uses of variables in the directives and the selection set of a
// definition. on is the type that the set is selected on, or nil.
func (v *validator) variableUsesIn(set *selectionSet, directives []*directive, on *typeDef) []variableUse {
	if uses, known := v.useCache[set]; known {
		return uses
	}
	g := variableUseCollector{schema: v.schema}
	g.collectFromDirectives(directives, nil)
	g.collectFromSet(set, on, nil)
	if v.useCache == nil {
		v.useCache = map[*selectionSet][]variableUse{}
	}
	v.useCache[set] = g.uses
	return g.uses
}

// checkVariablePosition checks that the type of a variable fits the place where it is used.
func (v *validator) checkVariablePosition(def *variableDefinition, u variableUse) {
	if def == nil || u.expected.named == nil || v.schema.types[def.typ.innermost().name] == nil {
		return
	}
	typ, at := def.typ, *u.expected.written
	if at.nonNull && !typ.nonNull && (u.hasDefault || def.defaultValue != nil && def.defaultValue.kind != valueNull) {
		at.nonNull = false
	}
	if !typ.isSubtypeOf(&at) {
		v.report(fmt.Sprintf("Variable \"$%s\" of type %q used in position expecting type %q.", def.name, typ,
			u.expected.written), def.pos, u.node.pos)
	}
}

// isSubtypeOf reports whether every value of the type is also a value of the other type.
func (t *typeNode) isSubtypeOf(other *typeNode) bool {
	switch {
	case other.nonNull && !t.nonNull:
		return false
	case other.item != nil || t.item != nil:
		return other.item != nil && t.item != nil && t.item.isSubtypeOf(other.item)
	}
	return t.name == other.name
}
