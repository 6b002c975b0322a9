package gql_test

import (
	"encoding/json"
	"os"
	"strconv"

	"github.com/app-sre/prcheck/bundle"
)

func itoa(n int) string { return strconv.Itoa(n) }

// canonical writes a value compactly, with its keys in their order.
func canonical(v any) []byte {
	switch v := v.(type) {
	case *bundle.Object:
		out := []byte{'{'}
		for i, m := range v.Members() {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(append(out, canonical(m.Key)...), ':')
			out = append(out, canonical(m.Value)...)
		}
		return append(out, '}')
	case []any:
		out := []byte{'['}
		for i, item := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, canonical(item)...)
		}
		return append(out, ']')
	case bundle.Number: // the recorder wrote numbers in its own way
		f, err := strconv.ParseFloat(string(v), 64)
		if err != nil {
			return []byte(err.Error())
		}
		return strconv.AppendFloat(nil, f, 'g', -1, 64)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return []byte(err.Error())
	}
	return out
}

// asJSON writes a value as JSON.
func asJSON(v any) []byte {
	switch v := v.(type) {
	case *bundle.Object:
		out := []byte{'{'}
		for i, m := range v.Members() {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(append(out, asJSON(m.Key)...), ':')
			out = append(out, asJSON(m.Value)...)
		}
		return append(out, '}')
	case []any:
		out := []byte{'['}
		for i, item := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, asJSON(item)...)
		}
		return append(out, ']')
	case bundle.Number:
		return []byte(v)
	}
	return canonical(v)
}

// rounds is how often random tests are repeated: PRCHECK_ROUNDS times as often
// as usual.
func rounds(usual int) int {
	if factor, err := strconv.Atoi(os.Getenv("PRCHECK_ROUNDS")); err == nil {
		return usual * factor
	}
	return usual
}
