package gql

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
)

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
