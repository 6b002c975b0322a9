package bundler

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestReadMapping(t *testing.T) {
	for text, want := range map[string]map[string]any{
		"a: 1\nb: [x, true, null, 1.50]\n": {"a": json.Number("1"), "b": []any{"x", true, nil, json.Number("1.5")}},
		`{"a": {"b": "c"}}`:                {"a": map[string]any{"b": "c"}},
		"# only this\na: '1'\n":            {"a": "1"},
		"hello":                            nil,
		"- a\n":                            nil,
		"{{ a: [":                          nil,
		"1: a\n":                           nil, // a key that is no text
		"a: .nan\n":                        nil, // JSON has no such number
		"":                                 nil,
	} {
		got, ok := ReadMapping([]byte(text))
		if ok != (want != nil) || ok && !reflect.DeepEqual(got, want) {
			t.Errorf("%q is read as %v, %v, want %v", text, got, ok, want)
		}
	}
}
