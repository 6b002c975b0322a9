package kubetest

import (
	"encoding/json"
	"reflect"

	numbers "k8s.io/apimachinery/pkg/util/json"
)

// dig returns the map at a field of another one, and makes it if there is none.
func dig(m map[string]any, field string) map[string]any {
	inner, ok := m[field].(map[string]any)
	if !ok {
		inner = map[string]any{}
		m[field] = inner
	}
	return inner
}

// decode reads an object. Whole numbers become int64.
func decode(raw []byte) (map[string]any, error) {
	var out map[string]any
	return out, numbers.Unmarshal(raw, &out)
}

// copyOf returns a copy that shares nothing.
func copyOf(m map[string]any) map[string]any {
	out, err := decode(encode(m))
	if err != nil {
		panic(err) // it was JSON before
	}
	return out
}

func encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // it was JSON before
	}
	return raw
}

func equal(a, b any) bool { return reflect.DeepEqual(a, b) }

// mapOf returns a map, nil if it is none. A nil map is for reading alone.
func mapOf(v any, fields ...string) map[string]any {
	m, _ := v.(map[string]any)
	for _, f := range fields {
		m, _ = m[f].(map[string]any)
	}
	return m
}

// listOf returns a list, nil if it is none.
func listOf(v any) []any {
	list, _ := v.([]any)
	return list
}

// textOf returns a text, "" if it is none.
func textOf(v any) string {
	text, _ := v.(string)
	return text
}
