package gql

import "github.com/app-sre/prcheck/bundle"

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
