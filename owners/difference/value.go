package difference

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Same reports whether two values have the same content.
func Same(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, isObject := b.(map[string]any)
		if !isObject || size(x) != size(y) {
			return false
		}
		for name, v := range x {
			other, isThere := y[name]
			if name != identifier && (!isThere || !Same(v, other)) {
				return false
			}
		}
		return true
	case []any:
		y, isList := b.([]any)
		return isList && slices.EqualFunc(x, y, Same)
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}

// size counts the keys that are content.
func size(o map[string]any) int {
	n := len(o)
	if _, has := o[identifier]; has {
		n--
	}
	return n
}

// Canonical returns a text that is the same for values with the same content, and for no others.
func Canonical(v any) string { return string(appendText(nil, v, false)) }

// loose returns a text that is the same for values that differ at most in the order of items with identity.
func loose(v any) string { return string(appendText(nil, v, true)) }

// appendText appends the text of a value, with items in their order or with identities in the order of their texts.
func appendText(out []byte, v any, isLoose bool) []byte {
	switch v := v.(type) {
	case map[string]any:
		out = append(out, '{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name != identifier {
				out = append(appendText(append(strconv.AppendQuote(out, name), ':'), v[name], isLoose), ',')
			}
		}
		return append(out, '}')
	case []any:
		texts := make([]string, len(v))
		isOrdered := !isLoose
		for i, item := range v {
			texts[i] = string(appendText(nil, item, isLoose))
			isOrdered = isOrdered || Identity(item) == ""
		}
		if !isOrdered {
			slices.Sort(texts)
		}
		return append(append(append(out, '['), strings.Join(texts, ",")...), ']')
	case string:
		return strconv.AppendQuote(out, v)
	case json.Number:
		return append(out, v...)
	case bool:
		return strconv.AppendBool(out, v)
	}
	return append(out, "null"...)
}

// Leaves counts the leaves of a value: what is no object and no list, and the empty ones of both.
func Leaves(v any) int {
	n := 0
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if name != identifier {
				n += Leaves(member)
			}
		}
	case []any:
		for _, item := range v {
			n += Leaves(item)
		}
	}
	return max(n, 1)
}
