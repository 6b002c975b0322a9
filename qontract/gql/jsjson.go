package gql

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// jsMembers returns the members of an object in the order in which JavaScript iterates over
// them: keys that are array indexes come first, in ascending order.
func jsMembers(o *bundle.Object) []bundle.Member {
	members := o.Members()
	if !slices.ContainsFunc(members, func(m bundle.Member) bool { return isArrayIndex(m.Key) }) {
		return members
	}
	members = slices.Clone(members)
	slices.SortStableFunc(members, func(a, b bundle.Member) int {
		switch x, y := isArrayIndex(a.Key), isArrayIndex(b.Key); {
		case x && y:
			return compareArrayIndexes(a.Key, b.Key)
		case x:
			return -1
		case y:
			return 1
		}
		return 0
	})
	return members
}

// isArrayIndex reports whether a key is an array index in JavaScript: a number below 2³²-1
// without leading zeros.
func isArrayIndex(key string) bool {
	if key == "" || len(key) > 10 || key[0] == '0' && len(key) > 1 {
		return false
	}
	for i := range len(key) {
		if !isDigit(key[i]) {
			return false
		}
	}
	return len(key) < 10 || key < "4294967295"
}

func compareArrayIndexes(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// AppendJSON appends a JSON value of package bundle to out, as JSON.stringify writes it in
// JavaScript: keys that are array indexes come first, and numbers have the digits that
// Node.js prints.
func AppendJSON(out []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(out, v)
	case string:
		return appendString(out, v)
	case bundle.Number:
		if f := jsNumber(v); math.IsInf(f, 0) || math.IsNaN(f) {
			return append(out, "null"...)
		}
		return append(out, jsNumberText(v)...)
	case []any:
		out = append(out, '[')
		for i, item := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = AppendJSON(out, item)
		}
		return append(out, ']')
	case fileList:
		return AppendJSON(out, v.objects())
	case *bundle.Object:
		out = append(out, '{')
		for i, m := range jsMembers(v) {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendString(out, m.Key), ':')
			out = AppendJSON(out, m.Value)
		}
		return append(out, '}')
	}
	return append(out, "null"...)
}

// appendString appends a string as JSON.stringify writes it. It escapes quotes,
// backslashes, control characters and lone surrogates.
func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plainByte[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			if _, n := utf8.DecodeRuneInString(s[i:]); n > 1 {
				i += n
				continue
			}
		}
		out = append(out, s[done:i]...)
		var n int
		out, n = appendEscape(out, s[i:])
		i += n
		done = i
	}
	return append(append(out, s[done:]...), '"')
}

// plainByte reports for every byte whether it needs no escape and no further check in a
// JSON string.
var plainByte = func() (plain [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// appendEscape appends the first character of s as an escape sequence, and returns its size
// in s.
func appendEscape(out []byte, s string) ([]byte, int) {
	if i := strings.IndexByte("\"\\\b\f\n\r\t", s[0]); i >= 0 {
		return append(out, '\\', `"\bfnrt`[i]), 1
	}
	r, n := rune(s[0]), 1
	if s[0] >= utf8.RuneSelf {
		var ok bool
		if r, ok = decodeSurrogate(s); ok {
			n = 3
		}
	}
	const digits = "0123456789abcdef"
	return append(out, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15]), n
}

// quoteJSON returns a string as JSON.stringify writes it.
func quoteJSON(s string) string { return string(appendString(nil, s)) }
