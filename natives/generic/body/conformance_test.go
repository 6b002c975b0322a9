package body_test

import (
	"encoding/json"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/generic/body"
)

// The cases of two manifests, which have another form, are those of natives/manifests.
func TestEqualCases(t *testing.T) {
	type equalCase struct {
		Input struct {
			A, B   json.RawMessage
			Format *body.Format
		}
		Expected json.RawMessage
	}
	shared.Each(t, "equal", func(t *testing.T, c equalCase) {
		if c.Input.A == nil || c.Input.B == nil {
			t.Skip("a case of two manifests")
		}
		if c.Input.Format != nil && *c.Input.Format == "set" {
			t.Skip("about lists that are sets; package threeway has it")
		}
		f := body.Plain
		if c.Input.Format != nil {
			f = *c.Input.Format
		}
		a, b := value(t, c.Input.A), value(t, c.Input.B)
		want := string(c.Expected) == "true"
		if got := body.Equal(a, b, f); got != want {
			t.Errorf("%s and %s: got %t, want %t", c.Input.A, c.Input.B, got, want)
		}
		if got := body.Equal(b, a, f); got != want {
			t.Errorf("%s and %s, the other way round: got %t, want %t", c.Input.A, c.Input.B, got, want)
		}
	})
}

// value reads a value of a case. A missing one is null.
func value(t testing.TB, raw []byte) any {
	t.Helper()
	v, err := body.Parse(raw)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	if v == "__absent__" {
		return nil
	}
	return v
}
