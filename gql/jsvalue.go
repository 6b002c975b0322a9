package gql

import (
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/bundle"
)

// undefined is the value of a variable that was not given, where JavaScript
// tells it from null.
type undefined struct{}

// jsText converts a value as JavaScript's String does.
func jsText(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case undefined:
		return "undefined"
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case bundle.Number:
		return jsNumberText(v)
	case fileList:
		return jsText(v.objects())
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			if item != nil {
				parts[i] = jsText(item)
			}
		}
		return strings.Join(parts, ",")
	}
	return "[object Object]"
}

// iterate returns the items that JavaScript makes a set of.
func jsItems(v any) ([]any, *Error) {
	switch v := v.(type) {
	case nil, undefined:
		return nil, nil
	case []any:
		return v, nil
	case string:
		var list []any
		for _, r := range v {
			list = append(list, string(r))
		}
		return list, nil
	}
	what := "object"
	switch v.(type) {
	case bool:
		what = "boolean " + jsText(v)
	case bundle.Number:
		what = "number " + jsText(v)
	}
	return nil, internalError("%s is not iterable (cannot read property Symbol(Symbol.iterator))", what)
}

// identical tells whether JavaScript's === holds for two values. Objects and
// lists of the query are never those of the data.
func strictEqual(a, b any) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case bool:
		b, ok := b.(bool)
		return ok && a == b
	case string:
		b, ok := b.(string)
		return ok && a == b
	case bundle.Number:
		b, ok := b.(bundle.Number)
		return ok && (a == b || jsNumber(a) == jsNumber(b))
	}
	return false
}

// truthy tells whether a key has a value that JavaScript takes for true.
func isTruthyKey(o *bundle.Object, key string) bool {
	v, _ := o.Get(key)
	return IsTruthy(v)
}

// Truthy tells whether JavaScript takes a JSON value for true.
func IsTruthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case bundle.Number:
		return jsNumber(v) != 0
	}
	return true
}
