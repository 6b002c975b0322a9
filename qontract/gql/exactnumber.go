package gql

import (
	"math"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// lostNumber returns the path in a JSON scalar of a number for which JavaScript has no value, if
// the request asks for exact numbers.
func (r *run) lostNumber(kind scalarKind, v any) (path []any, isLost bool) {
	if kind != scalarJSON || !r.query.isExact {
		return nil, false
	}
	return findLost(v)
}

// findLost returns the path of the first number for which JavaScript has no value.
func findLost(v any) (path []any, isLost bool) {
	switch v := v.(type) {
	case bundle.Number:
		f := jsNumber(v)
		return nil, math.IsInf(f, 0) || math.IsNaN(f)
	case []any:
		for i, item := range v {
			if path, isLost = findLost(item); isLost {
				return append([]any{i}, path...), true
			}
		}
	case fileList:
		return findLost(v.objects())
	case *bundle.Object:
		for _, m := range v.Members() {
			if path, isLost = findLost(m.Value); isLost {
				return append([]any{m.Key}, path...), true
			}
		}
	}
	return nil, false
}

// lostError returns the error about a number at a path in the value of a field.
func (r *run) lostError(field *selectedField, at []any) *Error {
	err := r.addPlace(internalError("the number is beyond 1.8e308, and a server of JavaScript answers null"), field)
	err.Path = append(err.Path, at...)
	r.values += len(at)
	return err
}
