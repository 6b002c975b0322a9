package bundle

import (
	"slices"
	"strconv"
	"strings"
)

// Canonical returns a text that is the same for equal values: compact JSON with sorted keys
// and with numbers as they are written.
func Canonical(v any) string { return string(AppendCanonical(nil, v)) }

// AppendCanonical appends the canonical text of a value to out.
func AppendCanonical(out []byte, v any) []byte { return appendText(out, v, true) }

// AppendOrdered appends a text of a value to out that is the same for equal values whose objects have
// their members in the same order.
func AppendOrdered(out []byte, v any) []byte { return appendText(out, v, false) }

// appendText appends a value as JSON, with its keys sorted or in their order.
func appendText(out []byte, v any, isSorted bool) []byte {
	switch v := v.(type) {
	case nil:
		return append(out, "null"...)
	case bool:
		return strconv.AppendBool(out, v)
	case Number:
		return append(out, v...)
	case string:
		return strconv.AppendQuote(out, v)
	case []any:
		out = append(out, '[')
		for i := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendText(out, v[i], isSorted)
		}
		return append(out, ']')
	case *Object:
		members := v.members
		if isSorted {
			members = slices.Clone(members)
			slices.SortFunc(members, func(a, b Member) int { return strings.Compare(a.Key, b.Key) })
		}
		out = append(out, '{')
		for i, m := range members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(strconv.AppendQuote(out, m.Key), ':')
			out = appendText(out, m.Value, isSorted)
		}
		return append(out, '}')
	}
	panic("bundle: not a JSON value") // a programming error, never input
}
