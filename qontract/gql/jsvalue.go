package gql

import (
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// undefined is the value of a variable that was not given. JavaScript distinguishes it from
// null.
type undefined struct{}

// jsText converts a value to text as String does in JavaScript.
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

// jsItems returns the items over which JavaScript iterates for a value, or JavaScript's
// error if it cannot.
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
	kind := "object"
	switch v.(type) {
	case bool:
		kind = "boolean " + jsText(v)
	case bundle.Number:
		kind = "number " + jsText(v)
	}
	return nil, internalError("%s is not iterable (cannot read property Symbol(Symbol.iterator))", kind)
}

// strictEqual reports whether === holds for two values in JavaScript. Objects and lists are
// never equal, since one comes from the query and the other from the data.
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

// isTruthyKey reports whether the value of a key is truthy in JavaScript.
func isTruthyKey(o *bundle.Object, key string) bool {
	v, _ := o.Get(key)
	return IsTruthy(v)
}

// IsTruthy reports whether a JSON value is truthy in JavaScript.
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
