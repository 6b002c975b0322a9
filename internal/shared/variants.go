package shared

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

const (
	maxRounds   = 200 // of making an input smaller
	maxVariants = 400 // of one round
)

// variants returns inputs that lack a part of an input: a member, an item, a piece of a text. The larger parts come
// first. The members of the input itself stay.
func variants(input json.RawMessage) ([]json.RawMessage, error) {
	var value any
	decode := json.NewDecoder(bytes.NewReader(input))
	decode.UseNumber()
	if err := decode.Decode(&value); err != nil {
		return nil, err
	}
	var all []any
	if object, ok := value.(map[string]any); ok {
		all = replaced(object)
	} else {
		all = smaller(value)
	}
	var out []json.RawMessage
	for _, v := range all {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		if len(raw) < len(input) || !bytes.Equal(raw, input) && len(raw) == len(input) {
			out = append(out, raw)
		}
	}
	return out[:min(len(out), maxVariants)], nil
}

// smaller returns values that lack a part of a value.
func smaller(v any) (out []any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			less := maps.Clone(v)
			delete(less, name)
			out = append(out, less)
		}
		out = append(out, replaced(v)...)
	case []any:
		for _, piece := range pieces(len(v)) {
			out = append(out, slices.Delete(slices.Clone(v), piece[0], piece[1]))
		}
		for i, item := range v {
			for _, s := range smaller(item) {
				other := slices.Clone(v)
				other[i] = s
				out = append(out, other)
			}
		}
	case string:
		runes := []rune(v)
		for _, piece := range pieces(len(runes)) {
			out = append(out, string(slices.Delete(slices.Clone(runes), piece[0], piece[1])))
		}
	}
	return out
}

// replaced returns objects with one member that is smaller.
func replaced(object map[string]any) (out []any) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		for _, s := range smaller(object[name]) {
			other := maps.Clone(object)
			other[name] = s
			out = append(out, other)
		}
	}
	return out
}

// pieces returns what can be taken from a list of n: halves, quarters, and so on, and each single item.
func pieces(n int) (out [][2]int) {
	for size := n; size > 0; size /= 2 {
		for from := 0; from < n; from += size {
			out = append(out, [2]int{from, min(from+size, n)})
		}
	}
	return out
}
