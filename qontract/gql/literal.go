package gql

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// parseLiteral converts a literal to a value of a scalar or an enum. The error is that of
// graphql-js.
func (t *typeDef) parseLiteral(v *valueNode, variables map[string]any) (any, error) {
	if t.kind == kindEnum {
		return t.parseEnumLiteral(v)
	}
	switch t.scalar {
	case scalarJSON:
		return jsonLiteral(v, variables), nil
	case scalarBoolean:
		if v.kind == valueBoolean {
			return v.raw == "true", nil
		}
		return nil, fmt.Errorf("Boolean cannot represent a non boolean value: %s", v)
	case scalarInt:
		if v.kind != valueInt {
			return nil, fmt.Errorf("Int cannot represent non-integer value: %s", v)
		}
		if n, err := strconv.ParseInt(v.raw, 10, 32); err != nil || int64(int32(n)) != n {
			return nil, fmt.Errorf("Int cannot represent non 32-bit signed integer value: %s", v.raw)
		}
		return bundle.Number(v.raw), nil
	case scalarFloat:
		if v.kind != valueInt && v.kind != valueFloat {
			return nil, fmt.Errorf("Float cannot represent non numeric value: %s", v)
		}
		return bundle.Number(v.raw), nil
	}
	if v.kind != valueString && v.kind != valueBlockString {
		return nil, fmt.Errorf("String cannot represent a non string value: %s", v)
	}
	return v.raw, nil
}

// parseEnumLiteral converts a literal to a value of an enum.
func (t *typeDef) parseEnumLiteral(v *valueNode) (any, error) {
	if v.kind != valueEnum {
		word := v.String()
		return nil, fmt.Errorf("Enum %q cannot represent non-enum value: %s.%s", t.name, word, t.suggestEnumValue(word))
	}
	if !slices.Contains(t.enumValues, v.raw) {
		return nil, fmt.Errorf("Value %q does not exist in %q enum.%s", v.raw, t.name, t.suggestEnumValue(v.raw))
	}
	return v.raw, nil
}

// suggestEnumValue returns the "Did you mean" part of a message about a misspelt enum
// value.
func (t *typeDef) suggestEnumValue(word string) string {
	return didYouMean("the enum value ", (&nameSuggester{}).suggest(word, t.enumValues))
}

// jsonLiteral converts a literal to JSON. A variable without a value becomes undefined.
func jsonLiteral(v *valueNode, variables map[string]any) any {
	switch v.kind {
	case valueVariable:
		if value, ok := variables[v.raw]; ok {
			return value
		}
		return undefined{}
	case valueNull:
		return nil
	case valueInt, valueFloat:
		return bundle.Number(v.raw)
	case valueBoolean:
		return v.raw == "true"
	case valueList:
		list := make([]any, len(v.items))
		for i, item := range v.items {
			list[i] = jsonLiteral(item, variables)
		}
		return list
	case valueObject:
		o := &bundle.Object{}
		for _, f := range v.fields {
			o.Set(f.name, jsonLiteral(f.value, variables))
		}
		return o
	}
	return v.raw
}

// valueGiven returns the value of an argument among the arguments of the query, and whether
// it has one.
func (a *argDef) valueGiven(given []*argument, variables map[string]any) (any, bool, error) {
	i := slices.IndexFunc(given, func(g *argument) bool { return g.name == a.name })
	if i < 0 {
		if a.required && a.defaultValue == nil {
			return nil, false, fmt.Errorf("Argument %q of required type %q was not provided.", a.name, a.typeString())
		}
		return a.defaultValue, a.defaultValue != nil, nil
	}
	v := given[i].value
	if v.kind == valueVariable {
		value, ok := variables[v.raw]
		switch {
		case !ok && a.required && a.defaultValue == nil:
			return nil, false, fmt.Errorf("Argument %q of required type %q was provided the variable \"$%s\" which was not "+
				"provided a runtime value.",
				a.name, a.typeString(), v.raw)
		case !ok:
			return a.defaultValue, a.defaultValue != nil, nil
		case value == nil && a.required:
			return nil, false, a.nullError()
		}
		return value, true, nil
	}
	if v.kind == valueNull {
		if a.required {
			return nil, false, a.nullError()
		}
		return nil, true, nil
	}
	value, err := a.typ.parseLiteral(v, variables)
	if err != nil {
		return nil, false, fmt.Errorf("Argument %q has invalid value %s.", a.name, v)
	}
	return value, true, nil
}

func (a *argDef) nullError() error {
	return fmt.Errorf("Argument %q of non-null type %q must not be null.", a.name, a.typeString())
}

// parseValue checks that the value of a variable is a value of a scalar or an enum, and
// returns it.
func (t *typeDef) parseValue(v any) (any, error) {
	if t.kind == kindEnum {
		word, ok := v.(string)
		if !ok {
			word = inspect(v)
			return nil, fmt.Errorf("Enum %q cannot represent non-string value: %s.%s", t.name, word, t.suggestEnumValue(word))
		}
		if !slices.Contains(t.enumValues, word) {
			return nil, fmt.Errorf("Value \"%s\" does not exist in %q enum.%s", word, t.name, t.suggestEnumValue(word))
		}
		return v, nil
	}
	n, isNumber := v.(bundle.Number)
	switch t.scalar {
	case scalarJSON:
		return v, nil
	case scalarBoolean:
		if _, ok := v.(bool); !ok {
			return nil, errors.New("Boolean cannot represent a non boolean value: " + inspect(v))
		}
	case scalarInt:
		f := jsNumber(n)
		if !isNumber || math.IsInf(f, 0) || f != math.Trunc(f) {
			return nil, errors.New("Int cannot represent non-integer value: " + inspect(v))
		}
		if f > math.MaxInt32 || f < math.MinInt32 {
			return nil, errors.New("Int cannot represent non 32-bit signed integer value: " + inspect(v))
		}
	case scalarFloat:
		if !isNumber || math.IsInf(jsNumber(n), 0) {
			return nil, errors.New("Float cannot represent non numeric value: " + inspect(v))
		}
	default:
		if _, ok := v.(string); !ok {
			return nil, errors.New("String cannot represent a non string value: " + inspect(v))
		}
	}
	return v, nil
}
