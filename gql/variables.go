package gql

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/bundle"
)

// maxVariableErrors is the number of errors in variables after which no more
// are looked for.
const maxVariableErrors = 50

// variableValues coerces the variables of a request to the types that the
// operation gives them. A variable without a value is left out.
func (c *compiler) variableValues(op *operation, given *bundle.Object) map[string]any {
	values := make(map[string]any, len(op.variables))
	for _, v := range op.variables {
		input, ok := any(nil), false
		if given != nil {
			input, ok = given.Get(v.name)
		}
		switch {
		case !ok && v.standard != nil:
			values[v.name] = c.s.literalOf(v.typ, v.standard)
		case !ok && v.typ.nonNull:
			c.inputError(v, fmt.Sprintf("Variable \"$%s\" of required type %q was not provided.", v.name, v.typ))
		case !ok:
		case input == nil && v.typ.nonNull:
			c.inputError(v, fmt.Sprintf("Variable \"$%s\" of non-null type %q must not be null.", v.name, v.typ))
		default:
			values[v.name] = c.coerce(v, v.typ, input, nil)
		}
		if len(c.errors) > maxVariableErrors {
			c.errors = append(c.errors[:maxVariableErrors], Error{
				Message: "Too many errors processing variables, error limit reached. Execution aborted.", Code: CodeInternal})
			break
		}
	}
	return values
}

func (c *compiler) inputError(v *variable, message string) {
	c.fail(CodeUserInput, message, v.pos)
}

// literalOf reads a default value, which validation has accepted.
func (s *Schema) literalOf(t *typeNode, v *valueNode) any {
	if v.kind == valueNull {
		return nil
	}
	if t.elem != nil {
		if v.kind != valueList {
			return []any{s.literalOf(t.elem, v)}
		}
		list := make([]any, len(v.items))
		for i, item := range v.items {
			list[i] = s.literalOf(t.elem, item)
		}
		return list
	}
	value, err := s.types[t.name].parseLiteral(v, nil)
	if err != nil {
		return nil
	}
	return value
}

// coerce turns the value of a variable, or a part of it, into one of the type.
func (c *compiler) coerce(v *variable, t *typeNode, input any, path []string) any {
	if input == nil {
		if t.nonNull {
			c.invalid(v, path, input, fmt.Sprintf("Expected non-nullable type %q not to be null.", t))
		}
		return nil
	}
	if t.elem != nil {
		items, ok := input.([]any)
		if !ok {
			return []any{c.coerce(v, t.elem, input, path)}
		}
		list := make([]any, len(items))
		for i, item := range items {
			if len(c.errors) > maxVariableErrors {
				break
			}
			list[i] = c.coerce(v, t.elem, item, append(path, fmt.Sprintf("[%d]", i)))
		}
		return list
	}
	value, err := c.s.types[t.name].parseValue(input)
	if err != nil {
		c.invalid(v, path, input, err.Error())
	}
	return value
}

func (c *compiler) invalid(v *variable, path []string, input any, message string) {
	at := ""
	if len(path) > 0 {
		at = ` at "` + v.name + strings.Join(path, "") + `"`
	}
	c.inputError(v, fmt.Sprintf("Variable \"$%s\" got invalid value %s%s; %s", v.name, inspect(input), at, message))
}
