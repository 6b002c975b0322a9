package gql

import (
	"errors"
	"math"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// serialize converts a value to a scalar of the answer, as the scalars of graphql-js do.
// Numbers are written as JavaScript prints them.
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
		return given, nil // returning v would allocate a new interface value
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

// jsToFloat converts a value to a number where Int and Float of graphql-js accept it, or
// else to NaN.
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
