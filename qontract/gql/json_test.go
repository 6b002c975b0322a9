package gql_test

import (
	"encoding/json"
	"os"
	"strconv"

	"github.com/app-sre/prcheck/qontract/bundle"
)

func itoa(n int) string { return strconv.Itoa(n) }

// canonical writes a value compactly, with its keys in their order. Equal numbers are
// written in the same way, because the recorder writes numbers in its own way.
func canonical(v any) []byte {
	return compact(v, func(n bundle.Number) []byte {
		f, err := strconv.ParseFloat(string(n), 64)
		if err != nil {
			return []byte(err.Error())
		}
		return strconv.AppendFloat(nil, f, 'g', -1, 64)
	})
}

// asJSON writes a value as JSON. Numbers stay as they are written.
func asJSON(v any) []byte {
	return compact(v, func(n bundle.Number) []byte { return []byte(n) })
}

// compact writes a value as JSON. The function number writes the numbers.
func compact(v any, number func(bundle.Number) []byte) []byte {
	switch v := v.(type) {
	case *bundle.Object:
		out := []byte{'{'}
		for i, m := range v.Members() {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(append(out, compact(m.Key, number)...), ':')
			out = append(out, compact(m.Value, number)...)
		}
		return append(out, '}')
	case []any:
		out := []byte{'['}
		for i, item := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, compact(item, number)...)
		}
		return append(out, ']')
	case bundle.Number:
		return number(v)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return []byte(err.Error())
	}
	return out
}

// rounds returns how often a random test is repeated: PRCHECK_ROUNDS times as often as
// usual.
func rounds(usual int) int {
	if factor, err := strconv.Atoi(os.Getenv("PRCHECK_ROUNDS")); err == nil {
		return usual * factor
	}
	return usual
}
