package gql

import (
	"cmp"
	"fmt"
	"slices"
)

// unknownField reports a field that its type has not.
func (v *validator) unknownField(n *fieldNode, t *typeDef) {
	hint := didYouMean("to use an inline fragment on ", typesWith(t, n.name))
	if hint == "" {
		names := make([]string, len(t.fields))
		for i, f := range t.fields {
			names[i] = f.name
		}
		hint = didYouMean("", suggest(n.name, names))
	}
	v.fail(fmt.Sprintf("Cannot query field %q on type %q.", n.name, t.name)+hint, n.pos)
}

// typesWith returns the types that have a field among those that a value of an
// interface can have, the most useful first.
func typesWith(t *typeDef, field string) []string {
	if t.kind != kindInterface {
		return nil
	}
	uses := map[string]int{}
	var names []string
	count := func(o *typeDef) {
		if o.field(field) == nil {
			return
		}
		if uses[o.name] == 0 {
			names = append(names, o.name)
		}
		uses[o.name]++
	}
	for _, o := range t.possible {
		count(o)
		if o.field(field) != nil {
			for _, i := range o.interfaces {
				count(i)
			}
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(uses[b]-uses[a], cmp.Compare(a, b))
	})
	return names
}

// arguments checks what a field or directive is given. The function unknown
// returns the complaint about an argument that is not taken, without
// suggestions, or "".
func (v *validator) arguments(list []*argument, defs []*argDef, unknown func(*argument) string) {
	names, at := make([]string, len(list)), make([]int, len(list))
	for i, a := range list {
		names[i], at[i] = a.name, a.pos
		if complaint := unknown(a); complaint != "" {
			options := make([]string, len(defs))
			for i, d := range defs {
				options[i] = d.name
			}
			v.fail(complaint+didYouMean("", suggest(a.name, options)), a.pos)
		}
		def := arg(defs, a.name)
		v.use(a.value, def)
		if def != nil {
			v.literal(a.value, def.typ, &typeNode{name: def.typ.name, nonNull: def.required})
		}
	}
	v.unique("argument", names, at)
}

// use notes the variables in a value and checks the names in its objects. The
// type that is expected holds for items of lists too, but not inside objects.
func (v *validator) use(value *valueNode, expected *argDef) {
	if value.kind == valueVariable {
		v.scope.uses = append(v.scope.uses, use{value, expected})
	}
	if expected != nil && value.kind == valueList {
		expected = &argDef{name: expected.name, typ: expected.typ}
	}
	for _, item := range value.items {
		v.use(item, expected)
	}
	names, at := make([]string, len(value.fields)), make([]int, len(value.fields))
	for i, f := range value.fields {
		names[i], at[i] = f.name, f.pos
		v.use(f.value, nil)
	}
	v.unique("input field", names, at)
}

// literal checks that a value fits a type. Variables are checked elsewhere.
func (v *validator) literal(value *valueNode, named *typeDef, t *typeNode) {
	if value.kind == valueVariable {
		return
	}
	if value.kind == valueNull {
		if t.nonNull {
			v.fail(fmt.Sprintf("Expected value of type %q, found null.", t), value.pos)
		}
		return
	}
	if t.elem != nil && value.kind == valueList {
		for _, item := range value.items {
			v.literal(item, named, t.elem)
		}
		return
	}
	if _, err := named.parseLiteral(value, nil); err != nil {
		v.fail(err.Error(), value.pos)
	}
}

// directives checks the directives at one place.
func (v *validator) directives(list []*directive, location string) {
	places := map[string][]int{}
	for _, d := range list {
		def := v.s.directive(d.name)
		var defs []*argDef
		switch {
		case def == nil:
			v.fail(fmt.Sprintf(`Unknown directive "@%s".`, d.name), d.pos)
		case !slices.Contains(def.locations, location):
			v.fail(fmt.Sprintf(`Directive "@%s" may not be used on %s.`, d.name, location), d.pos)
		}
		if def != nil {
			defs = def.args
			places[d.name] = append(places[d.name], d.pos)
			if at := places[d.name]; len(at) > 1 {
				v.fail(fmt.Sprintf(`The directive "@%s" can only be used once at this location.`, d.name), at[0], d.pos)
			}
		}
		v.arguments(d.arguments, defs, func(a *argument) string {
			if def == nil || arg(defs, a.name) != nil {
				return ""
			}
			return fmt.Sprintf("Unknown argument %q on directive \"@%s\".", a.name, d.name)
		})
		for _, a := range defs {
			if a.required && !given(d.arguments, a.name) {
				v.fail(fmt.Sprintf("Directive \"@%s\" argument %q of type %q is required, but it was not provided.",
					d.name, a.name, a.typeString()), d.pos)
			}
		}
	}
}

// variables checks the variables that an operation defines.
func (v *validator) variables(op *operation) {
	names, at := make([]string, len(op.variables)), make([]int, len(op.variables))
	for i, d := range op.variables {
		names[i], at[i] = "$"+d.name, d.pos+1
		named := d.typ.named()
		t := v.s.types[named.name]
		switch {
		case t == nil:
			v.unknownType(named.name, named.pos)
		case !t.leaf():
			v.fail(fmt.Sprintf("Variable \"$%s\" cannot be non-input type %q.", d.name, d.typ), d.typ.pos)
		}
		if d.standard != nil {
			v.use(d.standard, nil)
			if t != nil && t.leaf() {
				v.literal(d.standard, t, d.typ)
			}
		}
		v.directives(d.directives, "VARIABLE_DEFINITION")
	}
	v.unique("variable", names, at)
}
