package gql

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// maxVariableErrors is the number of errors in variables after which the others are not
// checked.
const maxVariableErrors = 50

// variableValues converts the variables of a request to the types that the operation
// declares. A variable that has neither a value nor a default value is absent from the
// result.
func (c *compiler) variableValues(op *operation, given *bundle.Object) map[string]any {
	values := make(map[string]any, len(op.variables))
	for _, v := range op.variables {
		input, ok := any(nil), false
		if given != nil {
			input, ok = given.Get(v.name)
		}
		switch {
		case !ok && v.defaultValue != nil:
			values[v.name] = c.schema.defaultValueOf(v.typ, v.defaultValue)
		case !ok && v.typ.nonNull:
			c.addInputError(v, fmt.Sprintf("Variable \"$%s\" of required type %q was not provided.", v.name, v.typ))
		case !ok:
		case input == nil && v.typ.nonNull:
			c.addInputError(v, fmt.Sprintf("Variable \"$%s\" of non-null type %q must not be null.", v.name, v.typ))
		default:
			values[v.name] = c.coerceVariable(v, v.typ, input, nil)
		}
		if len(c.errors) > maxVariableErrors {
			c.errors = append(c.errors[:maxVariableErrors], Error{
				Message: "Too many errors processing variables, error limit reached. Execution aborted.", Code: CodeInternal})
			break
		}
	}
	return values
}

func (c *compiler) addInputError(v *variableDefinition, message string) {
	c.addError(CodeUserInput, message, v.pos)
}

// defaultValueOf converts the default value of a variable. Validation has already accepted
// it.
func (s *Schema) defaultValueOf(t *typeNode, v *valueNode) any {
	if v.kind == valueNull {
		return nil
	}
	if t.item != nil {
		if v.kind != valueList {
			return []any{s.defaultValueOf(t.item, v)}
		}
		list := make([]any, len(v.items))
		for i, item := range v.items {
			list[i] = s.defaultValueOf(t.item, item)
		}
		return list
	}
	value, err := s.types[t.name].parseLiteral(v, nil)
	if err != nil {
		return nil
	}
	return value
}

// coerceVariable converts the value of a variable, or a part of it, to a type.
func (c *compiler) coerceVariable(v *variableDefinition, t *typeNode, input any, path []string) any {
	if input == nil {
		if t.nonNull {
			c.addInvalidValue(v, path, input, fmt.Sprintf("Expected non-nullable type %q not to be null.", t))
		}
		return nil
	}
	if t.item != nil {
		items, ok := input.([]any)
		if !ok {
			return []any{c.coerceVariable(v, t.item, input, path)}
		}
		list := make([]any, len(items))
		for i, item := range items {
			if len(c.errors) > maxVariableErrors {
				break
			}
			list[i] = c.coerceVariable(v, t.item, item, append(path, fmt.Sprintf("[%d]", i)))
		}
		return list
	}
	value, err := c.schema.types[t.name].parseValue(input)
	if err != nil {
		c.addInvalidValue(v, path, input, err.Error())
	}
	return value
}

// addInvalidValue records that a variable, or the part of it at path, has an invalid value.
func (c *compiler) addInvalidValue(v *variableDefinition, path []string, input any, message string) {
	at := ""
	if len(path) > 0 {
		at = ` at "` + v.name + strings.Join(path, "") + `"`
	}
	c.addInputError(v, fmt.Sprintf("Variable \"$%s\" got invalid value %s%s; %s", v.name, inspect(input), at, message))
}
