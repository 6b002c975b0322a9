package body_test

import (
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/body"
)

// Numbers are compared and divided without rounding, as rational numbers are.
func TestCompareNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // it makes tests
	spell := func() string {
		text := strconv.Itoa(r.IntN(2001) - 1000)
		if r.IntN(2) == 0 {
			text += "." + strconv.Itoa(r.IntN(1000))
		}
		if r.IntN(3) == 0 {
			text += "e" + strconv.Itoa(r.IntN(9)-4)
		}
		return text
	}
	for range 20_000 {
		a, b := spell(), spell()
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		if got, ok := body.CompareNumbers(a, b); !ok || got != x.Cmp(y) {
			t.Fatalf("%s and %s: got %d, %t, want %d", a, b, got, ok, x.Cmp(y))
		}
		if isNone := y.Sign() != 0 && !new(big.Rat).Quo(x, y).IsInt(); y.Sign() != 0 && body.IsNoMultiple(a, b) != isNone {
			t.Fatalf("%s is no multiple of %s: got %t, want %t", a, b, !isNone, isNone)
		}
		if got, ok := body.CompareNumbers(a, a); !ok || got != 0 {
			t.Fatalf("%s and itself: got %d, %t", a, got, ok)
		}
	}
	if _, ok := body.CompareNumbers("1", "x"); ok {
		t.Error("x is no number")
	}
	if body.IsNoMultiple("1e999999999999", "7e-3") != true || body.IsNoMultiple("7e999999999999", "7e-3") ||
		body.IsNoMultiple("1", "0") {
		t.Error("large exponents: a wrong multiple")
	}
	if got, ok := body.CompareNumbers("1e999999999999", "9e999999999998"); !ok || got != 1 {
		t.Errorf("large exponents: got %d, %t", got, ok)
	}
}
