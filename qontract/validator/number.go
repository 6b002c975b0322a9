package validator

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// maxDigits is the number of digits up to which an integer is read exactly.
const maxDigits = 4300

// rational converts a number like Python: integers exactly, and numbers with a point or an
// exponent to a 64-bit float. A number that is too large becomes the largest float, so a
// hostile exponent costs nothing.
func rational(n bundle.Number) *big.Rat {
	text := string(n)
	if !strings.ContainsAny(text, ".eE") && len(text) <= maxDigits {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return new(big.Rat).SetInt64(i)
		}
		if i, ok := new(big.Int).SetString(text, 10); ok {
			return new(big.Rat).SetInt(i)
		}
	}
	f, _ := strconv.ParseFloat(text, 64)
	if math.IsInf(f, 0) {
		f = math.Copysign(math.MaxFloat64, f)
	}
	if r := new(big.Rat).SetFloat64(f); r != nil {
		return r
	}
	return new(big.Rat)
}

// compared returns the rule that the order of a value and a limit holds.
func compared(holds func(order int) bool) func(limit bundle.Number) func(bundle.Number) bool {
	return func(limit bundle.Number) func(bundle.Number) bool {
		l := rational(limit)
		return func(v bundle.Number) bool { return holds(rational(v).Cmp(l)) }
	}
}

// multipleOf returns the rule that a value is a multiple of a limit, as python-jsonschema has it: of a limit
// with a point or an exponent if the quotient of both in double precision is a whole number, and otherwise
// exactly.
func multipleOf(limit bundle.Number) func(bundle.Number) bool {
	l, isWhole := rational(limit), !strings.ContainsAny(string(limit), ".eE")
	divisor, _ := l.Float64()
	return func(value bundle.Number) bool {
		if l.Sign() == 0 {
			return true
		}
		v := rational(value)
		if !isWhole {
			dividend, _ := v.Float64()
			if q := dividend / divisor; !math.IsInf(q, 0) {
				return q == math.Trunc(q)
			}
		}
		return new(big.Rat).Quo(v, l).IsInt()
	}
}

// isInteger reports whether a number has no fraction. 1.0 is an integer.
func isInteger(n bundle.Number) bool {
	return !strings.ContainsAny(string(n), ".eE") || rational(n).IsInt()
}

// equalJSON reports whether two values are equal in JSON schema, which compares numbers by
// value.
func equalJSON(a, b any) bool {
	switch a := a.(type) {
	case bundle.Number:
		b, ok := b.(bundle.Number)
		return ok && (a == b || rational(a).Cmp(rational(b)) == 0)
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equalJSON(a[i], b[i]) {
				return false
			}
		}
		return true
	case *bundle.Object:
		b, ok := b.(*bundle.Object)
		if !ok || a.Len() != b.Len() {
			return false
		}
		for _, m := range a.Members() {
			if v, ok := b.Get(m.Key); !ok || !equalJSON(m.Value, v) {
				return false
			}
		}
		return true
	}
	return a == b
}

// normalize returns a value in which equal numbers are written in the same way. Then equal
// values have the same canonical text.
func normalize(v any) any {
	switch v := v.(type) {
	case bundle.Number:
		return bundle.Number(rational(v).RatString())
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = normalize(v[i])
		}
		return out
	case *bundle.Object:
		members := make([]bundle.Member, 0, v.Len())
		for _, m := range v.Members() {
			members = append(members, bundle.Member{Key: m.Key, Value: normalize(m.Value)})
		}
		return bundle.ObjectOf(members)
	}
	return v
}
