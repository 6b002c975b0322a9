package native

import "testing"

// What JSON leaves out is found however deep it is, and what is too deep to be looked at cannot be compared.
func TestCheckComparableDeep(t *testing.T) {
	type bad struct{ hidden int }
	nest := map[string]func(any) any{ // each adds two levels
		"map":   func(v any) any { return map[string]any{"a": v} },
		"list":  func(v any) any { return []any{v} },
		"field": func(v any) any { return struct{ A any }{v} },
	}
	for name, in := range nest {
		for _, tt := range []struct {
			levels int
			of     any
			isGood bool
		}{
			{49, "text", true}, {49, bad{1}, false}, {50, "text", true}, {51, "text", false},
		} {
			v := tt.of
			for range tt.levels {
				v = in(v)
			}
			if err := checkComparable(v); (err == nil) != tt.isGood {
				t.Errorf("%d levels of %s around %v: got %v", tt.levels, name, tt.of, err)
			}
		}
	}
}
