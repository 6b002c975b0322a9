package bundler

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// maxDigits is the largest number of decimal digits that Python converts to an
// integer or back.
const maxDigits = 4300

// The patterns of plain scalars in YAML 1.1, as in PyYAML.
var (
	yamlInt = lazyregexp.New(`^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)` +
		`|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$`)
	yamlFloat = lazyregexp.New(`^(?:[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+][0-9]+)?` +
		`|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*` +
		`|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
	yamlDate = lazyregexp.New(`^(?:[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]` +
		`|[0-9][0-9][0-9][0-9]-[0-9][0-9]?-[0-9][0-9]?(?:[Tt]|[ \t]+)[0-9][0-9]?:[0-9][0-9]:[0-9][0-9](?:\.[0-9]*)?` +
		`(?:[ \t]*(?:Z|[-+][0-9][0-9]?(?::[0-9][0-9])?))?)$`)
)

// booleans are the words for booleans in YAML 1.1, with their JSON literals.
var booleans = map[string]string{
	"yes": "true", "Yes": "true", "YES": "true", "no": "false", "No": "false", "NO": "false",
	"true": "true", "True": "true", "TRUE": "true", "false": "false", "False": "false", "FALSE": "false",
	"on": "true", "On": "true", "ON": "true", "off": "false", "Off": "false", "OFF": "false",
}

// resolvePlain returns the kind and the text of a scalar without quotes.
func resolvePlain(s string) (kind, string, error) {
	if s == "" {
		return null, "null", nil
	}
	switch c := s[0]; {
	case c >= '0' && c <= '9', c == '-', c == '+', c == '.':
		return resolveNumeric(s)
	case c == '~', c == 'n', c == 'N':
		if s == "~" || s == "null" || s == "Null" || s == "NULL" {
			return null, "null", nil
		}
	case c == '=' && s == "=", c == '<' && s == "<<":
		return text, s, errors.New("has a special meaning in YAML: quote it")
	}
	if len(s) <= len("false") {
		if b, ok := booleans[s]; ok {
			return boolean, b, nil
		}
	}
	return text, s, nil
}

// resolveNumeric returns the kind and the text of a scalar without quotes that
// begins like a number.
func resolveNumeric(s string) (kind, string, error) {
	last := s[len(s)-1]
	if last > 'f' && last != 'n' && last != 'N' && last != 'Z' { // fast path for words such as 10.0.0.0/8-net
		return text, s, nil
	}
	switch {
	case yamlFloat.MatchString(s):
		lit, err := formatYAMLFloat(s)
		return float, lit, err
	case yamlInt.MatchString(s):
		lit, err := formatInt(s)
		return integer, lit, err
	case yamlDate.MatchString(s):
		return text, s, errors.New("is an unquoted date, which JSON cannot express: quote it")
	}
	return text, s, nil
}

// formatInt returns an integer of YAML 1.1 as decimal digits.
func formatInt(s string) (string, error) {
	digits := strings.ReplaceAll(s, "_", "")
	sign := ""
	if digits[0] == '-' || digits[0] == '+' {
		sign = strings.TrimPrefix(digits[:1], "+")
		digits = digits[1:]
	}
	if strings.Contains(digits, ":") {
		return formatSexagesimal(sign, digits)
	}
	base := 10
	switch {
	case digits == "0":
		return "0", nil
	case strings.HasPrefix(digits, "0b"):
		base, digits = 2, digits[2:]
	case strings.HasPrefix(digits, "0x"):
		base, digits = 16, digits[2:]
	case digits[0] == '0':
		base = 8
	}
	if base == 10 {
		return limitDigits(sign + digits)
	}
	if len(digits) > 4*maxDigits {
		return "", errTooLong
	}
	n, ok := new(big.Int).SetString(sign+digits, base)
	if !ok {
		return "", errors.New("is a number without digits: quote it")
	}
	return limitDigits(n.String())
}

var errTooLong = fmt.Errorf("is a number of more than %d digits: quote it", maxDigits)

// limitDigits returns an integer literal, or an error if it has too many digits.
func limitDigits(literal string) (string, error) {
	if len(strings.TrimPrefix(literal, "-")) > maxDigits {
		return "", errTooLong
	}
	return literal, nil
}

// formatSexagesimal returns an integer to the base 60, such as 1:30:00, as decimal
// digits.
func formatSexagesimal(sign, digits string) (string, error) {
	if len(digits) > maxDigits {
		return "", errTooLong
	}
	n := new(big.Int)
	for part := range strings.SplitSeq(digits, ":") {
		d, _ := new(big.Int).SetString(part, 10)
		n.Add(n.Mul(n, big.NewInt(60)), d)
	}
	if n.Sign() == 0 {
		return "0", nil
	}
	return limitDigits(sign + n.String())
}

// formatYAMLFloat returns a float of YAML 1.1 as the literal that Python's json
// writes.
func formatYAMLFloat(s string) (string, error) {
	s = strings.ToLower(strings.ReplaceAll(s, "_", ""))
	sign := 1.0
	if s[0] == '-' || s[0] == '+' {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	if s == ".inf" || s == ".nan" {
		return "", errInfinite
	}
	if !strings.Contains(s, ":") {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return "", errors.New("is a number without digits: quote it")
		}
		return formatFloat(sign * f)
	}
	parts := strings.Split(s, ":")
	sum, base := 0.0, 1.0
	for i := len(parts) - 1; i >= 0; i-- {
		f, _ := strconv.ParseFloat(parts[i], 64)
		sum += float64(f * base) // the conversion forbids a fused multiply-add, which Python does not use
		base *= 60
	}
	return formatFloat(sign * sum)
}

var errInfinite = errors.New("is infinity or not a number, which JSON cannot express: quote it")

// formatFloat returns a float as Python's repr does: with the shortest digits, and
// with an exponent below 1e-4 and from 1e16 on.
func formatFloat(f float64) (string, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return "", errInfinite
	}
	if a := math.Abs(f); f != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64), nil
	}
	lit := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(lit, ".") {
		lit += ".0"
	}
	return lit, nil
}
