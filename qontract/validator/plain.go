package validator

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// toPlain converts a value to the types of encoding/json.
func toPlain(v any) any {
	switch v := v.(type) {
	case *bundle.Object:
		out := make(map[string]any, v.Len())
		for _, m := range v.Members() {
			out[m.Key] = toPlain(m.Value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = toPlain(v[i])
		}
		return out
	case bundle.Number:
		if r := rational(v); !r.IsInt() {
			f, _ := r.Float64()
			return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
		}
		return json.Number(v)
	}
	return v
}

// fromPlain is the reverse of toPlain. The keys of objects have no particular order.
func fromPlain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := &bundle.Object{}
		for k, item := range v {
			out.Set(k, fromPlain(item))
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = fromPlain(v[i])
		}
		return out
	case json.Number:
		return bundle.Number(v)
	}
	return v
}

// removeRepeatedEnumValues removes repeated values from every enum. python-jsonschema
// accepts them, the compiler does not.
func removeRepeatedEnumValues(v any) {
	switch v := v.(type) {
	case map[string]any:
		if enum, ok := v["enum"].([]any); ok {
			seen := map[string]bool{}
			v["enum"] = slices.DeleteFunc(enum, func(item any) bool {
				text := bundle.Canonical(normalize(fromPlain(item)))
				twice := seen[text]
				seen[text] = true
				return twice
			})
		}
		for _, item := range v {
			removeRepeatedEnumValues(item)
		}
	case []any:
		for _, item := range v {
			removeRepeatedEnumValues(item)
		}
	}
}
