package gql

import (
	"errors"
	"math"

	"github.com/app-sre/prcheck/bundle"
)

// serialize turns a value into what the answer has for a scalar, as the
// scalars of graphql-js do. Numbers come out as JavaScript prints them.
func serialize(kind scalarKind, v any) (any, error) {
	switch kind {
	case scalarInt:
		return serializeInt(v)
	case scalarFloat:
		return serializeFloat(v)
	case scalarBoolean:
		return serializeBoolean(v)
	case scalarJSON:
		return string(AppendJSON(nil, v)), nil
	}
	return serializeString(v)
}

func serializeString(given any) (any, error) {
	switch v := given.(type) {
	case string:
		return given, nil // as it is, without another box
	case bool:
		return jsText(v), nil
	case bundle.Number:
		if f := jsNumber(v); !math.IsInf(f, 0) {
			return jsNumberText(v), nil
		}
	}
	return nil, errors.New("String cannot represent value: " + inspect(given))
}

func serializeInt(v any) (any, error) {
	if n, ok := v.(bundle.Number); ok && len(n) < 10 && isPlainInteger(string(n)) {
		return n, nil
	}
	f := jsToFloat(v)
	if math.IsNaN(f) || math.IsInf(f, 0) || f != math.Trunc(f) {
		return nil, errors.New("Int cannot represent non-integer value: " + inspect(v))
	}
	if f > math.MaxInt32 || f < math.MinInt32 {
		return nil, errors.New("Int cannot represent non 32-bit signed integer value: " + inspect(v))
	}
	return bundle.Number(jsFloatText(f)), nil
}

func serializeFloat(v any) (any, error) {
	f := jsToFloat(v)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, errors.New("Float cannot represent non numeric value: " + inspect(v))
	}
	return bundle.Number(jsFloatText(f)), nil
}

// toFloat converts what may stand for a number; what may not is not a number.
func jsToFloat(v any) float64 {
	switch v := v.(type) {
	case bool:
		if v {
			return 1
		}
		return 0
	case string:
		if v != "" {
			return jsToNumber(v)
		}
	case bundle.Number:
		return jsNumber(v)
	}
	return math.NaN()
}

func serializeBoolean(v any) (any, error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case bundle.Number:
		if f := jsNumber(v); !math.IsInf(f, 0) {
			return f != 0, nil
		}
	}
	return nil, errors.New("Boolean cannot represent a non boolean value: " + inspect(v))
}
