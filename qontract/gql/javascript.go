package gql

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// undefined is the value of a variable that was not given. JavaScript distinguishes it from
// null.
type undefined struct{}

// jsText converts a value to text as String does in JavaScript.
func jsText(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case undefined:
		return "undefined"
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case bundle.Number:
		return jsNumberText(v)
	case fileList:
		return jsText(v.objects())
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			if item != nil {
				parts[i] = jsText(item)
			}
		}
		return strings.Join(parts, ",")
	}
	return "[object Object]"
}

// jsItems returns the items over which JavaScript iterates for a value, or JavaScript's
// error if it cannot.
func jsItems(v any) ([]any, *Error) {
	switch v := v.(type) {
	case nil, undefined:
		return nil, nil
	case []any:
		return v, nil
	case string:
		var list []any
		for _, r := range v {
			list = append(list, string(r))
		}
		return list, nil
	}
	kind := "object"
	switch v.(type) {
	case bool:
		kind = "boolean " + jsText(v)
	case bundle.Number:
		kind = "number " + jsText(v)
	}
	return nil, internalError("%s is not iterable (cannot read property Symbol(Symbol.iterator))", kind)
}

// strictEqual reports whether === holds for two values in JavaScript. Objects and lists are
// never equal, since one comes from the query and the other from the data.
func strictEqual(a, b any) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case bool:
		b, ok := b.(bool)
		return ok && a == b
	case string:
		b, ok := b.(string)
		return ok && a == b
	case bundle.Number:
		b, ok := b.(bundle.Number)
		return ok && (a == b || jsNumber(a) == jsNumber(b))
	}
	return false
}

// isTruthyKey reports whether the value of a key is truthy in JavaScript.
func isTruthyKey(o *bundle.Object, key string) bool {
	v, _ := o.Get(key)
	return IsTruthy(v)
}

// IsTruthy reports whether a JSON value is truthy in JavaScript.
func IsTruthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case bundle.Number:
		return jsNumber(v) != 0
	}
	return true
}

// jsNumber returns the value of a number literal in JavaScript.
func jsNumber(n bundle.Number) float64 {
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return math.NaN()
	}
	return f // infinite if out of range
}

// jsNumberText prints a number literal as JavaScript prints its value.
func jsNumberText(n bundle.Number) string {
	if isPlainInteger(string(n)) {
		return string(n)
	}
	return jsFloatText(jsNumber(n))
}

// isPlainInteger reports whether s is an integer that JavaScript prints with the same
// characters. It returns false for integers with more than 15 digits.
func isPlainInteger(s string) bool {
	if s == "0" {
		return true
	}
	s = strings.TrimPrefix(s, "-")
	if len(s) == 0 || len(s) > 15 || s[0] == '0' {
		return false
	}
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// jsFloatText prints a number as JavaScript does: with the fewest digits that identify it,
// and with an exponent only from 1e21 up and below 1e-6.
func jsFloatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == 0:
		return "0"
	}
	if size := math.Abs(f); size >= 1e-6 && size < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	return mantissa + "e" + exponent[:1] + strings.TrimLeft(exponent[1:], "0")
}

// jsToNumber converts a text to a number as Number does in JavaScript. It returns NaN if
// the text is not a number.
func jsToNumber(s string) float64 {
	s = strings.Trim(s, " \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"+
		"\u2028\u2029\u202f\u205f\u3000\ufeff")
	switch s {
	case "":
		return 0
	case "Infinity", "+Infinity":
		return math.Inf(1)
	case "-Infinity":
		return math.Inf(-1)
	}
	if base := radix(s); base > 0 {
		return parseDigits(s[2:], base)
	}
	for i := range len(s) {
		if c := s[i]; !isDigit(c) && !strings.ContainsRune("+-.eE", rune(c)) {
			return math.NaN()
		}
	}
	return jsNumber(bundle.Number(s))
}

// radix returns the base of a number with a prefix such as 0x, or 0 if there is no such
// prefix.
func radix(s string) float64 {
	if len(s) < 3 || s[0] != '0' {
		return 0
	}
	switch s[1] {
	case 'x', 'X':
		return 16
	case 'o', 'O':
		return 8
	case 'b', 'B':
		return 2
	}
	return 0
}

// parseDigits returns the value of the digits of a number with this base, or NaN.
func parseDigits(s string, base float64) float64 {
	var f float64
	for i := range len(s) {
		d := float64(hexDigit(s[i]))
		if d < 0 || d >= base {
			return math.NaN()
		}
		f = f*base + d
	}
	return f
}

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

// inspect prints a value as the error messages of graphql-js quote it.
func inspect(v any) string { return inspectAt(v, 1) }

// Limits of inspect: how deep it enters a value, and how many items of a list it prints.
const (
	inspectDepth = 2
	inspectItems = 10
)

func inspectAt(v any, depth int) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case undefined:
		return "undefined"
	case string:
		return quoteJSON(v)
	case bool:
		return strconv.FormatBool(v)
	case bundle.Number:
		return jsNumberText(v)
	case fileList:
		return inspectAt(v.objects(), depth)
	case []any:
		return inspectList(v, depth)
	case *bundle.Object:
		return inspectObject(v, depth)
	}
	return ""
}

func inspectList(list []any, depth int) string {
	if len(list) == 0 {
		return "[]"
	}
	if depth > inspectDepth {
		return "[Array]"
	}
	parts := make([]string, 0, inspectItems+1)
	for _, item := range list[:min(len(list), inspectItems)] {
		parts = append(parts, inspectAt(item, depth+1))
	}
	switch more := len(list) - inspectItems; {
	case more == 1:
		parts = append(parts, "... 1 more item")
	case more > 1:
		parts = append(parts, "... "+strconv.Itoa(more)+" more items")
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func inspectObject(o *bundle.Object, depth int) string {
	if o.Len() == 0 {
		return "{}"
	}
	if depth > inspectDepth {
		return "[Object]"
	}
	parts := make([]string, 0, o.Len())
	for _, m := range jsMembers(o) {
		parts = append(parts, m.Key+": "+inspectAt(m.Value, depth+1))
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}
