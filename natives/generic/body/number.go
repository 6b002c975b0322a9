package body

import (
	"math/big"
	"strings"
)

// A decimal is a number: digits · 10^exponent, with neither leading nor trailing zeros in
// digits. Zero has no digits.
type decimal struct {
	isNegative bool
	digits     string
	exponent   *big.Int
}

// parseDecimal reads a number as JSON writes it, and also with a plus or without a digit
// beside the point, as quantities may have it. It costs as much as the text is long.
func parseDecimal(text string) (decimal, bool) {
	var d decimal
	if text != "" && (text[0] == '-' || text[0] == '+') {
		d.isNegative = text[0] == '-'
		text = text[1:]
	}
	exponent := new(big.Int)
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if !isInteger(text[i+1:]) || len(text)-i > maxExponent {
			return d, false
		}
		exponent.SetString(strings.TrimPrefix(text[i+1:], "+"), 10)
		text = text[:i]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	digits := whole + fraction
	if !isDigits(digits) {
		return d, false
	}
	exponent.Sub(exponent, big.NewInt(int64(len(fraction))))
	trimmed := strings.TrimRight(digits, "0")
	exponent.Add(exponent, big.NewInt(int64(len(digits)-len(trimmed))))
	d.digits, d.exponent = strings.TrimLeft(trimmed, "0"), exponent
	if d.digits == "" {
		return decimal{exponent: new(big.Int)}, true
	}
	return d, true
}

// maxExponent is the number of characters up to which an exponent is read as a number. A
// longer one is compared as text.
const maxExponent = 1000

func isInteger(text string) bool {
	if text != "" && (text[0] == '+' || text[0] == '-') {
		text = text[1:]
	}
	return isDigits(text)
}

func isDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

// maxPlain is the largest exponent, up or down, of a number that is written without one.
const maxPlain = 30

// text returns the one spelling of a number, such as 1200, 1.25 or 12e400.
func (d decimal) text() string {
	sign := ""
	if d.isNegative {
		sign = "-"
	}
	if d.digits == "" {
		return "0"
	}
	if !d.exponent.IsInt64() || d.exponent.Int64() > maxPlain || d.exponent.Int64() < -maxPlain {
		return sign + d.digits + "e" + d.exponent.String()
	}
	n := int(d.exponent.Int64())
	if n >= 0 {
		return sign + d.digits + strings.Repeat("0", n)
	}
	digits := strings.Repeat("0", max(0, 1-n-len(d.digits))) + d.digits
	return sign + digits[:len(digits)+n] + "." + digits[len(digits)+n:]
}

// compare returns -1, 0 or 1 if a number is less than, equal to or greater than another one.
func (d decimal) compare(other decimal) int {
	sign := 1
	switch {
	case d.digits == "" && other.digits == "":
		return 0
	case d.digits == "":
		return -other.compare(d)
	case d.isNegative:
		sign = -1
	}
	if other.digits == "" || d.isNegative != other.isNegative {
		return sign
	}
	order := func(d decimal) *big.Int { return new(big.Int).Add(d.exponent, big.NewInt(int64(len(d.digits)))) }
	if c := order(d).Cmp(order(other)); c != 0 {
		return sign * c
	}
	return sign * strings.Compare(d.digits, other.digits)
}

// CompareNumbers returns -1, 0 or 1 if the first number is less than, equal to or greater than the
// second one, without rounding. It returns false if one of them is no number.
func CompareNumbers(a, b string) (order int, ok bool) {
	x, isNumber := parseDecimal(a)
	y, isOther := parseDecimal(b)
	if !isNumber || !isOther {
		return 0, false
	}
	return x.compare(y), true
}

// maxDivided is the number of digits up to which numbers are divided.
const maxDivided = 1000

// IsNoMultiple reports whether a number is certainly no whole multiple of another one.
func IsNoMultiple(number, step string) bool {
	x, isNumber := parseDecimal(number)
	y, isStep := parseDecimal(step)
	if !isNumber || !isStep || x.digits == "" || y.digits == "" || len(x.digits) > maxDivided ||
		len(y.digits) > maxDivided {
		return false
	}
	// x.digits does not end with a zero, so it has no factor of ten.
	shift := new(big.Int).Sub(x.exponent, y.exponent)
	if shift.Sign() < 0 {
		return true
	}
	digits, _ := new(big.Int).SetString(x.digits, 10)
	of, _ := new(big.Int).SetString(y.digits, 10)
	rest := new(big.Int).Exp(big.NewInt(10), shift, of)
	return rest.Mul(rest, digits).Mod(rest, of).Sign() != 0
}

// number returns the one spelling of a number. What is none stays as it is.
func number(text string) string {
	if d, ok := parseDecimal(text); ok {
		return d.text()
	}
	return text
}
